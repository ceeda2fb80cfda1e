"""Runs a case over the production engine."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from fairberth.api.manifests import manifest
from fairberth.api.v1alpha1.shared import millis
from fairberth.model import keys
from fairberth.model.faults import InvalidInput
from fairberth.model.objects import CapacityPool, FairnessPolicy, Tenant
from fairberth.model.selectors import Constraints, Selector
from fairberth.model.workload import Grant, Pod
from fairberth.policy.shares import Stake, divide
from tests.cases.format import Case, CaseError, Expect, Pods, Shares, Step
from tests.kit import builders
from tests.kit.world import World, admitted, reasons


def run(case: Case) -> None:
    """Run it; an AssertionError says which step gave what."""
    if case.shares is not None:
        _divide(case.shares)
        return
    world = _world(case)
    for index, step in enumerate(case.steps):
        _happen(world, step, case)
        if step.expect is not None:
            _check(world, step.expect, f"step {index}")


def _divide(shares: Shares) -> None:
    stakes = [
        Stake(
            name,
            of.weight,
            of.guaranteed,
            tuple(of.demand) if isinstance(of.demand, list) else (of.demand,),
            of.limit,
            0 if of.lends else of.guaranteed,
        )
        for name, of in shares.tenants.items()
    ]
    assert divide(shares.capacity, stakes) == shares.expect


def _decode(kind: str, name: str, spec: dict[str, Any], case: Case) -> Any:
    try:
        return manifest({"kind": kind, "metadata": {"name": name}, "spec": spec})
    except InvalidInput as error:
        raise CaseError(f"{case.case}: {error}") from None


def _tenants(specs: dict[str, dict[str, Any]], case: Case) -> dict[str, Tenant]:
    made = {}
    for name, spec in specs.items():
        quotas = [{"pool": "main", **quota} for quota in spec.get("quotas", ())]
        spec = {"namespaces": {"names": [name]}, **spec, **({"quotas": quotas} if quotas else {})}
        made[name] = _decode("Tenant", name, spec, case)
    return made


def _world(case: Case) -> World:
    of = case.world
    assert of is not None
    policy: FairnessPolicy = _decode("FairnessPolicy", "default", of.policy, case)
    pools: list[CapacityPool] = [_decode("CapacityPool", name, spec, case) for name, spec in of.pools.items()]
    nodes = [
        dataclasses.replace(
            builders.node(f"{kind.name}{index if kind.count > 1 else ''}", **(kind.model_extra or {})),
            labels=kind.labels,
        )
        for kind in of.nodes
        for index in range(kind.count)
    ]
    slas = builders.slas(**{f"p{level}": percent for level, percent in of.guarantees.items()})
    return World(_tenants(of.tenants, case).values(), nodes, policy=policy, slas=slas, pools=pools)


def _happen(world: World, step: Step, case: Case) -> None:
    if step.wait:
        world.now += millis(step.wait)
    if step.tenants:
        world.set_tenants({**world.state.setup.tenants, **_tenants(step.tenants, case)}.values())
    for pods in step.run:
        for pod in _pods(world, pods):
            grant = Grant(world.now, "main", pods.level, "given", pods.node)
            world.add(dataclasses.replace(pod, gated=False, grant=grant, node=pods.node or "elsewhere"))
    for pods in step.submit:
        world.add(*_pods(world, pods))
    if isinstance(step.end, dict):
        for tenant, count in step.end.items():
            world.end(*world.running(tenant)[:count])
    else:
        world.end(*(_full(name) for name in step.end))


def _full(name: str) -> str:
    return name if "/" in name else f"{name.rstrip('0123456789-')}/{name}"


def _pods(world: World, of: Pods) -> list[Pod]:
    labels = dict(of.labels)
    if of.group:
        labels |= {keys.GROUP: of.group, keys.GROUP_SIZE: str(of.size)}
    made = []
    for index in range(of.count):
        pod = builders.pod(
            f"{of.name}{index if of.count > 1 else ''}",
            of.namespace or of.tenant,
            world.now - (millis(of.age) if of.age else 0),
            labels=labels,
            constraints=Constraints(Selector.exact(of.selector)),
            priority_class=f"fairberth-p{of.level}",
            **(of.model_extra or {"cpu": 1}),
        )
        made.append(dataclasses.replace(pod, foreign_gates=tuple(of.gates)))
    return made


def _check(world: World, expect: Expect, where: str) -> None:
    turn = world.turn()
    if expect.admitted is not None:
        assert [key.partition("/")[2] for key in admitted(turn)] == expect.admitted, where
    if expect.took is not None:
        took = Counter(admission.tenant for admission in turn.admissions)
        assert {name: took[name] for name in {*took, *expect.took}} == {**dict.fromkeys(took, 0), **expect.took}, where
    if expect.running is not None:
        assert {name: len(world.running(name)) for name in expect.running} == expect.running, where
    if expect.waits is not None:
        waiting = {key.partition("/")[2]: reason for key, reason in reasons(turn).items()}
        assert {name: waiting.get(name) for name in expect.waits} == expect.waits, where
    assert world.state.drift() == ()
