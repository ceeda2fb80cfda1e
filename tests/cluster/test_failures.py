"""kill -9 in the middle, restarts, and everything of ours being down: no quota is exceeded and no pod is lost."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, Object, wait_until
from tests.cluster.plane.plane import ControlPlane, Options
from tests.cluster.plane.product import Product

pytestmark = pytest.mark.cluster

PODS, QUOTA = 500, 300


@pytest.fixture
def product() -> Iterator[Product]:
    with ControlPlane.start(Options(scheduler=False)) as plane:
        for index in range(50):
            plane.api.create(objects.node(f"node-{index:02}", cpu="16"))
        yield Product.start(plane)


def placed(pods: Sequence[Object]) -> int:
    return sum(1 for pod in pods if pod["spec"].get("nodeName"))


def ungated(pods: Sequence[Object]) -> int:
    return sum(1 for pod in pods if not pod["spec"].get("schedulingGates"))


def decisions(pods: Sequence[Object]) -> list[str]:
    """The admission annotations that there are."""
    annotations = (pod["metadata"].get("annotations", {}) for pod in pods)
    return [a["granted.fairberth.io/admission"] for a in annotations if "granted.fairberth.io/admission" in a]


def submit(api: Api, namespace: str, count: int) -> None:
    for index in range(count):
        api.create(objects.pod(f"pod-{index:03}", namespace, cpu="1", grace=0))


def test_an_operator_killed_in_the_middle_of_500_admissions_admits_exactly_the_quota(product: Product) -> None:
    api = product.plane.api
    product.tenant("bulk", quotas=[{"pool": "default", "limit": {"cpu": str(QUOTA)}}], cordoned=True)
    submit(api, "bulk", PODS)
    product.stop("operator")
    product.apply(_bulk(cordoned=False))
    product.start_operator(wait=False)
    # In the middle: the oldest go first, so the twentieth is let go while most of the quota is not.
    while not ungated([api.get("pods", "pod-020", "bulk")]):
        pass
    product.kill("operator")
    killed_at = ungated(api.list_all("pods", "bulk"))
    assert killed_at < QUOTA, "killed too late to say anything"
    product.start_operator()
    pods = api.wait_all("pods", lambda found: placed(found) >= QUOTA, "bulk")
    api.wait_all("pods", lambda found: _told(found)["QuotaExhausted"] == PODS - QUOTA, "bulk")
    pods = api.list_all("pods", "bulk")
    assert len(pods) == PODS
    assert ungated(pods) == placed(pods) == QUOTA
    assert len(set(decisions(pods))) == QUOTA


def _bulk(**spec: object) -> Object:
    from tests.cluster.plane.product import fairberth

    quotas = [{"pool": "default", "limit": {"cpu": str(QUOTA)}}]
    return fairberth("Tenant", "bulk", namespaces={"names": ["bulk"]}, quotas=quotas, **spec)


def _told(pods: Sequence[Object]) -> Counter[str]:
    conditions = (c for pod in pods for c in pod["status"].get("conditions", []))
    return Counter(c["reason"] for c in conditions if c["type"] == "fairberth.io/Admitted")


def test_with_the_extender_killed_no_tenant_pod_is_bound_without_admission(product: Product) -> None:
    api = product.plane.api
    product.tenant("calm")
    product.kill("extender")
    submit(api, "calm", 5)
    # The operator admits them; kube-scheduler cannot ask anybody, so it binds nobody, and says SchedulerError.
    pods = api.wait_all("pods", lambda found: _scheduled(found)["SchedulerError"] == 5, "calm")
    assert placed(pods) == 0
    assert _scheduled(pods)["Unschedulable"] == 0
    product.start_extender()
    pods = api.wait_all("pods", lambda found: placed(found) == 5, "calm")
    assert len(decisions(pods)) == 5


def _scheduled(pods: Sequence[Object]) -> Counter[str]:
    conditions = (c for pod in pods for c in pod["status"].get("conditions", []))
    return Counter(c.get("reason", "") for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False")


def test_a_pod_made_while_everything_of_ours_is_down_waits_gated_and_wakes_no_autoscaler(product: Product) -> None:
    api = product.plane.api
    product.tenant("night")
    product.kill("operator")
    product.kill("extender")
    submit(api, "night", 3)
    pods = api.wait_all("pods", lambda found: _scheduled(found)["SchedulingGated"] == 3, "night")
    assert all(pod["spec"]["schedulingGates"] == [{"name": "fairberth.io/turn"}] for pod in pods)
    assert _scheduled(pods)["Unschedulable"] == 0
    product.start_extender()
    product.start_operator()
    api.wait_all("pods", lambda found: placed(found) == 3, "night")


def test_a_pod_that_came_without_our_gate_is_refused_queued_admitted_by_annotation_and_placed(
    product: Product,
) -> None:
    api = product.plane.api
    product.tenant("late")
    label = {"metadata": {"labels": {"fairberth.io/tenant": None}}}
    product.kill("operator")  # else it would label the namespace at once
    api.patch("namespaces", "late", label)
    scheduler = "fairberth-scheduler"
    api.create(objects.pod("early", "late", scheduler=scheduler, gates=["example.com/wait"]))
    label["metadata"]["labels"]["fairberth.io/tenant"] = "late"  # type: ignore[assignment]
    api.patch("namespaces", "late", label)
    gone = [{"$patch": "delete", "name": "example.com/wait"}]
    api.patch("pods", "early", {"spec": {"schedulingGates": gone}}, namespace="late", how="strategic")
    early = api.wait_for("pods", "early", lambda pod: _scheduled([pod])["Unschedulable"] == 1, namespace="late")
    message = next(c["message"] for c in early["status"]["conditions"] if c["type"] == "PodScheduled")
    assert "NotAdmitted" in message
    product.start_operator()
    early = api.wait_for("pods", "early", lambda pod: pod["spec"].get("nodeName"), namespace="late")
    assert decisions([early])


def test_a_second_operator_takes_over_when_the_first_is_killed(product: Product) -> None:
    api = product.plane.api
    product.tenant("relay")
    from tests.cluster.plane.ports import free_ports

    spare, webhook = free_ports(2)
    first_webhook, product.webhook_port = product.webhook_port, webhook
    product.start_operator("standby", metrics_port=spare)
    product.webhook_port = first_webhook
    product.kill("operator")
    submit(api, "relay", 2)
    api.wait_all("pods", lambda found: placed(found) == 2, "relay")
    lease = api.get("coordination.k8s.io/v1/leases", "fairberth-operator", "fairberth-system")
    wait_until(lambda: bool(lease["spec"]["holderIdentity"]))
