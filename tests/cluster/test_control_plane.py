"""What the other cluster tests rely on: the control plane behaves like a real cluster."""

from collections.abc import Iterator

import pytest

from tests.cluster.conftest import NodeMaker, on
from tests.cluster.plane import objects, states
from tests.cluster.plane.api import Api, ApiError, Object
from tests.cluster.plane.plane import ControlPlane, Options, PlaneError

POLICIES = "admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
BINDINGS = "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
VALIDATING = "admissionregistration.k8s.io/v1/validatingadmissionpolicies"
REQUESTER = "test/requester"


class TestAPod:
    def test_is_bound_by_the_default_scheduler_and_runs(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        node = make_node()
        api.create(objects.pod("a", namespace, nodeSelector=on(namespace)))
        pod = api.wait_for("pods", "a", states.running, namespace)
        assert pod["spec"]["nodeName"] == node["metadata"]["name"]
        assert states.condition("Ready")(pod)

    def test_succeeds_when_its_time_to_run_is_over(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        api.create(objects.pod("a", namespace, run_for="100ms", nodeSelector=on(namespace)))
        pod = api.wait_for("pods", "a", states.succeeded, namespace)
        assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0

    def test_fails_with_the_exit_code_asked_for(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        api.create(objects.pod("a", namespace, run_for="100ms", exit_code=3, nodeSelector=on(namespace)))
        pod = api.wait_for("pods", "a", states.failed, namespace)
        assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3

    def test_deleted_without_grace_is_gone(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        api.create(objects.pod("a", namespace, nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.running, namespace)
        api.delete("pods", "a", namespace, grace=0)
        assert api.find("pods", "a", namespace) is None

    def test_terminates_in_the_time_it_takes_to_stop(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        api.create(objects.pod("a", namespace, grace=3600, stop_after="500ms", nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.running, namespace)
        api.delete("pods", "a", namespace)
        assert api.get("pods", "a", namespace)["metadata"]["deletionTimestamp"]
        api.wait_gone("pods", "a", namespace)

    def test_takes_its_whole_grace_period_otherwise(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        api.create(objects.pod("a", namespace, grace=1, nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.running, namespace)
        api.delete("pods", "a", namespace)
        api.wait_gone("pods", "a", namespace)

    def test_that_is_gated_is_not_tried_until_its_gate_is_gone(
        self, api: Api, namespace: str, make_node: NodeMaker
    ) -> None:
        make_node()
        api.create(objects.pod("gated", namespace, gates=["test/gate"], nodeSelector=on(namespace)))
        api.create(objects.pod("later", namespace, nodeSelector=on(namespace)))
        api.wait_for("pods", "later", states.running, namespace)
        gated = api.wait_for("pods", "gated", states.condition("PodScheduled", "False", "SchedulingGated"), namespace)
        assert not states.bound(gated)
        api.patch("pods", "gated", {"spec": {"schedulingGates": None}}, namespace)
        api.wait_for("pods", "gated", states.running, namespace)

    def test_that_fits_nowhere_is_unschedulable(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node(cpu="1")
        api.create(objects.pod("a", namespace, cpu="2", nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.condition("PodScheduled", "False", "Unschedulable"), namespace)

    def test_leaves_a_node_with_a_taint_that_it_does_not_tolerate(
        self, api: Api, namespace: str, make_node: NodeMaker
    ) -> None:
        node = make_node()["metadata"]["name"]
        api.create(objects.pod("a", namespace, grace=0, nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.running, namespace)
        api.patch("nodes", node, {"spec": {"taints": [objects.taint("test/out", effect="NoExecute")]}})
        api.wait_gone("pods", "a", namespace)


class TestAWorkload:
    def test_job_completes(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        pod = {"nodeSelector": on(namespace)}
        api.create(objects.job("a", namespace, run_for="100ms", pod=pod, completions=4, parallelism=2))
        job = api.wait_for("batch/v1/jobs", "a", states.condition("Complete"), namespace)
        assert job["status"]["succeeded"] == 4

    def test_deployment_takes_its_pods_along(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        pod = {"nodeSelector": on(namespace), "terminationGracePeriodSeconds": 0}
        api.create(objects.workload("Deployment", "a", namespace, pod=pod, replicas=2))
        api.wait_all("pods", lambda pods: len(list(filter(states.running, pods))) == 2, namespace)
        api.delete("apps/v1/deployments", "a", namespace)
        api.wait_all("pods", lambda pods: not pods, namespace)

    def test_jobs_pod_that_is_deleted_is_replaced(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        pod = {"nodeSelector": on(namespace)}
        api.create(objects.job("a", namespace, run_for="1h", pod=pod, podReplacementPolicy="Failed"))
        (first,) = api.wait_all("pods", lambda pods: pods and states.running(pods[0]), namespace)
        api.patch("pods", _name(first), {"metadata": {"annotations": {objects.STOP_AFTER: "100ms"}}}, namespace)
        api.delete("pods", _name(first), namespace)
        api.wait_gone("pods", _name(first), namespace)
        api.wait_all("pods", lambda pods: pods and all(map(states.running, pods)), namespace)

    def test_daemon_sets_pod_is_asked_for_by_the_daemon_set_controller(
        self, api: Api, namespace: str, make_node: NodeMaker, requesters_recorded: None
    ) -> None:
        make_node()
        api.create(objects.workload("DaemonSet", "a", namespace, pod={"nodeSelector": on(namespace)}))
        (pod,) = api.wait_all("pods", lambda pods: pods and all(map(states.running, pods)), namespace)
        requester = pod["metadata"]["annotations"][REQUESTER]
        assert requester == "system:serviceaccount:kube-system:daemon-set-controller"

    def test_disruption_budget_is_kept(self, api: Api, namespace: str, make_node: NodeMaker) -> None:
        make_node()
        pod = {"nodeSelector": on(namespace), "terminationGracePeriodSeconds": 0}
        api.create(objects.workload("ReplicaSet", "a", namespace, pod=pod, replicas=1))
        api.create(objects.disruption_budget("a", namespace, {"app": "a"}, min_available=1))
        (victim,) = api.wait_all("pods", lambda pods: pods and all(map(states.running, pods)), namespace)
        budget = api.wait_for("policy/v1/poddisruptionbudgets", "a", _counts_one_healthy, namespace)
        assert budget["status"]["disruptionsAllowed"] == 0
        with pytest.raises(ApiError) as refused:
            api.evict(_name(victim), namespace)
        assert refused.value.status == 429
        assert refused.value.body["details"]["causes"][0]["reason"] == "DisruptionBudget"


class TestAServiceAccount:
    def test_without_rights_is_refused(self, plane: ControlPlane, namespace: str) -> None:
        nobody = plane.api_for(namespace, "default")
        with pytest.raises(ApiError) as refused:
            nobody.list_all("pods", namespace)
        assert refused.value.status == 403
        assert f"system:serviceaccount:{namespace}:default" in str(refused.value)

    def test_has_the_rights_that_it_is_given(self, plane: ControlPlane, namespace: str) -> None:
        user = f"--serviceaccount={namespace}:default"
        plane.kubectl("create", "rolebinding", "view", "--clusterrole=view", user, f"--namespace={namespace}")
        own = f"--kubeconfig={plane.kubeconfig_for(namespace, 'default')}"
        assert plane.kubectl("get", "pods", own, f"--namespace={namespace}") == ""


class TestThePlane:
    def test_says_which_kubernetes_it_is(self, api: Api) -> None:
        assert api.request("GET", "/version")["gitVersion"].startswith("v1.")

    def test_runs_helm_and_kubectl(self, plane: ControlPlane) -> None:
        assert "REVISION" in plane.helm("list", "--all-namespaces")
        assert "created" in plane.kubectl("apply", "-f", "-", "--dry-run=server", input=_namespace_yaml())
        with pytest.raises(PlaneError, match="NotFound"):
            plane.kubectl("get", "pod", "none")

    def test_takes_a_second_scheduler(
        self, plane: ControlPlane, api: Api, namespace: str, make_node: NodeMaker
    ) -> None:
        make_node()
        program = plane.start_scheduler({"profiles": [{"schedulerName": namespace}]}, f"scheduler-{namespace}")
        api.create(objects.pod("a", namespace, scheduler=namespace, nodeSelector=on(namespace)))
        api.wait_for("pods", "a", states.running, namespace)
        plane.programs.stop(program)

    def test_can_be_like_an_older_server_beside_another_one(self, plane: ControlPlane) -> None:
        older = Options(policy_api=False, controllers=False, scheduler=False, kubelet=False)
        assert plane.api.list_all(POLICIES) == []
        with ControlPlane.start(older) as second:
            assert second.url != plane.url
            assert second.api.list_all(VALIDATING) == []
            for resource in (POLICIES, BINDINGS):
                with pytest.raises(ApiError, match="404"):
                    second.api.list_all(resource)
            assert second.api.create(objects.namespace("still-admits"))["metadata"]["uid"]

    def test_that_is_stopped_leaves_nothing(self) -> None:
        bare = Options(validating_policy_api=False, controllers=False, scheduler=False, kubelet=False)
        with ControlPlane.start(bare) as plane, pytest.raises(ApiError, match="404"):
            plane.api.list_all(VALIDATING)
        assert not plane.folder.exists()
        assert plane.programs.dead() == []


@pytest.fixture
def requesters_recorded(api: Api, namespace: str) -> Iterator[None]:
    """Every pod of the namespace is annotated with the user that asked for it."""
    user = f'{{"{REQUESTER}": request.userInfo.username}}'
    record = f'[JSONPatch{{op: "add", path: "/metadata/annotations", value: {user}}}]'
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    policy = _policy_object("MutatingAdmissionPolicy", namespace) | {
        "spec": {
            "matchConstraints": {"resourceRules": [pods], "namespaceSelector": selector},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": record}}],
            "reinvocationPolicy": "Never",
            "failurePolicy": "Fail",
        }
    }
    binding = _policy_object("MutatingAdmissionPolicyBinding", namespace) | {"spec": {"policyName": namespace}}
    api.create(policy)
    api.create(binding)
    _until_recorded(api, namespace)
    yield
    api.delete(BINDINGS, namespace)
    api.delete(POLICIES, namespace)


def _until_recorded(api: Api, namespace: str) -> None:
    """A new policy is in force a moment after it is stored, and nothing says when: ask by dry runs."""
    for _ in range(10_000):
        created = api.create(objects.pod("probe", namespace), dryRun="All")
        if REQUESTER in created["metadata"].get("annotations", {}):
            return
    raise AssertionError("the policy never came into force")


def _policy_object(kind: str, name: str) -> Object:
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}


def _counts_one_healthy(budget: Object) -> bool:
    return bool(budget.get("status", {}).get("currentHealthy") == 1)


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _namespace_yaml() -> str:
    return "apiVersion: v1\nkind: Namespace\nmetadata: {name: dry-run}\n"
