"""§5.2: of the tenants' offers, whose goes next.

*Best* is the highest-ranked offer. The contenders are the offers of best's value class and level (or, where best is
forced, the forced ones) within `fair_band` of its score. Among them the tenant with the smallest debt goes; in a tree,
debts are compared from the roots down, between siblings. Ties go by rank, then by tenant name.

`Market` keeps the offers of a round; `best_of`, `contenders` and `least_indebted` say the rule itself, and are what
a market does where tenants form a tree. In a flat one it keeps heaps instead: the same choice, without looking at
every offer (a law in the tests holds both together).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import lcm

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import Tenant, ValueClass
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.scoring import Rank


class Debts:
    """Debts in one pool: served / weight as integers over one common denominator, so comparing them is exact."""

    def __init__(self, capacity: Amounts, tenants: Mapping[str, Tenant], guaranteed: Mapping[str, Amounts]) -> None:
        self._guaranteed = guaranteed
        parts = lcm(*(n for n in capacity.values() if n > 0))
        weights = lcm(*(tenant.weight for tenant in tenants.values()))
        # Resources that the pool has nothing of are ignored.
        self._parts = {name: parts // n for name, n in capacity.items() if n > 0}
        self._weights = {name: weights // tenant.weight for name, tenant in tenants.items()}
        self.denominator = parts * weights

    def of(self, tenant: str, held: Amounts) -> int:
        """The dominant share of what the tenant holds above its guarantee, over its weight (× denominator)."""
        guaranteed = self._guaranteed.get(tenant, NOTHING)
        served = max((part * (held[name] - guaranteed[name]) for name, part in self._parts.items()), default=0)
        return max(served, 0) * self._weights[tenant]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a tenant puts forward: its first eligible candidate. `rank` orders offers, smallest first."""

    tenant: str
    rank: Rank
    value: ValueClass
    level: int
    score: int
    forced: bool

    @property
    def order(self) -> tuple[Rank, str]:
        """Rank, then tenant name."""
        return self.rank, self.tenant

    @property
    def rivals(self) -> tuple[int, int]:
        """Offers with an equal value here may contend with each other."""
        return (-1, -1) if self.forced else (self.value, self.level)


def best_of(offers: Iterable[Offer]) -> Offer:
    """The highest-ranked offer."""
    return min(offers, key=lambda offer: offer.order)


def contenders(best: Offer, offers: Iterable[Offer], fair_band: int) -> list[Offer]:
    """The offers that may go instead of the best one (which is among them)."""
    return [offer for offer in offers if offer.rivals == best.rivals and offer.score >= best.score - fair_band]


def least_indebted(
    rivals: Sequence[Offer], path_of: Callable[[str], Sequence[str]], debt_of: Callable[[str], int]
) -> Offer:
    """The contender whose tenant owes least. `path_of` gives a tenant's path from its root down to itself."""
    left, depth = list(rivals), 0
    while len(left) > 1:
        branches: dict[str, list[Offer]] = {}
        for offer in left:
            # A tenant with children that also has pods of its own stands among its children under its own name.
            path = path_of(offer.tenant)
            branches.setdefault(path[depth] if depth < len(path) else offer.tenant, []).append(offer)
        left = min(branches.items(), key=lambda branch: (debt_of(branch[0]), best_of(branch[1]).order))[1]
        depth += 1
    return left[0]


class Market:
    """The offers of a round, one per tenant at most. `debt_of` must be asked anew after each admission: `put` does."""

    def __init__(self, hierarchy: Hierarchy, fair_band: int, debt_of: Callable[[str], int]) -> None:
        self._paths = {name: path[::-1] for name, path in hierarchy.paths.items()}
        self._flat = all(len(path) == 1 for path in hierarchy.paths.values())
        self._fair_band = fair_band
        self._debt_of = debt_of
        self.offers: dict[str, Offer] = {}
        self._behind: dict[str, Offer] = {}
        self._by_rank: list[tuple[Rank, str]] = []
        self._by_debt: dict[tuple[int, int], list[tuple[int, Rank, str]]] = {}

    def put(self, offer: Offer) -> None:
        """A tenant's offer of now, in place of an earlier one."""
        self.offers[offer.tenant] = offer
        if self._flat:
            heappush(self._by_rank, (offer.rank, offer.tenant))
            entry = (self._debt_of(offer.tenant), offer.rank, offer.tenant)
            heappush(self._by_debt.setdefault(offer.rivals, []), entry)

    def drop(self, tenant: str, behind: Offer | None = None) -> None:
        """The tenant offers nothing (more); `behind` is what it would offer if its window were not full."""
        self.offers.pop(tenant, None)
        self._behind.pop(tenant, None)
        if behind is not None:
            self._behind[tenant] = behind

    def hiding(self, best: Offer, chosen: Offer) -> list[str]:
        """The tenants that would go before the chosen one, could they contend: they owe no more, but what they offer is
        of another class, beneath the band, or behind a full window. Behind one that cannot go, one that contends may
        hide."""
        floor, owed = best.score - self._fair_band, self._debt_of(chosen.tenant) if self._flat else None
        return [
            offer.tenant
            for offer in self.offers.values()
            if (offer.rivals != best.rivals or offer.score < floor)
            and (owed is None or self._debt_of(offer.tenant) <= owed)
        ] + [tenant for tenant in self._behind if self._owes_less(tenant, chosen.tenant)]

    def passes_over_a_poorer(self, offer: Offer) -> bool:
        """Whether somebody behind a full window could contend with the offer, and owes less than its tenant."""
        return any(
            other.rivals == offer.rivals
            and other.score >= offer.score - self._fair_band
            and self._owes_less(other.tenant, offer.tenant)
            for other in self._behind.values()
        )

    def _owes_less(self, one: str, other: str) -> bool:
        """Compared where their paths part, as siblings."""
        for mine, theirs in zip(self._paths[one], self._paths[other], strict=False):
            if mine != theirs:
                return self._debt_of(mine) < self._debt_of(theirs)
        return False

    def pick(self) -> tuple[Offer, Offer]:
        """The best offer, and the one that goes (often the same)."""
        if not self._flat:
            best = best_of(self.offers.values())
            rivals = contenders(best, self.offers.values(), self._fair_band)
            return best, least_indebted(rivals, self._paths.__getitem__, self._debt_of)
        while not self._current(*self._by_rank[0]):
            heappop(self._by_rank)
        best = self.offers[self._by_rank[0][1]]
        return best, self._cheapest(best)

    def _cheapest(self, best: Offer) -> Offer:
        heap, aside = self._by_debt[best.rivals], []
        while True:
            _, rank, tenant = heap[0]
            offer = self.offers.get(tenant)
            if offer is None or offer.rank != rank or offer.rivals != best.rivals:
                heappop(heap)
            elif offer.score < best.score - self._fair_band:
                aside.append(heappop(heap))
            else:
                break
        for entry in aside:
            heappush(heap, entry)
        return offer

    def _current(self, rank: Rank, tenant: str) -> bool:
        offer = self.offers.get(tenant)
        return offer is not None and offer.rank == rank
