"""What happens to a pod at creation, and who may not have it otherwise."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from fairberth.admission.mutate import DAEMONSET_CONTROLLER, NODES_GROUP, Refusal, Rules, review
from fairberth.control.intake import Intake
from fairberth.model import keys
from fairberth.model.objects import Backpressure, Team
from fairberth.policy.snapshot import Setup
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import NamespaceSeen, PodSeen, SetupChanged
from tests.kit import builders

USER, RULES = "dev@example.com", Rules()


def intake(**tenant: Any) -> Intake:
    """Tenant `a`, whose batch team is told by a label; level P5 exists as a PriorityClass, P4 too."""
    state = ClusterState()
    tenants = {"a": builders.tenant("a", teams=(Team("batch", selector=_batch()),), **tenant)}
    policy = Setup().policy
    state.apply(SetupChanged(Setup.of(tenants, {}, policy, {"main": builders.pool()})))
    state.apply(NamespaceSeen(builders.namespace("a", "a")))
    made = Intake(state)
    for name, value in (("fairberth-p4", 30_000_000), ("fairberth-p5", 20_000_000)):
        made.seen((name, value))
    return made


def _batch() -> Any:
    from fairberth.model.selectors import Selector

    return Selector.of(team="batch")


def new_pod(**changes: Any) -> dict[str, Any]:
    pod: dict[str, Any] = {"metadata": {"generateName": "p-"}, "spec": {"containers": [{"name": "c"}]}}
    for path, value in changes.items():
        where, _, field = path.partition("_")
        pod[where][field] = value
    return pod


def patched(pod: dict[str, Any], patch: Any) -> dict[str, Any]:
    assert not isinstance(patch, Refusal), patch
    made = copy.deepcopy(pod)
    for operation in patch:
        _, where, field = operation["path"].split("/")
        if operation["op"] == "remove":
            del made[where][field]
        else:
            made[where][field] = operation["value"]
    return made


def admit(pod: dict[str, Any], *, user: str = USER, groups: tuple[str, ...] = (), **tenant: Any) -> dict[str, Any]:
    return patched(pod, review(pod, "a", user, groups, intake(**tenant), RULES))


def test_a_tenants_pod_gets_gate_scheduler_level_and_all_three_priority_fields() -> None:
    made = admit(new_pod())
    assert made["spec"]["schedulingGates"] == [{"name": keys.GATE}]
    assert made["spec"]["schedulerName"] == keys.SCHEDULER
    assert made["spec"]["priorityClassName"] == "fairberth-p4"
    assert made["spec"]["priority"] == 30_000_000
    assert made["spec"]["preemptionPolicy"] == "Never"
    assert made["metadata"]["labels"] == {keys.TENANT: "a", keys.LEVEL: "4"}


def test_the_submitted_class_decides_the_level_and_is_kept() -> None:
    made = admit(new_pod(spec_priorityClassName="fairberth-p5", spec_preemptionPolicy="Never"))
    assert made["metadata"]["labels"][keys.LEVEL] == "5"
    assert made["metadata"]["annotations"] == {
        keys.SUBMITTED_CLASS: "fairberth-p5",
        keys.SUBMITTED_PREEMPTION: "Never",
    }


def test_what_the_net_kept_is_believed_only_of_a_pod_that_met_the_net() -> None:
    kept = {keys.SUBMITTED_CLASS: "fairberth-p5"}
    met = new_pod(metadata_annotations=kept, spec_schedulingGates=[{"name": keys.GATE}])
    assert admit(met)["metadata"]["labels"][keys.LEVEL] == "5"
    forged = new_pod(metadata_annotations=kept)
    assert admit(forged)["metadata"]["labels"][keys.LEVEL] == "4"
    without_net = review(met, "a", USER, (), intake(), Rules(net=False))
    assert patched(met, without_net)["metadata"]["labels"][keys.LEVEL] == "4"


def test_others_gates_stay_in_their_order() -> None:
    made = admit(new_pod(spec_schedulingGates=[{"name": "x/y"}]))
    assert made["spec"]["schedulingGates"] == [{"name": "x/y"}, {"name": keys.GATE}]


def test_every_granted_key_that_a_user_brings_is_dropped() -> None:
    brought = dict.fromkeys(keys.GRANTED_KEYS, "forged")
    made = admit(new_pod(metadata_labels={**brought, "app": "x"}, metadata_annotations=brought))
    assert made["metadata"]["labels"] == {"app": "x", keys.TENANT: "a", keys.LEVEL: "4"}
    assert "forged" not in json.dumps(made)


def test_the_team_is_found_by_its_selector() -> None:
    assert admit(new_pod(metadata_labels={"team": "batch"}))["metadata"]["labels"][keys.TEAM] == "batch"


def test_another_scheduler_is_overruled() -> None:
    assert admit(new_pod(spec_schedulerName="default-scheduler"))["spec"]["schedulerName"] == keys.SCHEDULER


def test_a_daemonsets_pod_is_told_by_who_creates_it_and_not_gated() -> None:
    made = admit(new_pod(), user=DAEMONSET_CONTROLLER)
    assert made["metadata"]["labels"] == {keys.TENANT: "a", keys.EXEMPT: "daemonset"}
    assert "schedulingGates" not in made["spec"]


def test_a_forged_daemonset_owner_is_gated_like_any_other() -> None:
    owner = [{"kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]
    assert admit(new_pod(metadata_ownerReferences=owner))["spec"]["schedulingGates"] == [{"name": keys.GATE}]


@pytest.mark.parametrize(("groups", "exempt"), [((NODES_GROUP,), True), ((), False)], ids=["a node", "a user"])
def test_a_mirror_pod_is_believed_only_of_nodes(groups: tuple[str, ...], exempt: bool) -> None:
    made = admit(new_pod(metadata_annotations={"kubernetes.io/config.mirror": "x"}), groups=groups)
    assert (made["metadata"]["labels"].get(keys.EXEMPT) == "mirror") is exempt
    assert ("schedulingGates" in made["spec"]) is not exempt


def test_a_pod_that_names_its_node_is_refused_with_the_field() -> None:
    refusal = review(new_pod(spec_nodeName="n1"), "a", USER, (), intake(), RULES)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, "spec.nodeName" in refusal.message) == (403, True)


def test_a_full_queue_that_rejects_answers_429_with_the_numbers() -> None:
    full = intake(backpressure=Backpressure(max_queue=1, reject_when_full=True))
    full._state.apply(PodSeen(builders.pod("waiting", "a")))
    refusal = review(new_pod(), "a", USER, (), full, RULES)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.reason) == (429, "QueueFull")
    assert "a pods: limit 1, held 1, asked 1" in refusal.message


def test_a_namespace_of_no_tenant_is_left_alone() -> None:
    assert review(new_pod(spec_nodeName="n1"), "free", USER, (), intake(), RULES) == []


def test_doing_it_again_changes_nothing() -> None:
    once = admit(new_pod(spec_priorityClassName="fairberth-p5", metadata_labels={"team": "batch"}))
    assert review(once, "a", USER, (), intake(), RULES) == []


def test_a_level_without_a_priority_class_gives_the_pod_none_rather_than_what_it_asked_for() -> None:
    pod = new_pod(spec_priorityClassName="system-cluster-critical", spec_priority=2_000_000_000)
    lookups = intake()
    lookups.gone("fairberth-p4")
    made = patched(pod, review(pod, "a", USER, (), lookups, RULES))
    assert "priorityClassName" not in made["spec"]
    assert made["spec"]["priority"] == 0
