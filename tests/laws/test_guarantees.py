"""Guarantees and borrowing (design §5.5): what is demanded of a guarantee is met, and no room stays idle for nobody."""

from __future__ import annotations

import dataclasses
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from fairberth.model.objects import FairnessPolicy, Tenant
from tests.kit.builders import amounts, node, pod, quota, tenant
from tests.kit.world import World

NAMES = ("a", "b", "c", "d")
ROOTS = ("", "", "", "")
# a above b above c, and d beside a; or all side by side.
TREES = (ROOTS, ("", "a", "b", ""), ("", "a", "a", ""))

numbers = st.lists(st.integers(0, 6), min_size=4, max_size=4)
levels = st.lists(st.integers(3, 6), min_size=4, max_size=4)
memory = st.sampled_from(("0", "1Gi"))


def family(parents: tuple[str, ...], guaranteed: list[int], weights: list[int]) -> list[Tenant]:
    """Tenants with guarantees of cpu; a parent's is raised to hold its children's."""
    by_name = dict(zip(NAMES, guaranteed, strict=True))
    for parent in reversed(parents):
        if parent:
            children = [n for n, p in zip(NAMES, parents, strict=True) if p == parent]
            by_name[parent] = max(by_name[parent], sum(by_name[c] for c in children))
    return [
        tenant(name, 1 + weight, quota(amounts(cpu=by_name[name])), parent=parent)
        for name, parent, weight in zip(NAMES, parents, weights, strict=True)
    ]


def filled(tenants: list[Tenant], room: int, running: list[int], waiting: list[int], at: list[int], gi: str) -> World:
    """One node, memory in plenty; equal pods of one cpu run there (as many as there is room for) and wait."""
    world = World(tenants, [node("n", cpu=max(room, 1), memory="1Ti")], policy=FairnessPolicy())
    left = max(room, 1)
    for name, runs in zip(NAMES, running, strict=True):
        for index in range(min(runs, left)):
            bound = pod(f"r{index}", name, priority_class="fairberth-p4", cpu=1, memory=gi)
            world.add(dataclasses.replace(bound, gated=False, node="n"))
            left -= 1
    for name, waits, level in zip(NAMES, waiting, at, strict=True):
        world.add(*(pod(f"p{i}", name, priority_class=f"fairberth-p{level}", cpu=1, memory=gi) for i in range(waits)))
    return world


def used(world: World) -> int:
    return sum(1 for one in world.state.pods.values() if one.admitted)


@given(st.sampled_from(TREES), numbers, numbers, numbers, numbers, levels, st.integers(0, 16), memory)
def test_no_room_stays_idle_while_anybody_waits(
    parents: tuple[str, ...],
    guaranteed: list[int],
    weights: list[int],
    running: list[int],
    waiting: list[int],
    at: list[int],
    room: int,
    gi: str,
) -> None:
    """Everybody lends and may borrow, and every pod fits: then a turn ends full, or with nobody waiting. Guarantees
    above the capacity are no exception (a node may have failed)."""
    world = filled(family(parents, guaranteed, weights), room, running, waiting, at, gi)
    world.turn()
    assert used(world) == max(room, 1) or not list(world.state.waiting_pods())
    assert world.turn().admissions == ()


@given(st.sampled_from(TREES), numbers, numbers, numbers, levels, st.integers(0, 8), memory)
def test_a_demanded_guarantee_is_met(
    parents: tuple[str, ...],
    guaranteed: list[int],
    weights: list[int],
    waiting: list[int],
    at: list[int],
    spare: int,
    gi: str,
) -> None:
    """Each tenant with all below it gets what it demands of its guarantee, whatever the others' levels and weights."""
    tenants = family(parents, guaranteed, weights)
    promised = sum(t.quota("main").guaranteed["cpu"] for t in tenants if not t.parent) // 1000
    world = filled(tenants, promised + spare, [0] * 4, waiting, at, gi)
    demanded = dict(zip(NAMES, waiting, strict=True))
    world.turn()
    for of in tenants:
        below = [n for n in NAMES if of.name in world.state.setup.hierarchy.paths[n]]
        entitled = min(of.quota("main").guaranteed["cpu"], 1000 * sum(demanded[n] for n in below))
        assert world.state.ledger.held("main", of.name)["cpu"] >= entitled, of.name


@given(numbers, numbers, numbers, levels, st.integers(1, 16), st.permutations(NAMES))
def test_the_names_of_tenants_decide_nothing_but_ties(
    guaranteed: list[int], weights: list[int], waiting: list[int], at: list[int], room: int, named: list[str]
) -> None:
    """With no two pods or tenants of one age, renaming the tenants renames the result."""
    tenants = family(ROOTS, guaranteed, weights)

    def took(renamed: dict[str, str]) -> dict[str, int]:
        mine = [
            dataclasses.replace(t, name=renamed[t.name], namespaces=(renamed[t.name],), created=age)
            for age, t in enumerate(tenants)
        ]
        world = World(mine, [node("n", cpu=room)], policy=FairnessPolicy(per_tenant_window=None))
        ages = count()
        for name, waits, level in zip(NAMES, waiting, at, strict=True):
            for index in range(waits):
                made = pod(f"p{index}", renamed[name], priority_class=f"fairberth-p{level}")
                world.add(dataclasses.replace(made, created=made.created - next(ages)))
        world.turn()
        return {name: len(world.running(renamed[name])) for name in NAMES}

    assert took(dict(zip(NAMES, named, strict=True))) == took({name: name for name in NAMES})
