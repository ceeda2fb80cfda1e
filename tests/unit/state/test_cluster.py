"""The memory: what facts mean, one by one. (That their order means nothing is a law: tests/laws/test_histories.py.)"""

from __future__ import annotations

import dataclasses

from fairberth.model.amounts import Amounts
from fairberth.model.objects import FairnessPolicy
from fairberth.model.selectors import Selector
from fairberth.model.workload import Grant, Pod
from fairberth.state.facts import Assumed, NamespaceSeen, NodeSeen, Withdrawn
from tests.kit.builders import T0, amounts, namespace, node, pod, pool, tenant
from tests.kit.world import World, admitted, reasons


def world(**more: object) -> World:
    return World([tenant("a")], [node("n1", cpu=4)], **more)  # type: ignore[arg-type]


def running(name: str, where: str = "n1", **changes: object) -> Pod:
    grant = Grant(T0, "main", 4, "t-1", where)
    return dataclasses.replace(pod(name, "a"), gated=False, grant=grant, node=where, **changes)  # type: ignore[arg-type]


def held(made: World) -> Amounts:
    return made.state.ledger.held("main", "a")


def test_an_admitted_pod_without_a_node_holds_its_pools_room_all_the_same() -> None:
    made = world()
    made.add(dataclasses.replace(running("p"), node="", grant=Grant(T0, "main", 4, "t-1")))
    assert held(made)["cpu"] == 1000
    assert made.state.snapshot(T0).unplaced["main"]["cpu"] == 1000
    made.add(*(pod(f"q{n}", "a") for n in range(4)))
    assert len(made.turn().admissions) == 3


def test_a_terminating_pod_holds_its_charge_until_it_is_gone() -> None:
    made = world()
    made.add(running("p", deleted_at=T0))
    made.now = T0 + 3_600_000
    made.state.snapshot(made.now)
    assert held(made)["cpu"] == 1000
    made.end("a/p")
    assert held(made) == Amounts()


def test_on_a_lost_node_the_charge_ends_after_grace_and_a_timeout_and_returns_with_the_node() -> None:
    made = world(policy=FairnessPolicy(lost_node_timeout=60_000))
    made.add(running("p", deleted_at=T0 + 30_000))
    lost = dataclasses.replace(node("n1", cpu=4), ready=False)
    made.state.apply(NodeSeen(lost))
    made.state.snapshot(T0 + 89_999)
    assert held(made)["cpu"] == 1000
    made.state.snapshot(T0 + 90_000)
    assert held(made) == Amounts()
    made.state.apply(NodeSeen(node("n1", cpu=4)))
    made.state.snapshot(T0 + 90_001)
    assert held(made)["cpu"] == 1000


def test_an_ended_pod_holds_nothing() -> None:
    made = world()
    made.add(running("p", terminal=True))
    assert held(made) == Amounts()


def test_pods_of_no_tenant_use_room_and_are_no_capacity() -> None:
    made = world()
    foreign = dataclasses.replace(pod("system", "kube-system", cpu=3), gated=False, node="n1")
    made.add(foreign, pod("p", "a"), pod("q", "a"))
    assert made.state.snapshot(T0).capacity["main"]["cpu"] == 1000
    assert len(made.turn().admissions) == 1


def test_a_pod_that_slipped_in_before_the_label_is_charged_and_stays() -> None:
    made = world()
    made.state.apply(NamespaceSeen(namespace("late")))
    made.add(dataclasses.replace(pod("p", "late"), gated=False, node="n1"))
    assert held(made) == Amounts()
    made.state.apply(NamespaceSeen(namespace("late", "a")))
    assert held(made)["cpu"] == 1000


def test_a_pod_past_our_gate_without_admission_queues_like_any_other() -> None:
    made = world()
    made.add(pod("p", "a", gated=False))
    assert admitted(made.turn()) == ["a/p"]


def test_an_exempt_pod_is_never_queued_and_charged_once_bound() -> None:
    made = world()
    daemon = dataclasses.replace(pod("d", "a"), gated=False, exempt="daemonset")
    made.add(daemon)
    assert made.turn().admissions == ()
    made.add(dataclasses.replace(daemon, node="n1"))
    assert held(made)["cpu"] == 1000


def test_what_we_assumed_counts_until_it_is_seen_or_withdrawn() -> None:
    made = world()
    waiting = pod("p", "a")
    made.add(waiting)
    made.state.apply(Assumed(waiting.uid, Grant(T0, "main", 4, "t-1", "n1")))
    assert held(made)["cpu"] == 1000
    made.add(waiting)  # an older event that is still on the way
    assert held(made)["cpu"] == 1000
    made.state.apply(Withdrawn(waiting.uid))
    assert held(made) == Amounts()
    assert admitted(made.turn()) == ["a/p"]


def test_a_node_in_two_pools_belongs_to_the_older() -> None:
    old, new = pool("old", created=1), pool("new", created=2)
    made = world(pools=[new, old])
    made.add(pod("p", "a"))
    assert made.turn().admissions[0].pool == "old"


def test_nodes_that_are_not_ready_cordoned_or_leaving_are_no_capacity() -> None:
    made = World([tenant("a")], [])
    for change in ({"ready": False}, {"unschedulable": True}, {"leaving": True}):
        made.state.apply(NodeSeen(dataclasses.replace(node("n1", cpu=4), **change)))  # type: ignore[arg-type]
        assert made.state.snapshot(T0).capacity["main"] == Amounts()


def test_a_growable_pool_lets_go_beyond_its_room_up_to_its_size_without_a_nomination() -> None:
    grows = pool("main", max_capacity=amounts(cpu=6, pods=100))
    made = world(pools=[grows])
    made.add(*(pod(f"p{n}", "a") for n in range(8)))
    turn = made.turn()
    assert [admission.node for admission in turn.admissions] == ["n1"] * 4 + [""] * 2
    assert set(reasons(turn).values()) == {"NoRoom"}


def test_a_level_that_no_pool_takes_is_told_so() -> None:
    made = world(pools=[pool("main", levels=frozenset({0, 1}))])
    made.add(pod("p", "a"))
    assert reasons(made.turn()) == {"a/p": "NoPool"}


def test_a_pod_refused_in_its_first_pool_goes_to_the_next() -> None:
    fast, slow = pool("fast", created=1, selector=Selector.of(kind="fast")), pool("slow", created=2)
    made = World([tenant("a")], [], pools=[fast, slow])
    for name, kind in (("f", "fast"), ("s", "slow")):
        made.state.apply(NodeSeen(dataclasses.replace(node(name, cpu=1), labels={"kind": kind})))
    made.add(pod("p0", "a"), pod("p1", "a"), pod("p2", "a"))
    turn = made.turn()
    assert [(a.pool, a.node) for a in turn.admissions] == [("fast", "f"), ("slow", "s")]
    assert set(reasons(turn).values()) == {"NoRoom"}


def test_packing_fills_a_node_before_the_next_and_urgent_pods_spread() -> None:
    made = World([tenant("a", most_urgent=0)], [node("n1", cpu=4), node("n2", cpu=4)], slas=None)
    made.add(pod("p0", "a"), pod("p1", "a"))
    assert [a.node for a in made.turn().admissions] == ["n1", "n1"]
    made.add(pod("urgent", "a", priority_class="fairberth-p0"))
    made.slas[0] = dataclasses.replace(made.slas[0], guarantee=50)
    made.set_tenants([tenant("a", most_urgent=0)])
    assert [a.node for a in made.turn().admissions] == ["n2"]


def test_what_the_engine_does_not_model_gets_no_nomination() -> None:
    from fairberth.model.selectors import Constraints

    made = world()
    made.add(pod("p", "a", constraints=Constraints(unmodelled=("volumes",))))
    assert [(a.pool, a.node) for a in made.turn().admissions] == [("main", "")]
