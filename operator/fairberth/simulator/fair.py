"""What each tenant would hold at its fair share: §5.5's entitlement, as far as it can be used.

Pools are filled in the order of routes. In each, the capacity without the guarantees that a level keeps to itself is
divided by water-filling over what tenants hold and wait for, value class by value class. Resources are divided one by
one, so a tenant's fair holding is what it asks for, scaled to its scarcest resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import CapacityPool, ValueClass
from fairberth.model.reasons import Reason
from fairberth.policy.engine import Refused
from fairberth.policy.guarantees import LevelGuarantees
from fairberth.policy.shares import entitlements
from fairberth.policy.snapshot import Setup

Held = Mapping[tuple[str, str, int], Amounts]  # by pool, tenant and level: its own pods
Asked = dict[tuple[str, int], Amounts]  # by tenant and level

# Who waits for one of these would use more if it got more; the others wait for something else than their share.
_WANTS_ROOM = frozenset(
    {
        Reason.NO_ROOM,
        Reason.QUOTA_EXHAUSTED,
        Reason.BORROWING_DENIED,
        Reason.RESERVED_FOR_URGENT,
        Reason.WINDOW_FULL,
    }
)


def asked_by(refusals: Sequence[Refused]) -> Asked:
    """What the waiting pods ask for that room alone could give."""
    asked: Asked = {}
    for refused in refusals:
        key, left = refused.lane.key, refused.lane.candidates[refused.first :]
        if refused.verdict.reason not in _WANTS_ROOM:
            continue
        total = key.requests.times(len(left))
        if key.group:
            total = NOTHING
            for candidate in left:
                total = total.plus(candidate.pod.requests)
        place = (key.tenant, key.level)
        asked[place] = asked.get(place, NOTHING).plus(total)
    return asked


def fair_holdings(setup: Setup, capacity: Mapping[str, Amounts], held: Held, asked: Asked) -> dict[str, Amounts]:
    """By tenant: what it and all below it would hold, over all pools."""
    left = dict(asked)
    fair = dict.fromkeys(setup.tenants, NOTHING)
    for pool in sorted(setup.pools.values(), key=lambda p: (p.role, p.name)):
        mine = _PoolShares(setup, pool, capacity[pool.name], held, left)
        for tenant, amounts in mine.fair().items():
            fair[tenant] = fair[tenant].plus(amounts)
        mine.serve(left)
    return fair


class _PoolShares:
    """One pool's. Demand is kept per tenant and level, its own pods' only, and summed up the tree where needed."""

    def __init__(self, setup: Setup, pool: CapacityPool, capacity: Amounts, held: Held, left: Asked) -> None:
        self._setup, self._pool = setup, pool
        self._held = {(tenant, level): n for (name, tenant, level), n in held.items() if name == pool.name and n}
        self._demand = dict(self._held)
        for (tenant, level), amounts in left.items():
            if level in pool.levels:
                self._demand[tenant, level] = self._demand.get((tenant, level), NOTHING).plus(amounts)
        self._room = self._unreserved(capacity)

    def _unreserved(self, capacity: Amounts) -> Amounts:
        guarantees = LevelGuarantees.of(self._pool.name, capacity, self._setup.slas)
        room = capacity
        for level, sla in self._setup.slas.items():
            if sla.guarantee and not sla.lend_guarantee:
                used = NOTHING
                for (_, of_level), amounts in self._demand.items():
                    used = used.plus(amounts) if of_level == level else used
                room = room.minus(guarantees.amounts[level].above(used))
        return room

    def fair(self) -> dict[str, Amounts]:
        """By tenant, those below it included."""
        tenants, hierarchy = self._setup.tenants, self._setup.hierarchy
        buckets = {name: [NOTHING] * len(ValueClass) for name in tenants}
        for (tenant, level), amounts in self._demand.items():
            value = self._setup.slas[level].value
            for name in hierarchy.paths[tenant]:
                buckets[name][value] = buckets[name][value].plus(amounts)
        demand = {name: tuple(of) for name, of in buckets.items()}
        entitled = entitlements(self._pool.name, self._room, tenants, hierarchy, demand)
        return {name: _usable(entitled[name], demand[name]) for name in tenants}

    def serve(self, left: Asked) -> None:
        """Take what the fair shares would serve here off what is left to ask for in the next pools."""
        if len(self._setup.pools) == 1:
            return
        fair = self.fair()
        for name in self._setup.tenants:
            room = fair[name]
            for child in self._setup.hierarchy.children[name]:
                room = room.minus(fair[child])
            for (tenant, _), amounts in self._held.items():
                room = room.minus(amounts) if tenant == name else room
            for key in sorted(key for key in left if key[0] == name and key[1] in self._pool.levels):
                served = left[key].least(room.above(NOTHING))
                left[key], room = left[key].minus(served), room.minus(served)


def _usable(entitled: Amounts, demand: Sequence[Amounts]) -> Amounts:
    """All that is demanded, scaled to the resource of which the smallest part of it is entitled."""
    total = NOTHING
    for amounts in demand:
        total = total.plus(amounts)
    part, whole = 1, 1
    for resource in sorted(total):
        if entitled[resource] * whole < part * total[resource]:
            part, whole = entitled[resource], total[resource]
    return Amounts({name: n * part // whole for name, n in total.items()})
