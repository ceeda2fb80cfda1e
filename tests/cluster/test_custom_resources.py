"""Our kinds on a real API server: good examples are accepted and completed, bad ones refused with the field named."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from fairberth.api import decode, patches, status
from fairberth.api.manifests import manifest
from fairberth.api.requests import Request
from fairberth.kube.errors import classify
from fairberth.model import keys
from fairberth.model.faults import Fault
from fairberth.model.objects import CapacityPool
from fairberth.model.outcomes import Conflict
from fairberth.model.reasons import Reason
from fairberth.model.selectors import Requirement, Selector, Toleration
from fairberth.model.workload import Grant
from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, ApiError
from tests.cluster.plane.plane import ControlPlane
from tests.contract.crds import examples

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
TENANTS = "fairberth.io/v1alpha1/tenants"
PLURALS = {
    "Tenant": "tenants",
    "PrioritySLA": "priorityslas",
    "FairnessPolicy": "fairnesspolicies",
    "CapacityPool": "capacitypools",
}


@pytest.fixture(scope="module")
def served(plane: ControlPlane) -> Api:
    plane.kubectl("apply", "--server-side", "-f", str(ROOT / "crds"))
    plane.kubectl("wait", "--for=condition=Established", "-f", str(ROOT / "crds"), "--timeout=60s")
    return plane.api


def create(api: Api, example: dict[str, Any], name: str) -> Any:
    path = f"/apis/fairberth.io/v1alpha1/{PLURALS[example['kind']]}"
    params = {"dryRun": "All", "fieldValidation": "Strict"}
    return api.request("POST", path, examples.manifest(example, name), params=params)


def send(api: Api, request: Request) -> Any:
    return api.request(request.method, request.path, json.loads(request.body), request.content_type)


@pytest.mark.parametrize("example", examples.GOOD, ids=examples.case)
def test_a_good_example_is_accepted(served: Api, example: dict[str, Any]) -> None:
    assert create(served, example, "good")["kind"] == example["kind"]


@pytest.mark.parametrize("example", examples.BAD, ids=examples.case)
def test_a_bad_example_is_refused_with_the_field_named(served: Api, example: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refused:
        create(served, example, "bad")
    assert refused.value.status in (400, 422)
    assert example["place"] in str(refused.value)


def test_defaults_are_filled_in(served: Api) -> None:
    tenant = create(served, {"kind": "Tenant", "spec": {"quotas": [{"pool": "default"}]}}, "plain")["spec"]
    assert tenant["weight"] == 1
    assert tenant["levels"] == {"mostUrgent": 3, "default": 4}
    assert tenant["quotas"] == [{"pool": "default", "borrowing": {"enabled": True}, "lending": {"enabled": True}}]
    assert not {"parent", "teams", "namespaces"} & tenant.keys(), "what says nothing is not stored"
    policy = create(served, {"kind": "FairnessPolicy", "spec": {}}, "default")["spec"]
    assert policy["fairBand"] == 500
    assert policy["windows"] == {"perTenant": 2, "perTeam": 2}


def test_the_values_that_the_server_fills_in_are_those_that_we_assume(served: Api) -> None:
    for kind in ("Tenant", "FairnessPolicy", "CapacityPool"):
        bare = {"kind": kind, "metadata": {"name": "default"}, "spec": {}}
        filled = create(served, {"kind": kind, "spec": {}}, "default")
        assert manifest({**bare, "spec": filled["spec"]}) == manifest(bare)


def test_a_status_field_is_replaced_whole_and_another_object_of_the_name_is_left_alone(served: Api) -> None:
    made = served.create(examples.manifest(examples.GOOD[0], "kept"))
    uid = made["metadata"]["uid"]
    first = {
        "inForce": {"generation": 1, "spec": {"parent": "a", "namespaces": {"selector": {"matchLabels": {"a": "b"}}}}}
    }
    second = {"inForce": {"generation": 2, "spec": {"namespaces": {"selector": {"matchLabels": {"c": "d"}}}}}}
    for fields in ({"waiting": 3, **first}, second):
        send(served, patches.object_status("Tenant", "kept", uid, fields))
    assert served.get(TENANTS, "kept")["status"] == {"waiting": 3, **second}
    with pytest.raises(ApiError) as refused:
        send(served, patches.object_status("Tenant", "kept", "another", {"waiting": 4}))
    assert isinstance(classify(refused.value.status, json.dumps(refused.value.body).encode()), Conflict)
    served.delete(TENANTS, "kept")


def test_our_conditions_are_accepted(served: Api) -> None:
    uid = served.create(examples.manifest(examples.GOOD[0], "told"))["metadata"]["uid"]
    said = [
        status.ready((Fault("spec.weight", "is wrong"),), 3, 0, None),
        status.warning(Reason.GUARANTEES_OVERSUBSCRIBED, "too much", 0),
    ]
    send(served, patches.object_status("Tenant", "told", uid, {"conditions": said}))
    assert served.get(TENANTS, "told")["status"]["conditions"] == said
    served.delete(TENANTS, "told")


def test_an_admission_ties_a_pod_to_its_pool_and_keeps_what_it_asked_for(api: Api, namespace: str) -> None:
    own = {"key": "mine", "value": "yes"}  # no operator: Equal, and not to be written as such
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    details = {"tolerations": [own], "nodeSelector": {"disk": "ssd"}, "affinity": affinity}
    pod = objects.pod("tied", namespace, gates=[keys.GATE, "example.com/other"])
    made = decode.pod_of(api.create({**pod, "spec": {**pod["spec"], **details}}))
    selector = Selector((Requirement("pool", "In", ("urgent",)), Requirement("old", "DoesNotExist")))
    pool = CapacityPool("urgent", selector=selector, tolerations=(Toleration("urgent", "Exists"),))
    spec = send(api, patches.admission(made, Grant(1, "urgent", 2, "t-1"), pool))["spec"]
    assert spec["schedulingGates"] == [{"name": "example.com/other"}]
    assert spec["nodeSelector"] == {"disk": "ssd", "pool": "urgent"}
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [expression["key"] for expression in term["matchExpressions"]] == ["zone", "old"]
    assert own in spec["tolerations"]
    assert {"key": "urgent", "operator": "Exists"} in spec["tolerations"]


def test_another_pod_of_the_name_is_left_alone(api: Api, namespace: str) -> None:
    seen = decode.pod_of(api.create(objects.pod("twin", namespace, gates=[keys.GATE])))
    twin = dataclasses.replace(seen, uid="another")
    writes = (
        patches.admission(twin, Grant(1, "p", 2, "t-1"), CapacityPool("p")),
        patches.admitted(twin, "n1", at=0),
        patches.condition(twin, "False", "NoRoom", "…", at=0),
    )
    for request in writes:
        with pytest.raises(ApiError) as refused:
            send(api, request)
        assert isinstance(classify(refused.value.status, json.dumps(refused.value.body).encode()), Conflict)


def test_a_reason_that_changes_is_no_transition(api: Api, namespace: str) -> None:
    seen = decode.pod_of(api.create(objects.pod("waits", namespace, gates=[keys.GATE])))
    for truth, reason, at in (("False", "NoRoom", 0), ("False", "WindowFull", 60_000), ("True", "Admitted", 120_000)):
        seen = decode.pod_of(send(api, patches.condition(seen, truth, reason, "…", at=at)))
        ours = {c["type"]: c for c in api.get("pods", "waits", namespace)["status"]["conditions"]}[keys.CONDITION]
        assert (ours["status"], ours["reason"]) == (truth, reason)
        since = "1970-01-01T00:02:00Z" if truth == "True" else "1970-01-01T00:00:00Z"
        assert ours["lastTransitionTime"] == since


def test_kubectl_shows_what_people_look_for(plane: ControlPlane, served: Api) -> None:
    served.create(examples.manifest(examples.GOOD[0], "shown"))
    lines = plane.kubectl("get", "tn").splitlines()
    assert lines[0].split()[:3] == ["NAME", "WEIGHT", "PARENT"]
    assert "tenant.fairberth.io/shown" in plane.kubectl("get", "fairberth", "-o", "name")
    served.delete(TENANTS, "shown")
