"""Whole turns against the rules said again slowly (`rules.py`): who goes, in which order, and nobody is forgotten."""

from __future__ import annotations

import dataclasses
import random

from hypothesis import given
from hypothesis import strategies as st

from fairberth.model.objects import Backpressure, FairnessPolicy, Tier
from fairberth.model.selectors import Constraints, Selector, Taint, Toleration
from fairberth.model.workload import Pod
from fairberth.policy.engine import admit
from tests.kit.builders import T0, limits, node, pod, quota, slas, tenant
from tests.kit.world import World
from tests.laws import rules

NAMES = ("a", "b", "c")
MINUTE = 60_000


def drawn_world(draws: random.Random, window: int | None) -> World:
    """Some nodes, tenants with all sorts of bounds, pods that run and pods that wait."""
    # A window's size hangs on the smallest weight of all that have candidates: of equal weights, there is one answer.
    weights = [draws.randint(1, 3)] * 3 if window else [draws.randint(1, 3) for _ in NAMES]
    tenants = [
        tenant(
            name,
            weight,
            quota(limit=limits(cpu=draws.randint(1, 6)) if draws.random() < 0.4 else limits()),
            tier=draws.choice(tuple(Tier)),
            most_urgent=draws.choice((0, 3, 4)),
            cordoned=draws.random() < 0.05,
            backpressure=Backpressure(max_in_flight=draws.choice((None, None, 2, 4))),
        )
        for name, weight in zip(NAMES, weights, strict=True)
    ]
    nodes = []
    for index in range(draws.randint(1, 3)):
        made = node(f"n{index}", cpu=draws.randint(1, 6), memory=f"{draws.randint(1, 8)}Gi", pods=draws.randint(2, 9))
        taints = (Taint("own"),) if draws.random() < 0.2 else ()
        nodes.append(dataclasses.replace(made, labels={"zone": draws.choice("xy")}, taints=taints))
    policy = FairnessPolicy(
        fair_band=draws.choice((1, 50, 500, 10**6)),
        per_tenant_window=window,
        per_team_window=None,
        max_forced=draws.choice((0, 1, 1, 2)),
    )
    levels = slas(p0=draws.choice((0, 20, 34)), p1=draws.choice((0, 20)), p4=draws.choice((0, 0, 20)))
    world = World(tenants, nodes, policy=policy, slas=levels)
    for index in range(draws.randint(0, 5)):
        where = draws.choice(nodes)
        owner = draws.choice((*NAMES, "kube-system"))
        bound = dataclasses.replace(drawn_pod(draws, f"r{index}", owner), gated=False, node=where.name)
        if bound.requests.within(where.allocatable.minus(used_on(world, where.name))):
            world.add(bound)
    world.add(*(drawn_pod(draws, f"p{index}", draws.choice(NAMES)) for index in range(draws.randint(0, 12))))
    return world


def used_on(world: World, name: str) -> rules.Amounts:
    return rules._sum(p.requests for p in world.state.pods.values() if p.node == name)


def drawn_pod(draws: random.Random, name: str, owner: str) -> Pod:
    selector = Selector.of(zone="x") if draws.random() < 0.15 else Selector()
    tolerations = (Toleration("own", "Exists"),) if draws.random() < 0.3 else ()
    made = pod(
        name,
        owner,
        T0 - draws.choice((0, 0, 1, 5, 11, 12, 30)) * MINUTE,
        labels={"fairberth.io/base-priority": str(draws.choice((0, 10, 100)))} if draws.random() < 0.5 else {},
        constraints=Constraints(selector, tolerations=tolerations),
        priority_class=f"fairberth-p{draws.choice((0, 1, 3, 4, 4, 4, 5, 6))}",
        cpu=draws.choice(("500m", "1", "1", "2", "3")),
        memory=draws.choice(("0", "1Gi", "2Gi")),
    )
    return dataclasses.replace(made, foreign_gates=("x/y",) if draws.random() < 0.04 else ())


@given(st.integers(0, 2**32))
def test_without_windows_each_step_is_the_one_that_the_rules_give(seed: int) -> None:
    world = drawn_world(random.Random(seed), window=None)
    rules.check(world, lambda: admit(world.state.snapshot(world.now)))


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_with_windows_each_step_is_the_one_that_the_rules_give(seed: int, window: int) -> None:
    world = drawn_world(random.Random(seed), window)
    rules.check(world, lambda: admit(world.state.snapshot(world.now)))
