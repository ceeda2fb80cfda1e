"""§5.5: may a tenant go beyond its guarantee, with this pod, now?

Each resource is asked about by itself. Only if borrowing is allowed and within its limit at every level of the tree
that the pod takes above a guarantee, and only with room that nobody entitled is waiting for: what the others'
guarantees still lack and is demanded (their *claims*) stays free, and so does what a guarantee does not lend. Who is
entitled by guarantee never has to leave room for anybody outside of it.

Guarantees are those in force: scaled where they are more than the capacity. Permission to borrow, and its limit, go by
what the spec says.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from fairberth.model.amounts import NOTHING, PODS, Amounts
from fairberth.model.objects import NO_QUOTA, Quota, Tenant
from fairberth.model.reasons import Reason
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.ledger import Ledger
from fairberth.policy.verdict import Verdict


@dataclass(slots=True, eq=False)
class _Queue:
    """Pods that wait: `unit` go at once (one pod, or a whole group), `left` is what all of them ask for."""

    tenant: str
    unit: Amounts
    left: Amounts


class Claims:
    """What each tenant's guarantee on one pool still claims, kept current through a turn.

    A guarantee claims what its pods wait for, as far as they fit into it: what is too small for any of them is claimed
    by nobody. Where no tenant has a guarantee there is nothing to claim, and nothing is kept.
    """

    def __init__(
        self,
        pool: str,
        tenants: Mapping[str, Tenant],
        hierarchy: Hierarchy,
        ledger: Ledger,
        guaranteed: Mapping[str, Amounts],
    ) -> None:
        self._quotas = {name: tenant.quota(pool) for name, tenant in tenants.items()}
        self._guaranteed = guaranteed  # in force; tenants without one may be missing
        self._pool = pool
        self._paths = hierarchy.paths
        self._ledger = ledger
        self._queues: dict[Hashable, _Queue] = {}
        self._waiting: dict[str, Amounts] = {}
        self._smallest: dict[tuple[str, str], list[tuple[int, int, _Queue]]] = {}
        self._claim: dict[str, Amounts] = {}
        self._below: dict[str, Amounts] = {}  # by tenant ("": the whole tree): the sum of its children's claims
        self._seen = 0
        self.changes = 0  # counts, so that a caller sees whether what it was told may have changed
        self.kept = any(guaranteed.values())
        self._unbounded = {
            name for name, path in self._paths.items() if all(self._quotas[above] == NO_QUOTA for above in path)
        }
        if self.kept:
            for name in hierarchy.bottom_up():
                self._renew(name, hierarchy.children[name])
            self._below[""] = _sum(self._claim, hierarchy.children[""])

    def _renew(self, name: str, children: Iterable[str]) -> None:
        self._below[name] = _sum(self._claim, children)
        self._claim[name] = self._claim_of(name)

    # -- who waits ------------------------------------------------------------------------------------------------

    def wait(self, key: Hashable, tenant: str, unit: Amounts, left: Amounts) -> None:
        """Pods of a tenant wait (`unit`: those that go at once, `left`: all of them), under a key of the caller's."""
        if not self.kept:
            return
        queue = self._queues[key] = _Queue(tenant, unit, left)
        self._seen += 1
        for name in self._paths[tenant]:
            for resource in self._guaranteed.get(name, NOTHING):
                if unit[resource] > 0:
                    heap = self._smallest.setdefault((name, resource), [])
                    heappush(heap, (unit[resource], self._seen, queue))
        self._change(tenant, left)

    def holds(self, key: Hashable) -> bool:
        """Whether something waits under the key."""
        return key in self._queues

    def settle(self, key: Hashable, amounts: Amounts) -> None:
        """The pods were given room that they waited for; the ledger says so already."""
        queue = self._queues.get(key)
        if queue is None:
            return
        queue.left = queue.left.minus(amounts)
        if not queue.left:
            del self._queues[key]
        self._change(queue.tenant, amounts.times(-1), went=amounts)

    def withdraw(self, key: Hashable) -> None:
        """The pods do not wait for that room any more, in this turn."""
        queue = self._queues.pop(key, None)
        if queue is not None:
            left, queue.left = queue.left, NOTHING
            self._change(queue.tenant, left.times(-1))

    def _change(self, tenant: str, waiting: Amounts, went: Amounts = NOTHING) -> None:
        path = self._paths[tenant]
        for name, above in zip(path, (*path[1:], ""), strict=True):
            self._waiting[name] = self._waiting.get(name, NOTHING).plus(waiting)
            before, after = self._claim[name], self._claim_of(name)
            if before != after:
                self._claim[name] = after
                self._below[above] = self._below[above].minus(before).plus(after)
                self.changes += any(before[r] - after[r] > went[r] for r in before)

    def _claim_of(self, name: str) -> Amounts:
        guaranteed = self._guaranteed.get(name)
        if not guaranteed:
            return self._below[name]
        quota, held = self._quotas[name], self._ledger.held(self._pool, name)
        waiting = self._waiting.get(name, NOTHING)
        own = {}
        for resource, n in guaranteed.items():
            unmet = n - held[resource]
            if unmet > 0:
                smallest = self._smallest_of(name, resource)
                demanded = min(waiting[resource], unmet) if smallest is not None and smallest <= unmet else 0
                own[resource] = max(demanded, _unlendable(quota, resource, unmet))
        return Amounts(own).most(self._below[name])

    def _smallest_of(self, name: str, resource: str) -> int | None:
        heap = self._smallest.get((name, resource))
        while heap:
            if heap[0][2].left:
                return heap[0][0]
            heappop(heap)
        return None

    # -- may it borrow --------------------------------------------------------------------------------------------

    def refusal(self, tenant: str, asked: Amounts, free: Amounts, firm: frozenset[str] = frozenset()) -> Verdict | None:
        """Why the tenant may not take `asked` now, with `free` left in the pool.

        `firm` names the resources that could not be reclaimed from the pod, and in which it is not inside its own
        level's guarantee either: there it must stay within a guarantee.
        """
        if not firm and not self.kept and tenant in self._unbounded:
            return None
        wanted = sorted(name for name, n in asked.items() if n > 0)
        others, child = NOTHING, ""
        inside: set[str] = set()
        for name in self._paths[tenant]:
            # Claims of the siblings on the way up, and not those of the subtree that the pod itself belongs to.
            others = others.plus(self._below.get(name, NOTHING).minus(self._claim.get(child, NOTHING)))
            child = name
            refusal = self._at(name, wanted, asked, others, inside)
            if refusal is not None:
                return refusal
        for resource in wanted:
            if resource in firm and resource not in inside and resource != PODS:
                quota, held = self._quotas[tenant], self._ledger.held(self._pool, tenant)
                return self._denied(tenant, resource, quota.guaranteed[resource], held[resource], asked)
        others = others.plus(self._below.get("", NOTHING).minus(self._claim.get(child, NOTHING)))
        for resource in wanted:
            if resource not in inside and others[resource] > 0 and asked[resource] > free[resource] - others[resource]:
                return self._denied(tenant, resource, free[resource], others[resource], asked)
        return None

    def _at(
        self, name: str, wanted: Iterable[str], asked: Amounts, others: Amounts, inside: set[str]
    ) -> Verdict | None:
        """At one level of the tree: notes in `inside` what stays within its guarantee, or says what denies it."""
        quota, in_force = self._quotas[name], self._guaranteed.get(name, NOTHING)
        held = self._ledger.held(self._pool, name)
        for resource in wanted:
            if resource == PODS and PODS not in quota.guaranteed:
                continue  # every pod is one of `pods`: that alone does not make it borrow
            spoken_for = held[resource] + (0 if resource in inside else others[resource])
            bound = _may_reach(quota, resource)
            if bound is not None and spoken_for + asked[resource] > bound:
                return self._denied(name, resource, bound, spoken_for, asked)
            if spoken_for + asked[resource] <= in_force[resource]:
                inside.add(resource)
        return None

    def _denied(self, name: str, resource: str, bound: int, used: int, asked: Amounts) -> Verdict:
        return Verdict(Reason.BORROWING_DENIED, self._pool, name, resource, bound, used, asked[resource])


def _may_reach(quota: Quota, resource: str) -> int | None:
    """How much a tenant may hold at most, by what it may borrow and by its limit; None for no bound."""
    borrowed = quota.borrowing.limit.get(resource) if quota.borrowing.enabled else 0
    bounds = [n for n in (quota.limit.get(resource),) if n is not None]
    if borrowed is not None:
        bounds.append(quota.guaranteed[resource] + borrowed)
    return min(bounds, default=None)


def _unlendable(quota: Quota, resource: str, unmet: int) -> int:
    if not quota.lending.enabled:
        return unmet
    bound = quota.lending.limit.get(resource)
    return 0 if bound is None else max(0, unmet - bound)


def _sum(of: Mapping[str, Amounts], names: Iterable[str]) -> Amounts:
    total = NOTHING
    for name in names:
        total = total.plus(of[name])
    return total
