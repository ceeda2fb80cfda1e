"""Which of our objects are in force, and what is wrong with the others.

What one object can show is refused at admission or by decoding. What takes several (an unknown parent or a cycle,
children's guarantees above their parent's, an unknown pool, a namespace claimed twice, two objects for one level,
percentages over 100) is found here. A faulty object never stops the others: its last good version stays in force, or
it is left out if there is none. Who is blamed for a fault between several objects: those that changed, since what
was in force before fitted together; among those the youngest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairberth.model.faults import Fault, ObjectKey
from fairberth.model.objects import CapacityPool, FairnessPolicy, PrioritySLA, Tenant
from fairberth.policy.snapshot import Setup

Spec = Tenant | PrioritySLA | FairnessPolicy | CapacityPool
Specs = Mapping[ObjectKey, Spec]

DEFAULT_POLICY = "default"


@dataclass(frozen=True, slots=True)
class Resolution:
    """The setup in force, the version of each object that is in it, and every fault by object."""

    setup: Setup
    in_force: Specs
    faults: Mapping[ObjectKey, tuple[Fault, ...]] = field(default_factory=dict)


def key_of(spec: Spec) -> ObjectKey:
    """Kind and name."""
    return ObjectKey(type(spec).__name__, spec.name)


def resolve(latest: Specs, last_good: Specs) -> Resolution:
    """Decide what is in force. `latest` holds the objects that decode; `last_good` what was in force before (of
    objects that still exist)."""
    chosen: dict[ObjectKey, Spec] = {**last_good, **latest}
    faults: dict[ObjectKey, set[Fault]] = {}
    while True:
        # A last good version that refers to something gone since stays in force, told but not dropped.
        dangling = [(key, fault) for key, fault in _dangling(chosen) if chosen[key] != last_good.get(key)]
        found = sorted([*dangling, *_conflicts(chosen, last_good)])
        if not found:
            break
        for key, fault in found:
            faults.setdefault(key, set()).add(fault)
        for key in {key for key, _ in found}:
            good = last_good.get(key)
            if good is not None and chosen.get(key) != good:
                chosen[key] = good
            else:
                chosen.pop(key, None)
    for key, fault in (*_dangling(chosen), *_shadowed_claims(chosen)):
        faults.setdefault(key, set()).add(fault)
    return Resolution(_setup(chosen), chosen, {key: tuple(sorted(faults[key])) for key in sorted(faults)})


def _setup(chosen: Specs) -> Setup:
    specs = list(chosen.values())
    policies = [s for s in specs if isinstance(s, FairnessPolicy) and s.name == DEFAULT_POLICY]
    return Setup.of(
        {s.name: s for s in specs if isinstance(s, Tenant)},
        {s.level: s for s in specs if isinstance(s, PrioritySLA)},
        policies[0] if policies else FairnessPolicy(),
        {s.name: s for s in specs if isinstance(s, CapacityPool)},
    )


_Found = Iterator[tuple[ObjectKey, Fault]]


def _dangling(chosen: Specs) -> _Found:
    """References to what does not exist."""
    tenants = {s.name: s for s in chosen.values() if isinstance(s, Tenant)}
    pools = {s.name for s in chosen.values() if isinstance(s, CapacityPool)}
    for tenant in tenants.values():
        if tenant.parent and tenant.parent not in tenants:
            yield key_of(tenant), Fault("spec.parent", f"there is no Tenant {tenant.parent!r}")
        for index, pool in enumerate(tenant.quotas):
            if pool not in pools:
                yield key_of(tenant), Fault(f"spec.quotas[{index}].pool", f"there is no CapacityPool {pool!r}")


def _conflicts(chosen: Specs, last_good: Specs) -> _Found:
    """Objects that cannot be in force together."""
    tenants = {s.name: s for s in chosen.values() if isinstance(s, Tenant)}
    changed = {key for key, spec in chosen.items() if last_good.get(key) != spec}
    cycles = list(_cycles(tenants, changed))
    yield from cycles
    if not cycles:
        yield from _guarantee_sums(tenants, changed)
    yield from _levels([s for s in chosen.values() if isinstance(s, PrioritySLA)], changed)


def _cycles(tenants: Mapping[str, Tenant], changed: set[ObjectKey]) -> _Found:
    for tenant in tenants.values():
        path = [tenant.name]
        while (parent := tenants[path[-1]].parent) in tenants and parent not in path:
            path.append(parent)
        if parent != tenant.name:
            continue
        new = any(ObjectKey("Tenant", name) in changed for name in path)
        if key_of(tenant) in changed or not new:
            yield key_of(tenant), Fault("spec.parent", f"is a cycle: {' → '.join([*path, parent])}")


def _guarantee_sums(tenants: Mapping[str, Tenant], changed: set[ObjectKey]) -> _Found:
    """Children's guarantees add up to no more than their parent's, per pool and resource."""
    for parent in tenants.values():
        children = [t for t in tenants.values() if t.parent == parent.name]
        pools = sorted({pool for child in children for pool in child.quotas})
        for pool in pools:
            own = parent.quota(pool).guaranteed
            for resource in sorted({r for child in children for r in child.quota(pool).guaranteed}):
                total = sum(child.quota(pool).guaranteed[resource] for child in children)
                if total > own[resource]:
                    blamed = _blamed([*children, parent], changed)
                    what = f"children of {parent.name} are guaranteed {total}, it has {own[resource]}"
                    index = list(blamed.quotas).index(pool) if pool in blamed.quotas else 0
                    yield key_of(blamed), Fault(f"spec.quotas[{index}].guaranteed.{resource}", what)


def _blamed(tenants: list[Tenant], changed: set[ObjectKey]) -> Tenant:
    suspects = [t for t in tenants if key_of(t) in changed] or tenants[:-1]
    return max(suspects, key=lambda t: (t.created, t.name))


def _levels(slas: list[PrioritySLA], changed: set[ObjectKey]) -> _Found:
    by_level: dict[int, list[PrioritySLA]] = {}
    for sla in sorted(slas, key=lambda s: (key_of(s) in changed, s.name)):
        by_level.setdefault(sla.level, []).append(sla)
    for level, same in sorted(by_level.items()):
        for double in same[1:]:
            yield key_of(double), Fault("spec.level", f"level {level} is already that of PrioritySLA {same[0].name!r}")
    chosen = {level: same[0] for level, same in by_level.items()}
    total = sum(sla.guarantee for sla in chosen.values())
    if total > 100:
        suspects = [s for s in chosen.values() if key_of(s) in changed] or list(chosen.values())
        for sla in suspects:
            yield key_of(sla), Fault("spec.guarantee", f"the levels' guarantees add up to {total} %, over 100 %")


def _shadowed_claims(chosen: Specs) -> _Found:
    """A namespace claimed twice: the older claim wins; the other tenant stays in force, and is told."""
    tenants = sorted((s for s in chosen.values() if isinstance(s, Tenant)), key=lambda t: (t.created, t.name))
    owners: dict[str, str] = {}
    for tenant in tenants:
        for index, name in enumerate(tenant.namespaces):
            owner = owners.setdefault(name, tenant.name)
            if owner != tenant.name:
                path = f"spec.namespaces.names[{index}]"
                yield key_of(tenant), Fault(path, f"namespace {name!r} is claimed by the older Tenant {owner!r}")
