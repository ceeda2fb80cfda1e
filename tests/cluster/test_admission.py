"""No outage of ours lets a tenant's pod in ungated, and nobody but us says what only Fairberth says.

Three installations: the safety net and the webhook; the net with the webhook down; the webhook on an older server that
does not serve the policy API. In each the gate is there, or the pod is refused.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, ApiError, Object
from tests.cluster.plane.plane import ControlPlane, Options
from tests.cluster.plane.product import Product

pytestmark = pytest.mark.cluster

GATE = {"name": "fairberth.io/turn"}
GRANTED = "granted.fairberth.io/"
TENANT = "acme"
_ROLE = "rbac.authorization.k8s.io/v1"


def _user(product: Product) -> Api:
    """A client of somebody who may do everything with the tenant's pods, and with its namespace, and nothing else."""
    api = product.plane.api
    rules: list[dict[str, Any]] = [
        {"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["*"]},
    ]
    api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "dev", "namespace": TENANT}})
    api.create({"apiVersion": _ROLE, "kind": "ClusterRole", "metadata": {"name": "dev"}, "rules": rules})
    api.create(
        {
            "apiVersion": _ROLE,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "dev"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "dev"},
            "subjects": [{"kind": "ServiceAccount", "name": "dev", "namespace": TENANT}],
        }
    )
    return product.plane.api_for(TENANT, "dev")


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[Product, Api]]:
    """Net and webhook; the operator holds everything back, so pods stay as admission left them."""
    with ControlPlane.start(Options(scheduler=False)) as plane:
        product = Product.start(plane)
        product.tenant(TENANT, cordoned=True)
        yield product, _user(product)


@pytest.fixture(scope="module")
def net_alone() -> Iterator[tuple[Product, Api]]:
    """The net, with the webhook down."""
    with ControlPlane.start(Options(scheduler=False)) as plane:
        product = Product.start(plane)
        product.tenant(TENANT, cordoned=True)
        user = _user(product)
        product.kill("operator")
        yield product, user


@pytest.fixture(scope="module")
def webhook_alone() -> Iterator[tuple[Product, Api]]:
    """The webhook, on a server without MutatingAdmissionPolicy."""
    with ControlPlane.start(Options(scheduler=False, policy_api=False)) as plane:
        product = Product.start(plane, net=False)
        product.tenant(TENANT, cordoned=True)
        yield product, _user(product)


INSTALLATIONS = ("guarded", "net_alone", "webhook_alone")


@pytest.fixture(params=INSTALLATIONS)
def installation(request: pytest.FixtureRequest) -> tuple[Product, Api]:
    made: tuple[Product, Api] = request.getfixturevalue(request.param)
    return made


_made = 0


def pod(**details: Any) -> Object:
    global _made
    _made += 1
    return objects.pod(f"pod-{_made}", TENANT, **details)


def granted(obj: Object) -> dict[str, str]:
    """What only Fairberth says, on a pod."""
    metadata = obj["metadata"]
    said = {**metadata.get("labels", {}), **metadata.get("annotations", {})}
    return {key.removeprefix(GRANTED): value for key, value in said.items() if key.startswith(GRANTED)}


def gated(obj: Object) -> bool:
    return GATE in obj["spec"].get("schedulingGates", [])


def test_every_pod_gets_gate_scheduler_tenant_and_a_level_of_ours(installation: tuple[Product, Api]) -> None:
    _, user = installation
    made = user.create(pod(priority_class="system-cluster-critical"))
    assert gated(made)
    assert made["spec"]["schedulerName"] == "fairberth-scheduler"
    assert made["spec"]["priorityClassName"] == "fairberth-p4"
    assert made["spec"]["priority"] == 30_000_000
    assert made["spec"]["preemptionPolicy"] == "Never"
    assert granted(made)["tenant"] == TENANT
    assert granted(made)["submitted-class"] == "system-cluster-critical"


def test_the_webhook_finds_the_level_by_the_submitted_class(guarded: tuple[Product, Api]) -> None:
    made = guarded[1].create(pod(priority_class="fairberth-p5"))
    assert granted(made)["level"] == "5"
    assert made["spec"]["priority"] == 20_000_000


def test_with_the_webhook_down_the_submitted_class_is_kept_for_later(net_alone: tuple[Product, Api]) -> None:
    made = net_alone[1].create(pod(priority_class="fairberth-p5"))
    assert granted(made)["submitted-class"] == "fairberth-p5"
    assert made["spec"]["priorityClassName"] == "fairberth-p4"


def test_another_scheduler_is_overruled(installation: tuple[Product, Api]) -> None:
    assert installation[1].create(pod(scheduler="default-scheduler"))["spec"]["schedulerName"] == "fairberth-scheduler"


def test_others_gates_stay(installation: tuple[Product, Api]) -> None:
    made = installation[1].create(pod(gates=["example.com/mine"]))
    assert made["spec"]["schedulingGates"] == [{"name": "example.com/mine"}, GATE]


def test_granted_keys_on_creation_are_dropped(installation: tuple[Product, Api]) -> None:
    forged = {GRANTED + name: "forged" for name in ("tenant", "exempt", "level", "admission", "reservation")}
    made = installation[1].create(pod(labels=forged, annotations=forged))
    assert gated(made)
    assert "forged" not in granted(made).values()


def test_a_forged_daemonset_owner_exempts_nobody(installation: tuple[Product, Api]) -> None:
    made = pod()
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "x", "uid": "1", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    assert gated(installation[1].create(made))


def test_a_forged_mirror_pod_is_no_exemption(installation: tuple[Product, Api]) -> None:
    made = pod(annotations={"kubernetes.io/config.mirror": "x"})
    with suppress(ApiError):  # refused is as good as gated
        installation[1].create(made)
    stored = installation[0].plane.api.find("pods", made["metadata"]["name"], TENANT)
    assert stored is None or gated(stored)


def test_a_pod_that_names_its_node_is_refused(installation: tuple[Product, Api]) -> None:
    with pytest.raises(ApiError, match=r"spec\.nodeName") as refused:
        installation[1].create(pod(nodeName="some-node"))
    assert refused.value.status in (403, 422)


def test_a_dry_run_shows_the_same_pod(guarded: tuple[Product, Api]) -> None:
    assert gated(guarded[1].create(pod(), dryRun="All"))


def test_a_real_daemonsets_pod_passes_marked(installation: tuple[Product, Api]) -> None:
    product, user = installation
    api = product.plane.api
    name = f"node-{id(product)}"
    api.create(objects.node(name))
    user.create(objects.workload("DaemonSet", f"agent-{id(product)}", TENANT))
    found = api.wait_all("pods", lambda pods: any(granted(p).get("exempt") == "daemonset" for p in pods), TENANT)
    made = next(p for p in found if granted(p).get("exempt") == "daemonset")
    assert not gated(made)
    assert granted(made)["tenant"] == TENANT
    api.delete("apps/v1/daemonsets", f"agent-{id(product)}", TENANT)
    api.delete("nodes", name)


FORGERIES: dict[str, tuple[str, Any]] = {
    "the gate by a strategic patch": (
        "strategic",
        {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE["name"]}]}},
    ),
    "the gate by a JSON patch": ("json", [{"op": "remove", "path": "/spec/schedulingGates/0"}]),
    "the gate by a merge patch": ("merge", {"spec": {"schedulingGates": None}}),
    "an admission": ("merge", {"metadata": {"annotations": {GRANTED + "admission": "{}"}}}),
    "an exemption": ("merge", {"metadata": {"labels": {GRANTED + "exempt": "daemonset"}}}),
    "another tenant": ("merge", {"metadata": {"labels": {GRANTED + "tenant": "other"}}}),
    "no tenant": ("merge", {"metadata": {"labels": {GRANTED + "tenant": None}}}),
}


@pytest.mark.parametrize(("how", "patch"), FORGERIES.values(), ids=FORGERIES.keys())
@pytest.mark.parametrize("sub", [None, "status"], ids=["pod", "status"])
def test_a_tenants_user_cannot_take_or_write(
    installation: tuple[Product, Api], how: str, patch: Any, sub: str | None
) -> None:
    product, user = installation
    made = user.create(pod())
    name = made["metadata"]["name"]
    with suppress(ApiError):  # refused, or without effect
        user.patch("pods", name, patch, TENANT, how=how, sub=sub)
    stored = product.plane.api.get("pods", name, TENANT)
    assert gated(stored)
    assert granted(stored) == granted(made)


def test_other_edits_pass(installation: tuple[Product, Api]) -> None:
    _, user = installation
    name = user.create(pod())["metadata"]["name"]
    changed = user.patch("pods", name, {"metadata": {"labels": {"app": "x"}}}, TENANT)
    assert changed["metadata"]["labels"]["app"] == "x"
    user.delete("pods", name, TENANT, grace=0)


NAMESPACE_FORGERIES: dict[str, Callable[[Api], object]] = {
    "take it away": lambda user: user.patch(
        "namespaces", TENANT, {"metadata": {"labels": {"fairberth.io/tenant": None}}}
    ),
    "give it to another": lambda user: user.patch(
        "namespaces", TENANT, {"metadata": {"labels": {"fairberth.io/tenant": "other"}}}
    ),
    "make one of its own": lambda user: user.create(objects.namespace("mine", {"fairberth.io/tenant": TENANT})),
}


@pytest.mark.parametrize("forge", NAMESPACE_FORGERIES.values(), ids=NAMESPACE_FORGERIES.keys())
def test_a_tenants_user_cannot_say_whose_a_namespace_is(
    installation: tuple[Product, Api], forge: Callable[[Api], object]
) -> None:
    with pytest.raises(ApiError, match=r"fairberth\.io/tenant") as refused:
        forge(installation[1])
    assert refused.value.status in (403, 422)


def test_with_the_only_webhook_down_the_pod_is_refused(webhook_alone: tuple[Product, Api]) -> None:
    product, user = webhook_alone
    product.kill("operator")
    with pytest.raises(ApiError, match="webhook") as refused:
        user.create(pod())
    assert refused.value.status == 500
    product.start_operator()
    assert gated(user.create(pod()))


def test_a_full_queue_rejects_with_429(guarded: tuple[Product, Api]) -> None:
    product, _ = guarded
    product.tenant("narrow", cordoned=True, backpressure={"maxQueue": 1, "onFull": "Reject"})
    api = product.plane.api
    api.create(objects.pod("first", "narrow"))
    told = lambda found: any(c["type"] == "fairberth.io/Admitted" for c in found["status"].get("conditions", []))  # noqa: E731
    api.wait_for("pods", "first", told, namespace="narrow")
    with pytest.raises(ApiError, match="queue is full") as refused:
        api.create(objects.pod("second", "narrow"))
    assert refused.value.status == 429
