"""§5.6: the levels' guarantees. Unused, one is kept free from every other level, except from one that may borrow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import PrioritySLA
from fairberth.model.reasons import Reason
from fairberth.policy.ledger import Ledger
from fairberth.policy.verdict import Verdict


@dataclass(frozen=True, slots=True)
class LevelGuarantees:
    """The guarantees in force on one pool, by level: floor(percent · capacity)."""

    pool: str
    slas: Mapping[int, PrioritySLA]
    amounts: Mapping[int, Amounts]

    @classmethod
    def of(cls, pool: str, capacity: Amounts, slas: Mapping[int, PrioritySLA]) -> LevelGuarantees:
        """Work them out for a pool's capacity."""
        return cls(pool, slas, {level: capacity.share(sla.guarantee) for level, sla in slas.items()})

    def preemptible(self, level: int) -> bool:
        """Whether pods of the level can be reclaimed."""
        return self.slas[level].preemptible

    def inside(self, level: int, asked: Amounts, ledger: Ledger) -> bool:
        """Whether a pod stays within what its own level is guaranteed."""
        return ledger.held_by_level(self.pool, level).plus(asked).within(self.amounts[level])

    def kept_from(self, level: int, ledger: Ledger) -> Amounts:
        """What the other levels' unused guarantees keep free from this one."""
        kept = NOTHING
        for other, amounts in self.amounts.items():
            borrowable = self.slas[other].lend_guarantee and self.slas[level].preemptible
            if other != level and amounts and not borrowable:
                kept = kept.plus(amounts.above(ledger.held_by_level(self.pool, other)))
        return kept

    def refusal(self, level: int, asked: Amounts, free: Amounts, ledger: Ledger) -> Verdict | None:
        """Why the level may not take `asked` of the `free` room, or None."""
        if self.inside(level, asked, ledger):
            return None
        kept = self.kept_from(level, ledger)
        for resource in sorted(asked):
            if kept[resource] and asked[resource] > free[resource] - kept[resource]:
                limit, used = free[resource], kept[resource]
                return Verdict(Reason.RESERVED_FOR_URGENT, self.pool, "", resource, limit, used, asked[resource])
        return None
