"""The control plane that the other tests trust does what a cluster does."""

import pytest

from tests.cluster.conftest import NodeMaker, on
from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, ApiError, Object
from tests.cluster.plane.plane import ControlPlane

pytestmark = pytest.mark.cluster


def phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase"))


def test_a_pod_is_bound_runs_and_completes(api: Api, namespace: str, make_node: NodeMaker) -> None:
    make_node()
    api.create(objects.pod("job", namespace, run_for="1s", nodeSelector=on(namespace)))
    api.wait_for("pods", "job", lambda pod: phase(pod) == "Running", namespace=namespace)
    done = api.wait_for("pods", "job", lambda pod: phase(pod) == "Succeeded", namespace=namespace)
    assert done["spec"]["nodeName"]


def test_a_pod_that_fails_says_so(api: Api, namespace: str, make_node: NodeMaker) -> None:
    make_node()
    api.create(objects.pod("job", namespace, run_for="1s", exit_code=1, nodeSelector=on(namespace)))
    api.wait_for("pods", "job", lambda pod: phase(pod) == "Failed", namespace=namespace)


def test_a_gated_pod_is_never_tried(api: Api, namespace: str) -> None:
    made = api.create(objects.pod("held", namespace, gates=["example.com/wait"]))
    assert [c["reason"] for c in made["status"]["conditions"] if c["type"] == "PodScheduled"] == ["SchedulingGated"]


def test_a_deleted_pod_finishes_terminating(api: Api, namespace: str, make_node: NodeMaker) -> None:
    make_node()
    api.create(objects.pod("gone", namespace, grace=1, nodeSelector=on(namespace)))
    api.wait_for("pods", "gone", lambda pod: phase(pod) == "Running", namespace=namespace)
    api.delete("pods", "gone", namespace)
    api.wait_gone("pods", "gone", namespace)


def test_a_disruption_budget_refuses_an_eviction(api: Api, namespace: str, make_node: NodeMaker) -> None:
    make_node()
    api.create(objects.pod("kept", namespace, labels={"app": "kept"}, nodeSelector=on(namespace)))
    api.wait_for("pods", "kept", lambda pod: phase(pod) == "Running", namespace=namespace)
    api.create(objects.disruption_budget("budget", namespace, {"app": "kept"}, 1))
    budgets = "policy/v1/poddisruptionbudgets"
    api.wait_for(budgets, "budget", lambda pdb: pdb["status"].get("currentHealthy") == 1, namespace=namespace)
    with pytest.raises(ApiError) as refused:
        api.evict("kept", namespace)
    assert refused.value.status == 429


def test_an_account_without_rights_is_refused(plane: ControlPlane, namespace: str) -> None:
    stranger = plane.api_for(namespace, "default")
    with pytest.raises(ApiError) as refused:
        stranger.list_all("pods", namespace)
    assert refused.value.status == 403
