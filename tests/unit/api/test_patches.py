"""Every write of ours, byte for byte."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from fairberth.api import decode, grants, patches
from fairberth.api.requests import STRATEGIC_PATCH
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


def test_a_grant_survives_writing_and_reading_and_nothing_else_is_one() -> None:
    assert grants.decode(grants.encode(GRANT)) == GRANT
    for text in ("", "yes", "{}", '{"time":1,"pool":"p","level":9,"decision":"d"}', '{"time":"1"}'):
        assert grants.decode(text) is None
