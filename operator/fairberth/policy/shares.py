"""§5.5: what each tenant is entitled to, by weighted water-filling, exact to the last unit.

One resource at a time, among siblings: guarantees first (as far as demanded), then the surplus by weight, one
priority bucket after the other, the most urgent first. Rounding: largest remainder, ties to the older, then by name.
Weight acts on the surplus, never on a guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairberth.model.amounts import Amounts
from fairberth.model.objects import Tenant
from fairberth.policy.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Stake:
    """One sibling's stake in one resource (all amounts in the resource's unit).

    `demand` is by bucket, the most urgent first; `limit` None is unlimited; `kept` is what it keeps whether
    demanded or not (a guarantee that it does not lend).
    """

    name: str
    weight: int
    guaranteed: int
    demand: tuple[int, ...]
    limit: int | None = None
    kept: int = 0
    created: int = 0

    @property
    def wanted(self) -> int:
        """All that it may use: its demand up to its limit."""
        total = sum(self.demand)
        return total if self.limit is None else min(total, max(self.limit, 0))


def scaled_guarantees(capacity: int, stakes: Sequence[Stake]) -> dict[str, int]:
    """Each one's guarantee, scaled down together where they exceed the capacity (exact, largest remainder)."""
    total = sum(stake.guaranteed for stake in stakes)
    if total <= capacity:
        return {stake.name: stake.guaranteed for stake in stakes}
    ordered = sorted(stakes, key=lambda s: (s.created, s.name))
    return _apportion(max(capacity, 0), [(s.name, s.guaranteed) for s in ordered])


def divide(capacity: int, stakes: Sequence[Stake]) -> dict[str, int]:
    """Divide a capacity. The result sums to the capacity or to what is wanted (and kept), whichever is less."""
    ordered = sorted(stakes, key=lambda s: (s.created, s.name))
    guaranteed = scaled_guarantees(capacity, ordered)
    shares = {s.name: max(min(guaranteed[s.name], s.wanted), min(guaranteed[s.name], s.kept)) for s in ordered}
    left = capacity - sum(shares.values())
    for bucket in range(max((len(s.demand) for s in ordered), default=0)):
        if left <= 0:
            break
        wants = {}
        for stake in ordered:
            so_far = sum(stake.demand[: bucket + 1])
            reachable = so_far if stake.limit is None else min(so_far, stake.limit)
            wants[stake.name] = max(0, reachable - shares[stake.name])
        filled = water_fill(left, [(s.name, s.weight, wants[s.name]) for s in ordered])
        for name, amount in filled.items():
            shares[name] += amount
            left -= amount
    return shares


def water_fill(room: int, claims: Sequence[tuple[str, int, int]]) -> dict[str, int]:
    """Divide room among (name, weight, want): by weight, nobody beyond its want, in the order given for ties."""
    given = dict.fromkeys((name for name, _, _ in claims), 0)
    open_claims = [claim for claim in claims if claim[2] > 0 and claim[1] > 0]
    while open_claims and room > 0:
        weights = sum(weight for _, weight, _ in open_claims)
        # Whoever wants no more than its part of the room is served whole; the rest share what then remains.
        full = [claim for claim in open_claims if claim[2] * weights <= room * claim[1]]
        if not full:
            given.update(_apportion(room, [(name, weight) for name, weight, _ in open_claims]))
            break
        for name, _, want in full:
            given[name] = want
            room -= want
        open_claims = [claim for claim in open_claims if claim not in full]
    return given


def _apportion(total: int, weights: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Divide total by weights exactly: floors, then one unit each to the largest remainders (ties: order given)."""
    whole = sum(weight for _, weight in weights)
    if whole <= 0:
        return {name: 0 for name, _ in weights}
    parts = {name: total * weight // whole for name, weight in weights}
    rest = total - sum(parts.values())
    by_remainder = sorted(range(len(weights)), key=lambda i: (-(total * weights[i][1] % whole), i))
    for i in by_remainder[:rest]:
        parts[weights[i][0]] += 1
    return parts


Demand = Mapping[str, tuple[Amounts, ...]]


def entitlements(
    pool: str, capacity: Amounts, tenants: Mapping[str, Tenant], hierarchy: Hierarchy, demand: Demand
) -> dict[str, Amounts]:
    """What each tenant of the tree is entitled to of a pool, from the roots down.

    `demand` gives, per tenant, what it and all below it hold or wait for, by bucket (the most urgent first).
    """
    shares: dict[str, dict[str, int]] = {name: {} for name in tenants}
    for parent, siblings in _families(hierarchy):
        room = capacity if parent == "" else Amounts(shares[parent])
        if not siblings:
            continue
        for resource in sorted(room):
            stakes = [_stake(tenants[name], pool, resource, demand.get(name, ())) for name in siblings]
            for name, amount in divide(room[resource], stakes).items():
                shares[name][resource] = amount
    return {name: Amounts(share) for name, share in shares.items()}


def guarantees_in_force(
    pool: str, capacity: Amounts, tenants: Mapping[str, Tenant], hierarchy: Hierarchy
) -> dict[str, Amounts]:
    """Each tenant's guarantee on a pool, scaled where they are more than the capacity (and below a scaled parent, so
    that they stay within it). Tenants without one are left out."""
    scaled: dict[str, dict[str, int]] = {}
    for parent, siblings in _families(hierarchy):
        promised = [tenants[name] for name in siblings if tenants[name].quota(pool).guaranteed]
        for resource in sorted({r for tenant in promised for r in tenant.quota(pool).guaranteed}):
            room = scaled.get(parent, {}).get(resource, 0) if parent else capacity[resource]
            stakes = [
                Stake(t.name, t.weight, t.quota(pool).guaranteed[resource], (), created=t.created) for t in promised
            ]
            for name, amount in scaled_guarantees(room, stakes).items():
                scaled.setdefault(name, {})[resource] = amount
    return {name: Amounts(of) for name, of in scaled.items()}


def _families(hierarchy: Hierarchy) -> Sequence[tuple[str, tuple[str, ...]]]:
    return [("", hierarchy.children[""]), *((name, hierarchy.children[name]) for name in hierarchy.top_down())]


def _stake(tenant: Tenant, pool: str, resource: str, demand: tuple[Amounts, ...]) -> Stake:
    quota = tenant.quota(pool)
    guaranteed = quota.guaranteed[resource]
    limit = quota.limit.get(resource)
    borrowing = 0 if not quota.borrowing.enabled else quota.borrowing.limit.get(resource)
    if borrowing is not None:
        limit = guaranteed + borrowing if limit is None else min(limit, guaranteed + borrowing)
    lendable = guaranteed if quota.lending.enabled else 0
    if (bound := quota.lending.limit.get(resource)) is not None:
        lendable = min(lendable, bound)
    return Stake(
        name=tenant.name,
        weight=tenant.weight,
        guaranteed=guaranteed,
        demand=tuple(amounts[resource] for amounts in demand),
        limit=limit,
        kept=guaranteed - lendable,
        created=tenant.created,
    )
