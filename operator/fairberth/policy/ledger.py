"""The ledger: who holds how much of which pool. Exact, all or nothing, never clamped.

`acquire` asks first and refuses with the tenant, resource and numbers that decided; `charge` records what the API
server shows as a fact, whatever the limits say (running pods are never rejected); `release` gives back exactly what
was taken, or raises OverRelease. Invariant (`drift`): Σ pods = Σ teams = what a tenant holds itself, and that plus
its children = what its subtree holds, per pool and resource.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import Tenant
from fairberth.model.reasons import Reason
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.verdict import Verdict


class OverRelease(ValueError):
    """More was to be released than is held: a bug or a lost event. The caller counts it and rebuilds from the API."""

    reason = Reason.OVER_RELEASE


class InvalidAmounts(ValueError):
    """Amounts that nobody can acquire: negative, or nothing at all."""

    reason = Reason.INVALID_CONFIG


@dataclass(frozen=True, slots=True)
class Charge:
    """What one pod holds."""

    pool: str
    tenant: str
    team: str
    level: int
    amounts: Amounts


class Ledger:
    """Held amounts by pool and tenant (subtree), team, level; and the charge of each uid."""

    def __init__(self, tenants: Mapping[str, Tenant], hierarchy: Hierarchy) -> None:
        self._tenants = tenants
        self._paths = hierarchy.paths
        self._charges: MutableMapping[str, Charge] = {}
        self._lent = False  # to a fork, which must not see what happens here from now on
        self._subtree: dict[tuple[str, str], Amounts] = {}
        self._teams: dict[tuple[str, str, str], Amounts] = {}
        self._levels: dict[tuple[str, int], Amounts] = {}
        self._pods: dict[str, int] = {}

    def fork(self) -> Ledger:
        """A copy to try decisions on: what happens to it does not touch this one."""
        self._lent = True
        twin = Ledger.__new__(Ledger)
        twin._lent = False
        twin._tenants, twin._paths = self._tenants, self._paths
        twin._charges = ChainMap({}, self._charges)
        twin._subtree, twin._teams = dict(self._subtree), dict(self._teams)
        twin._levels, twin._pods = dict(self._levels), dict(self._pods)
        return twin

    def replaced(self, tenants: Mapping[str, Tenant], hierarchy: Hierarchy) -> Ledger:
        """A new ledger for changed quotas or parents, with all that is held carried over."""
        fresh = Ledger(tenants, hierarchy)
        for uid, charge in self._charges.items():
            fresh.charge(uid, charge)
        return fresh

    # -- asking ---------------------------------------------------------------------------------------------------

    def held(self, pool: str, tenant: str) -> Amounts:
        """What a tenant and all below it hold of a pool."""
        return self._subtree.get((pool, tenant), NOTHING)

    def held_by_team(self, pool: str, tenant: str, team: str) -> Amounts:
        """What a team's pods (team "": the tenant's pods of no team) hold of a pool."""
        return self._teams.get((pool, tenant, team), NOTHING)

    def held_by_level(self, pool: str, level: int) -> Amounts:
        """What a level's pods of all tenants hold of a pool."""
        return self._levels.get((pool, level), NOTHING)

    def in_flight(self, tenant: str) -> int:
        """How many pods of a tenant and all below it are charged, in all pools."""
        return self._pods.get(tenant, 0)

    def charges(self) -> Iterator[tuple[str, Charge]]:
        """Each uid and its charge."""
        return iter(self._charges.items())

    def charge_of(self, uid: str) -> Charge | None:
        """What a pod holds, or None."""
        return self._charges.get(uid)

    def refusal(self, pool: str, tenant: str, amounts: Amounts) -> Verdict | None:
        """Whether a limit forbids the amounts: first what forbids them for ever, then what does now; each by depth (own
        limit first), then by resource name."""
        bounds = [(name, of) for name in self._paths.get(tenant, ()) if (of := self._tenants[name].quota(pool).limit)]
        for reason in (Reason.EXCEEDS_LIMIT, Reason.QUOTA_EXHAUSTED):
            for name, limit in bounds:
                held = self.held(pool, name)
                counted = NOTHING if reason is Reason.EXCEEDS_LIMIT else held
                resource = limit.broken_by(counted, amounts)
                if resource is not None:
                    return Verdict(reason, pool, name, resource, limit[resource], held[resource], amounts[resource])
        return None

    # -- changing -------------------------------------------------------------------------------------------------

    def acquire(self, uid: str, charge: Charge) -> Verdict | None:
        """Take all of it, or nothing and say why. Acquiring twice for a uid is a no-op.

        Raises InvalidAmounts where an amount is negative, or none is positive.
        """
        if uid in self._charges:
            return None
        if not charge.amounts.anything() or any(n < 0 for n in charge.amounts.values()):
            raise InvalidAmounts(f"{uid}: cannot acquire {dict(charge.amounts)}")
        refusal = self.refusal(charge.pool, charge.tenant, charge.amounts)
        if refusal is None:
            self.charge(uid, charge)
        return refusal

    def charge(self, uid: str, charge: Charge) -> None:
        """Record a fact, whatever the limits say. A known uid with another charge is moved."""
        known = self._charges.get(uid)
        if known == charge:
            return
        if known is not None:
            self.release(uid)
        self._own()[uid] = charge
        self._book(charge, charge.amounts, 1)

    def release(self, uid: str) -> Charge:
        """Give back exactly what the uid holds. Raises OverRelease for an unknown uid."""
        charge = self._charges.get(uid)
        if charge is None:
            raise OverRelease(f"{uid} holds nothing")
        held = self.held(charge.pool, charge.tenant)
        if any(held[name] < n for name, n in charge.amounts.items()):
            raise OverRelease(f"{uid} would release {charge.amounts}, but {charge.tenant} holds {held}")
        self._forget(uid)
        self._book(charge, charge.amounts.times(-1), -1)
        return charge

    def _own(self) -> MutableMapping[str, Charge]:
        """The charges, to write to: copied first where a fork looks at them (once for all its forks)."""
        if self._lent:
            self._charges, self._lent = dict(self._charges), False
        return self._charges

    def _forget(self, uid: str) -> None:
        charges = self._own()
        if isinstance(charges, ChainMap) and uid not in charges.maps[0]:
            self._charges = charges = dict(charges)  # a fork lets go of what its origin holds: rare, so it pays for it
        del charges[uid]

    def _book(self, charge: Charge, amounts: Amounts, pods: int) -> None:
        for tenant in self._paths.get(charge.tenant, (charge.tenant,)):
            key = (charge.pool, tenant)
            self._subtree[key] = self._subtree.get(key, NOTHING).plus(amounts)
            self._pods[tenant] = self._pods.get(tenant, 0) + pods
        team = (charge.pool, charge.tenant, charge.team)
        self._teams[team] = self._teams.get(team, NOTHING).plus(amounts)
        level = (charge.pool, charge.level)
        self._levels[level] = self._levels.get(level, NOTHING).plus(amounts)

    # -- checking -------------------------------------------------------------------------------------------------

    def drift(self) -> tuple[str, ...]:
        """Every place where the sums disagree, as sentences; empty where the books are right."""
        truth = Ledger(self._tenants, Hierarchy(self._paths, {}))
        for uid, charge in self._charges.items():
            truth.charge(uid, charge)
        found = []
        for name in ("_subtree", "_teams", "_levels", "_pods"):
            mine, theirs = getattr(self, name), getattr(truth, name)
            for key in sorted({*mine, *theirs}, key=repr):
                if (mine.get(key) or None) != (theirs.get(key) or None):
                    found.append(f"{name[1:]} {key}: booked {mine.get(key)}, pods hold {theirs.get(key)}")
        return tuple(found)
