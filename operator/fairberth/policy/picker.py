"""§5.2: of the tenants' offers, whose goes next.

*Best* is the highest-ranked offer. The contenders are the offers of best's value class and level (or, where best is
forced, the forced ones) within `fair_band` of its score. Among them the tenant with the smallest debt goes; in a tree,
debts are compared from the roots down, between siblings. Ties go by rank, then by tenant name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fairberth.model.amounts import Amounts
from fairberth.model.objects import ValueClass
from fairberth.policy.scoring import Rank


@dataclass(frozen=True, slots=True)
class Debt:
    """served / weight, exact: `numerator / denominator` (the denominator is positive)."""

    numerator: int = 0
    denominator: int = 1

    def compare(self, other: Debt) -> int:
        """Negative, zero or positive, by cross-multiplication."""
        return self.numerator * other.denominator - other.numerator * self.denominator


def debt(held: Amounts, guaranteed: Amounts, capacity: Amounts, weight: int) -> Debt:
    """Dominant share of what is held above the guarantee, over the weight.

    Resources that the pool has nothing of are ignored.
    """
    numerator, denominator = 0, 1
    for resource, total in capacity.items():
        above = held[resource] - guaranteed[resource]
        if above > 0 and total > 0 and above * denominator > numerator * total:
            numerator, denominator = above, total
    return Debt(numerator, denominator * weight)


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


def best_of(offers: Iterable[Offer]) -> Offer:
    """The highest-ranked offer."""
    return min(offers, key=lambda offer: offer.order)


def contenders(best: Offer, offers: Iterable[Offer], fair_band: int) -> list[Offer]:
    """The offers that may go instead of the best one (which is among them)."""
    floor = best.score - fair_band
    if best.forced:
        return [offer for offer in offers if offer.forced and offer.score >= floor]
    return [
        offer
        for offer in offers
        if not offer.forced and offer.level == best.level and offer.value is best.value and offer.score >= floor
    ]


def least_indebted(
    rivals: Sequence[Offer], path_of: Callable[[str], Sequence[str]], debt_of: Callable[[str], Debt]
) -> Offer:
    """The contender whose tenant owes least. `path_of` gives a tenant's path from its root down to itself."""
    left = list(rivals)
    depth = 0
    while len({offer.tenant for offer in left}) > 1:
        leaders: dict[str, Offer] = {}
        for offer in left:
            path = path_of(offer.tenant)
            # A tenant with children that also has pods of its own stands among its children under its own name.
            node = path[depth] if depth < len(path) else offer.tenant
            if node not in leaders or offer.order < leaders[node].order:
                leaders[node] = offer
        if len(leaders) > 1:
            chosen = _least(leaders, debt_of)
            left = [o for o in left if (path_of(o.tenant)[depth : depth + 1] or [o.tenant])[0] == chosen]
        depth += 1
    return min(left, key=lambda offer: offer.order)


def _least(leaders: dict[str, Offer], debt_of: Callable[[str], Debt]) -> str:
    chosen, least = "", Debt()
    for node, offer in leaders.items():
        owes = debt_of(node)
        compared = owes.compare(least) if chosen else -1
        if compared < 0 or (compared == 0 and offer.order < leaders[chosen].order):
            chosen, least = node, owes
    return chosen
