"""The policies alone, as `admission.mode=policies` installs them: what the API server does for us without any webhook.

`test_admission.py` tries the forgeries on all installations. Here: no process of ours runs at all, the mirror pods that
are ones, who may change what is granted, and that the policies stand in nobody's way.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.plane import chart, objects
from tests.cluster.plane.api import Api, ApiError, Object, wait_until
from tests.cluster.plane.plane import ControlPlane, PlaneError

pytestmark = pytest.mark.cluster

GATE = {"name": "fairberth.io/turn"}
GRANTED = "granted.fairberth.io/"
OWNER = "fairberth.io/tenant"
SPACE = "acme"
KUBELET = ("--as", "system:node:node-1", "--as-group", "system:nodes", "--as-group", "system:authenticated")
_RBAC = "rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of this module's own, since the policies are of the whole cluster."""
    with ControlPlane.start() as running:
        chart.install(running, {"admission": {"mode": "policies"}})
        api = running.api
        api.create(objects.namespace(SPACE, {OWNER: "acme"}))
        api.create(objects.node("node-1"))
        api.wait_for("serviceaccounts", "default", namespace=SPACE)
        running.kubectl("create", "serviceaccount", "editor", "-n", SPACE)
        running.kubectl("create", "rolebinding", "editor", "-n", SPACE, "--clusterrole=edit", _subject("editor"))
        running.kubectl("create", "clusterrole", "spaces", "--verb=*", "--resource=namespaces", *_SUBRESOURCES)
        running.kubectl("create", "clusterrolebinding", "spaces", "--clusterrole=spaces", _subject("editor"))
        running.kubectl("create", "clusterrolebinding", "nodes", "--clusterrole=system:node", "--group=system:nodes")
        _wait_until_in_force(running.api_for(SPACE, "editor"))
        yield running


_SUBRESOURCES = ("--resource=namespaces/status", "--resource=namespaces/finalize")


def _subject(account: str) -> str:
    return f"--serviceaccount={SPACE}:{account}"


def _wait_until_in_force(editor: Api) -> None:
    """The policies take effect a moment after they are stored."""
    probe = objects.pod("probe", SPACE)
    wait_until(lambda: _gated(editor.create(probe, dryRun="All")))
    editor.create(probe)
    wait_until(lambda: _refused(lambda: editor.patch("pods", "probe", REFUSED["label"][1], SPACE)))
    wait_until(lambda: _refused(lambda: editor.create(objects.namespace("probe", {OWNER: "acme"}), dryRun="All")))


def _refused(attempt: Callable[[], Object]) -> bool:
    try:
        attempt()
    except ApiError as error:
        return "fairberth: " in str(error)
    return False


def _gated(obj: Object) -> bool:
    return GATE in obj["spec"].get("schedulingGates", [])


@pytest.fixture
def editor(plane: ControlPlane) -> Api:
    """Somebody with the cluster role `edit` in the tenant's namespace, and all rights on namespaces."""
    return plane.api_for(SPACE, "editor")


@pytest.fixture
def waiting(editor: Api, request: pytest.FixtureRequest) -> str:
    """The name of a gated pod of this test's own."""
    name = f"pod-{abs(hash(request.node.nodeid))}"
    assert _gated(editor.create(objects.pod(name, SPACE)))
    return name


def as_somebody(plane: ControlPlane, obj: Object, *who: str) -> Object:
    """Creates an object as another user; `PlaneError` with the server's message if it refuses."""
    made: Object = json.loads(plane.kubectl("create", "-f", "-", "-o", "json", *who, input=json.dumps(obj)))
    return made


def mirror(name: str) -> Object:
    """A mirror pod as a kubelet makes one of a static pod."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": "1", "controller": True}
    made = objects.pod(
        name, SPACE, annotations={"kubernetes.io/config.mirror": "1"}, nodeName="node-1", enableServiceLinks=False
    )
    made["metadata"]["ownerReferences"] = [owner]
    return made


def test_without_any_webhook_the_pod_waits_with_what_was_asked_for_kept(plane: ControlPlane, editor: Api) -> None:
    hooks = plane.api.list_all("admissionregistration.k8s.io/v1/mutatingwebhookconfigurations")
    made = editor.create(objects.pod("asked", SPACE, priority_class="system-cluster-critical"))
    assert not hooks
    assert _gated(made)
    assert made["spec"]["priorityClassName"] == "fairberth-p4"
    assert made["metadata"]["annotations"][GRANTED + "submitted-class"] == "system-cluster-critical"


def test_a_pod_without_any_labels_or_annotations_passes_the_net(editor: Api) -> None:
    spec = {**objects.pod_spec(), "restartPolicy": "Never"}
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": SPACE}, "spec": spec}
    made = editor.create(bare)
    assert _gated(made)
    assert made["metadata"]["labels"] == {GRANTED + "tenant": "acme"}


def test_our_gate_on_the_submitted_pod_is_not_doubled(editor: Api) -> None:
    made = editor.create(objects.pod("own-gate", SPACE, gates=[GATE["name"]]))
    assert made["spec"]["schedulingGates"] == [GATE]


def test_a_kubelets_mirror_pod_is_exempt_and_marked(plane: ControlPlane) -> None:
    made = as_somebody(plane, mirror("static-node-1"), *KUBELET)
    assert not _gated(made)
    assert made["metadata"]["labels"] == {GRANTED + "tenant": "acme", GRANTED + "exempt": "mirror"}


def test_the_same_mirror_pod_by_anybody_else_is_refused(editor: Api) -> None:
    with pytest.raises(ApiError, match=r"spec\.nodeName"):
        editor.create(mirror("static-forged"))


def test_a_pod_of_a_kubelet_that_is_no_mirror_is_refused(plane: ControlPlane) -> None:
    with pytest.raises(PlaneError, match=r"spec\.nodeName"):
        as_somebody(plane, objects.pod("no-mirror", SPACE, nodeName="node-1"), *KUBELET)


def test_a_daemonsets_pod_is_bound_run_and_keeps_its_own_priority(plane: ControlPlane, editor: Api) -> None:
    template = {"priorityClassName": "system-node-critical"}
    editor.create(objects.workload("DaemonSet", "agent", SPACE, pod=template))
    running = plane.api.wait_all(
        "pods", lambda found: found and found[0]["status"]["phase"] == "Running", SPACE, labels="app=agent"
    )
    assert running[0]["spec"]["priorityClassName"] == "system-node-critical"
    assert running[0]["spec"]["schedulerName"] == "default-scheduler"
    assert running[0]["metadata"]["labels"][GRANTED + "exempt"] == "daemonset"


REFUSED: dict[str, tuple[str, Any, str]] = {
    "gate, strategic": (
        "strategic",
        {"spec": {"schedulingGates": [{"$patch": "delete", **GATE}]}},
        r"fairberth: spec\.schedulingGates",
    ),
    "gate, JSON": ("json", [{"op": "remove", "path": "/spec/schedulingGates/0"}], r"fairberth: spec\.schedulingGates"),
    "label": ("merge", {"metadata": {"labels": {GRANTED + "level": "0"}}}, r"fairberth: metadata\.labels"),
    "label gone": ("merge", {"metadata": {"labels": {GRANTED + "tenant": None}}}, r"fairberth: metadata\.labels"),
    "annotation": (
        "merge",
        {"metadata": {"annotations": {GRANTED + "admission": "{}"}}},
        r"fairberth: metadata\.annotations",
    ),
    "annotation gone": (
        "merge",
        {"metadata": {"annotations": {GRANTED + "submitted-class": None}}},
        r"fairberth: metadata\.annotations",
    ),
}


@pytest.mark.parametrize(("how", "patch", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_names_the_field(editor: Api, waiting: str, how: str, patch: Any, message: str) -> None:
    with pytest.raises(ApiError, match=message) as refused:
        editor.patch("pods", waiting, patch, SPACE, how=how)
    assert refused.value.reason == "Forbidden"


def test_the_operators_account_may_do_it_all_in_one_patch(plane: ControlPlane, waiting: str) -> None:
    operator = plane.api_for(chart.NAMESPACE, "fairberth-operator")
    annotations = {GRANTED + "admission": "{}"}
    patch = {"metadata": {"annotations": annotations}, "spec": REFUSED["gate, strategic"][1]["spec"]}
    made = operator.patch("pods", waiting, patch, SPACE, how="strategic")
    assert not _gated(made)
    assert made["metadata"]["annotations"].items() >= annotations.items()


def test_a_cluster_admin_may_take_the_gate_in_an_emergency(plane: ControlPlane, waiting: str) -> None:
    assert not _gated(plane.api.patch("pods", waiting, REFUSED["gate, JSON"][1], SPACE, how="json"))


def test_the_schedulers_account_writes_status_and_nothing_granted(plane: ControlPlane, waiting: str) -> None:
    scheduler = plane.api_for(chart.NAMESPACE, "fairberth-scheduler")
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    patch = {"status": {"conditions": [condition]}}
    made = scheduler.patch("pods", waiting, patch, SPACE, how="strategic", sub="status")
    assert condition.items() <= next(c for c in made["status"]["conditions"] if c["type"] == "PodScheduled").items()
    with pytest.raises(ApiError, match=r"fairberth: metadata\.annotations"):
        scheduler.patch("pods", waiting, REFUSED["annotation"][1], SPACE, sub="status")


@pytest.mark.parametrize("sub", [None, "status"])
@pytest.mark.parametrize("to", [None, "other"])
def test_a_namespaces_owner_is_not_for_its_admin_to_change(editor: Api, sub: str | None, to: str | None) -> None:
    with pytest.raises(ApiError, match=r"fairberth: metadata\.labels\[fairberth\.io/tenant\]"):
        editor.patch("namespaces", SPACE, {"metadata": {"labels": {OWNER: to}}}, sub=sub)


def test_a_namespaces_owner_is_not_changed_through_finalize(plane: ControlPlane, editor: Api) -> None:
    space = plane.api.get("namespaces", SPACE)
    space["metadata"]["labels"][OWNER] = "other"
    with pytest.raises(ApiError, match=r"fairberth: metadata\.labels\[fairberth\.io/tenant\]"):
        editor.replace(space, "finalize")


def test_other_labels_of_a_namespace_are_its_admins(editor: Api) -> None:
    made = editor.patch("namespaces", SPACE, {"metadata": {"labels": {"team": "x"}}})
    assert made["metadata"]["labels"]["team"] == "x"


def test_who_may_update_tenants_may_say_whose_a_namespace_is(plane: ControlPlane) -> None:
    plane.kubectl("create", "clusterrole", "tenants", "--verb=update", "--resource=tenants.fairberth.io")
    plane.kubectl("create", "clusterrolebinding", "tenants", "--clusterrole=tenants", "--user=lead")
    plane.kubectl("create", "clusterrolebinding", "lead", "--clusterrole=spaces", "--user=lead")
    made = as_somebody(plane, objects.namespace("given", {OWNER: "acme"}), "--as", "lead")
    assert made["metadata"]["labels"][OWNER] == "acme"


@pytest.mark.parametrize("name", ["kube-system", chart.NAMESPACE])
def test_an_exempt_namespace_is_left_alone_whatever_its_label(plane: ControlPlane, name: str) -> None:
    plane.api.patch("namespaces", name, {"metadata": {"labels": {OWNER: "acme"}}})
    made = plane.api.create(objects.pod("left-alone", name), dryRun="All")
    plane.api.patch("namespaces", name, {"metadata": {"labels": {OWNER: None}}})
    assert not _gated(made)
    assert made["spec"]["schedulerName"] == "default-scheduler"


@pytest.fixture
def netless(plane: ControlPlane, editor: Api) -> Iterator[Api]:
    """The editor while the safety net is off, as on a server without it where another webhook undid what ours did."""
    binding = "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
    stored = plane.api.get(binding, "fairberth-net")
    plane.api.delete(binding, "fairberth-net")
    wait_until(lambda: _refused(lambda: editor.create(objects.pod("probe-net", SPACE), dryRun="All")))
    yield editor
    del stored["metadata"]["resourceVersion"], stored["metadata"]["uid"]
    plane.api.create(stored)
    wait_until(lambda: not _refused(lambda: editor.create(objects.pod("probe-net", SPACE), dryRun="All")))


def test_what_no_net_put_right_is_refused_by_its_field(netless: Api) -> None:
    right = {"gates": [GATE["name"]], "scheduler": "fairberth-scheduler"}
    wrong: dict[str, dict[str, Any]] = {
        "spec.schedulingGates": {**right, "gates": []},
        "spec.schedulerName": {**right, "scheduler": "default-scheduler"},
        "metadata.labels[granted.fairberth.io/exempt]": {**right, "labels": {GRANTED + "exempt": "daemonset"}},
        "metadata.annotations[granted.fairberth.io/admission]": {**right, "annotations": {GRANTED + "admission": "{}"}},
    }
    assert netless.create(objects.pod("right", SPACE, **right), dryRun="All")
    for field, details in wrong.items():
        with pytest.raises(ApiError, match=re.escape(f"fairberth: {field}:")):
            netless.create(objects.pod("wrong", SPACE, **details), dryRun="All")
    with pytest.raises(ApiError, match=r"spec\.nodeName: a tenant's pod may not choose its node"):
        netless.create(objects.pod("wrong", SPACE, nodeName="node-1"), dryRun="All")
