"""§5.5: may a tenant go beyond its guarantee, with this pod, now?

Only if borrowing is allowed and within its limit at every level of the tree that the pod takes above a guarantee, and
only with room that nobody entitled is waiting for: what the others' guarantees still lack and is demanded (their
*claims*) stays free, and so does what a guarantee does not lend. Who is entitled by guarantee never has to leave
room for anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairberth.model.amounts import NOTHING, PODS, Amounts
from fairberth.model.objects import NO_QUOTA, Quota, Tenant
from fairberth.model.reasons import Reason
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.ledger import Ledger
from fairberth.policy.verdict import Verdict


class Claims:
    """What each tenant's guarantee on one pool still claims, kept current through a turn.

    `waiting` is what each tenant's pods ask for (those of tenants below it not included). Where no tenant has a
    guarantee there is nothing to claim, and nothing is kept.
    """

    def __init__(
        self,
        pool: str,
        tenants: Mapping[str, Tenant],
        hierarchy: Hierarchy,
        ledger: Ledger,
        waiting: Mapping[str, Amounts],
    ) -> None:
        self._quotas = {name: tenant.quota(pool) for name, tenant in tenants.items()}
        self._pool = pool
        self._paths = hierarchy.paths
        self._ledger = ledger
        self._waiting: dict[str, Amounts] = {}
        self._claim: dict[str, Amounts] = {}
        self._below: dict[str, Amounts] = {"": NOTHING}  # by tenant: the sum of its children's claims
        self.changes = 0  # counts, so that a caller sees whether what it was told may have changed
        self.kept = self.wanted(pool, tenants)
        self._unbounded = {
            name for name, path in self._paths.items() if all(self._quotas[above] == NO_QUOTA for above in path)
        }
        if self.kept:
            self._work_out(hierarchy, waiting)

    def _work_out(self, hierarchy: Hierarchy, waiting: Mapping[str, Amounts]) -> None:
        for name in hierarchy.bottom_up():
            children = hierarchy.children[name]
            self._waiting[name] = waiting.get(name, NOTHING).plus(_sum(self._waiting, children))
            self._below[name] = _sum(self._claim, children)
            self._claim[name] = self._claim_of(name)
        self._below[""] = _sum(self._claim, hierarchy.children[""])

    @staticmethod
    def wanted(pool: str, tenants: Mapping[str, Tenant]) -> bool:
        """Whether there is anything to claim: some tenant has a guarantee on the pool."""
        return any(tenant.quota(pool).guaranteed for tenant in tenants.values())

    def settle(self, tenant: str, amounts: Amounts) -> None:
        """The tenant was given room (the ledger says so already) that it waited for."""
        self._drop(tenant, amounts)

    def withdraw(self, tenant: str, amounts: Amounts) -> None:
        """The tenant does not wait for that room any more, in this turn."""
        if self._drop(tenant, amounts):
            self.changes += 1

    def _drop(self, tenant: str, amounts: Amounts) -> bool:
        if not self.kept:
            return False
        changed = False
        path = self._paths[tenant]
        for name, above in zip(path, (*path[1:], ""), strict=True):
            self._waiting[name] = self._waiting[name].minus(amounts)
            before, after = self._claim[name], self._claim_of(name)
            if before != after:
                self._claim[name] = after
                self._below[above] = self._below[above].minus(before).plus(after)
                changed = True
        return changed

    def _claim_of(self, name: str) -> Amounts:
        quota = self._quotas[name]
        if not quota.guaranteed:
            return self._below[name]
        unmet = quota.guaranteed.above(self._ledger.held(self._pool, name))
        demanded = self._waiting[name].least(unmet)
        return unmet.least(demanded.most(_unlendable(quota, unmet)).most(self._below[name]))

    def refusal(self, tenant: str, asked: Amounts, free: Amounts, *, lent: bool) -> Verdict | None:
        """Why the tenant may not take `asked` now, with `free` left in the pool.

        `lent` False marks a pod that cannot be reclaimed (not preemptible) and is not inside its own level's
        guarantee either: it must stay within a guarantee.
        """
        if lent and not self.kept and tenant in self._unbounded:
            return None
        others, child = NOTHING, ""
        for name in self._paths[tenant]:
            # Claims of the siblings on the way up, and not those of the subtree that the pod itself belongs to.
            others = others.plus(self._below.get(name, NOTHING).minus(self._claim.get(child, NOTHING)))
            child = name
            quota = self._quotas[name]
            held = self._ledger.held(self._pool, name)
            above = _first_above(held, asked, quota.guaranteed)
            if above is None:
                room = quota.guaranteed.above(held)
                return self._short(name, asked, room, others)
            refusal = self._not_allowed(name, quota, held, asked, above)
            if refusal is not None:
                return refusal
        if not lent:
            quota = self._quotas[tenant]
            held = self._ledger.held(self._pool, tenant)
            resource = _first_above(held, asked, quota.guaranteed) or ""
            return self._denied(tenant, resource, quota.guaranteed[resource], held, asked)
        others = others.plus(self._below.get("", NOTHING).minus(self._claim.get(child, NOTHING)))
        return self._short(tenant, asked, free, others)

    def _not_allowed(self, name: str, quota: Quota, held: Amounts, asked: Amounts, above: str) -> Verdict | None:
        if not quota.borrowing.enabled:
            return self._denied(name, above, quota.guaranteed[above], held, asked)
        for resource in sorted(quota.borrowing.limit):
            bound = quota.guaranteed[resource] + quota.borrowing.limit[resource]
            if asked[resource] > 0 and held[resource] + asked[resource] > bound:
                return self._denied(name, resource, bound, held, asked)
        return None

    def _short(self, name: str, asked: Amounts, room: Amounts, others: Amounts) -> Verdict | None:
        for resource in sorted(asked):
            if others[resource] > 0 and asked[resource] > room[resource] - others[resource]:
                limit, used = room[resource], others[resource]
                return Verdict(Reason.BORROWING_DENIED, self._pool, name, resource, limit, used, asked[resource])
        return None

    def _denied(self, name: str, resource: str, bound: int, held: Amounts, asked: Amounts) -> Verdict:
        return Verdict(Reason.BORROWING_DENIED, self._pool, name, resource, bound, held[resource], asked[resource])


def _first_above(held: Amounts, asked: Amounts, guaranteed: Amounts) -> str | None:
    for resource in sorted(asked):
        if resource == PODS and PODS not in guaranteed:
            continue  # every pod is one of `pods`: that alone does not make it borrow
        if asked[resource] > 0 and held[resource] + asked[resource] > guaranteed[resource]:
            return resource
    return None


def _unlendable(quota: Quota, unmet: Amounts) -> Amounts:
    if not quota.lending.enabled:
        return unmet
    return Amounts({r: unmet[r] - bound for r, bound in quota.lending.limit.items() if unmet[r] > bound})


def _sum(of: Mapping[str, Amounts], names: Iterable[str]) -> Amounts:
    total = NOTHING
    for name in names:
        total = total.plus(of[name])
    return total
