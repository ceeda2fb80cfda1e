"""The decision core alone: a turn with 50 000 waiting pods of 200 tenants on 5000 nodes."""

from __future__ import annotations

import dataclasses
import time

from fairberth.model.workload import Grant
from fairberth.policy.engine import admit
from fairberth.state.facts import PodGone, PodSeen
from tests.bench.figures import Figures, quantile
from tests.kit.builders import T0, node, pod, slas, tenant
from tests.kit.world import World

TENANTS, NODES, WAITING = 200, 5000, 50_000
SHAPES = ((1, "1Gi"), (1, "2Gi"), (2, "2Gi"), (2, "8Gi"), (4, "4Gi"), (4, "16Gi"), (8, "8Gi"), (8, "32Gi"))


def crowded_world() -> World:
    """A cluster that is full but for a little, with a long queue: what an operator meets when it starts."""
    tenants = [tenant(f"t{index:03}", 1 + index % 5) for index in range(TENANTS)]
    nodes = [node(f"n{index:04}", cpu=16, memory="64Gi") for index in range(NODES)]
    world = World(tenants, nodes, slas=slas(p0=20, p1=15))
    for index in range(NODES):
        filler = pod(f"run-{index}", f"t{index % TENANTS:03}", cpu=12, memory="48Gi")
        grant = Grant(T0, "main", 4, f"b-{index}", f"n{index:04}")
        world.add(dataclasses.replace(filler, gated=False, grant=grant, node=f"n{index:04}"))
    for index in range(WAITING):
        cpu, memory = SHAPES[index // TENANTS % len(SHAPES)]
        world.add(pod(f"wait-{index}", f"t{index % TENANTS:03}", T0 + index, cpu=cpu, memory=memory))
    return world


def run(figures: Figures) -> None:
    """Cold turn, and the turn after one event of each sort."""
    world = crowded_world()
    started = time.perf_counter()
    first = world.state.snapshot(world.now)
    turn = admit(first)
    figures.add(
        f"turn, cold: {WAITING} waiting, {len(turn.admissions)} admitted", time.perf_counter() - started, "s", at_most=1
    )
    world.turn()
    arrivals, ends = [], []
    running = [p for p in world.state.pods.values() if p.node][:40]
    for index, victim in enumerate(running):
        world.state.apply(PodSeen(pod(f"new-{index}", f"t{index:03}")))
        arrivals.append(_event(world))
        world.state.apply(PodGone(victim.uid))
        ends.append(_event(world))
        world.turn()
    figures.add("turn after one arrival, p50", quantile(arrivals, 0.5) * 1000, "ms", at_most=10)
    figures.add("turn after one end, p50", quantile(ends, 0.5) * 1000, "ms", at_most=10)


def _event(world: World) -> float:
    started = time.perf_counter()
    admit(world.state.snapshot(world.now))
    return time.perf_counter() - started
