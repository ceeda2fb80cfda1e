"""Every write of ours, byte for byte."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from fairberth.api import decode, grants, patches
from fairberth.api.requests import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from fairberth.model.objects import CapacityPool
from fairberth.model.selectors import Requirement, Selector, Toleration
from fairberth.model.workload import Grant
from tests.kit import builders

GRANT = Grant(1_700_000_000_000, "urgent", 2, "t-7", "n1")


def body(request: Any) -> Any:
    return json.loads(request.body)


def test_an_admission_to_a_pool_of_all_nodes_only_removes_our_gate_and_writes_the_grant() -> None:
    pod = builders.pod("p", "a")
    request = patches.admission(pod, GRANT, builders.pool())
    assert (request.method, request.path, request.content_type) == (
        "PATCH",
        "/api/v1/namespaces/a/pods/p",
        STRATEGIC_PATCH,
    )
    made = body(request)
    assert made["metadata"]["uid"] == pod.uid
    assert grants.decode(made["metadata"]["annotations"]["granted.fairberth.io/admission"]) == GRANT
    assert made["spec"] == {"schedulingGates": [{"$patch": "delete", "name": "fairberth.io/turn"}]}


def test_placement_is_tightened_to_the_pool_and_nothing_that_was_asked_for_is_lost() -> None:
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n9"]}]},
                ]
            }
        }
    }
    own = {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    pod = decode.pod_of(
        {
            "metadata": {"uid": "u", "name": "p", "namespace": "a"},
            "spec": {"affinity": affinity, "tolerations": [own], "schedulingGates": [{"name": "fairberth.io/turn"}]},
        }
    )
    selector = Selector((Requirement("pool", "In", ("urgent",)), Requirement("old", "DoesNotExist")))
    pool = CapacityPool("urgent", selector=selector, tolerations=(Toleration("urgent", "Exists"),))
    spec = body(patches.admission(pod, GRANT, pool))["spec"]
    assert spec["nodeSelector"] == {"pool": "urgent"}
    new = {"key": "old", "operator": "DoesNotExist"}
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms[0]["matchExpressions"] == [{"key": "zone", "operator": "In", "values": ["a", "b"]}, new]
    assert terms[1] == {
        "matchExpressions": [new],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n9"]}],
    }
    assert spec["tolerations"] == [own, {"operator": "Exists", "key": "urgent"}]


def test_a_selector_that_clashes_with_the_pools_is_kept_and_both_must_hold() -> None:
    pod = decode.pod_of(
        {
            "metadata": {"uid": "u", "name": "p", "namespace": "a"},
            "spec": {"nodeSelector": {"pool": "mine"}, "schedulingGates": [{"name": "fairberth.io/turn"}]},
        }
    )
    spec = body(patches.admission(pod, GRANT, CapacityPool("urgent", selector=Selector.of(pool="urgent"))))["spec"]
    assert "nodeSelector" not in spec
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["urgent"]}]}]


def test_a_toleration_that_the_pod_has_is_not_given_again_and_its_words_stay() -> None:
    own = [{"key": "a", "value": "b"}, {"key": "c", "operator": "Equal", "value": "d", "tolerationSeconds": 0}]
    pod = decode.pod_of(
        {
            "metadata": {"uid": "u", "name": "p", "namespace": "a"},
            "spec": {"tolerations": own, "schedulingGates": [{"name": "fairberth.io/turn"}]},
        }
    )
    same = CapacityPool("p", tolerations=(Toleration("a", "Equal", "b"),))
    assert "tolerations" not in body(patches.admission(pod, GRANT, same))["spec"]
    more = CapacityPool("p", tolerations=(Toleration("a", "Equal", "b"), Toleration("c", "Equal", "d")))
    expected = [*own, {"key": "c", "operator": "Equal", "value": "d"}]
    assert body(patches.admission(pod, GRANT, more))["spec"]["tolerations"] == expected


def test_a_selector_that_the_pod_has_is_not_given_again() -> None:
    pod = decode.pod_of(
        {
            "metadata": {"uid": "u", "name": "p", "namespace": "a"},
            "spec": {"nodeSelector": {"pool": "urgent"}, "schedulingGates": [{"name": "fairberth.io/turn"}]},
        }
    )
    spec = body(patches.admission(pod, GRANT, CapacityPool("urgent", selector=Selector.of(pool="urgent"))))["spec"]
    assert list(spec) == ["schedulingGates"]


def test_a_pod_past_our_gate_only_gets_the_grant() -> None:
    pod = builders.pod("p", "a", gated=False)
    pool = CapacityPool("urgent", selector=Selector.of(pool="urgent"))
    assert "spec" not in body(patches.admission(pod, GRANT, pool))


def test_a_nomination_says_admitted_in_the_same_write() -> None:
    request = patches.admitted(builders.pod("p", "a"), "n1", at=GRANT.at)
    assert request.path == "/api/v1/namespaces/a/pods/p/status"
    status = body(request)["status"]
    assert status["nominatedNodeName"] == "n1"
    assert status["conditions"] == [
        {
            "type": "fairberth.io/Admitted",
            "status": "True",
            "reason": "Admitted",
            "message": "its turn has come: it was admitted",
            "lastTransitionTime": "2023-11-14T22:13:20Z",
        }
    ]


def test_an_admission_without_a_node_says_so_and_nominates_nothing() -> None:
    status = body(patches.admitted(builders.pod("p", "a"), "", at=GRANT.at))["status"]
    assert list(status) == ["conditions"]


def test_telling_a_pod_why_it_waits_clears_a_nomination_left_from_an_admission_that_never_was() -> None:
    stale = dataclasses.replace(builders.pod("p", "a"), nominated="n1")
    assert body(patches.condition(stale, "False", "NoRoom", "…", at=0))["status"]["nominatedNodeName"] is None
    fresh = builders.pod("p", "a")
    assert "nominatedNodeName" not in body(patches.condition(fresh, "False", "NoRoom", "…", at=0))["status"]


def test_the_time_of_a_condition_is_that_of_its_last_transition() -> None:
    def said(before: str, status: str) -> Any:
        pod = dataclasses.replace(builders.pod("p", "a"), condition=before)
        (condition,) = body(patches.condition(pod, status, "Any", "…", at=GRANT.at))["status"]["conditions"]
        return condition.get("lastTransitionTime")

    now = "2023-11-14T22:13:20Z"
    assert said("", "False") == now, "it is new"
    assert said("NoRoom", "False") is None, "it still waits: the time on the pod stays"
    assert said("Admitted", "False") == now, "it was admitted, and waits again"
    assert said("NoRoom", "True") == now
    assert said("Exempt", "True") is None


def test_a_namespace_is_labelled_and_its_label_taken_away() -> None:
    request = patches.namespace_label("risk", "bank")
    assert (request.method, request.path, request.content_type) == ("PATCH", "/api/v1/namespaces/risk", MERGE_PATCH)
    assert body(request) == {"metadata": {"labels": {"fairberth.io/tenant": "bank"}}}
    assert body(patches.namespace_label("risk", None)) == {"metadata": {"labels": {"fairberth.io/tenant": None}}}


def test_the_fields_of_a_status_are_written_whole_and_only_to_the_object_that_was_meant() -> None:
    request = patches.object_status("CapacityPool", "gpu", "u-1", {"nodes": 3, "used": {"cpu": "1"}})
    path = "/apis/fairberth.io/v1alpha1/capacitypools/gpu/status"
    assert (request.method, request.path, request.content_type) == ("PATCH", path, JSON_PATCH)
    assert body(request) == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "add", "path": "/status/nodes", "value": 3},
        {"op": "add", "path": "/status/used", "value": {"cpu": "1"}},
    ]


def test_a_grant_survives_writing_and_reading_and_nothing_else_is_one() -> None:
    assert grants.decode(grants.encode(GRANT)) == GRANT
    for text in ("", "yes", "{}", '{"time":1,"pool":"p","level":9,"decision":"d"}', '{"time":"1"}'):
        assert grants.decode(text) is None
