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
    _keepers: Mapping[int, tuple[int, ...]]  # by level: the others whose unused guarantees it may not borrow

    @classmethod
    def of(cls, pool: str, capacity: Amounts, slas: Mapping[int, PrioritySLA]) -> LevelGuarantees:
        """Work them out for a pool's capacity."""
        amounts = {level: capacity.share(sla.guarantee) for level, sla in slas.items()}
        keepers = {
            level: tuple(
                other
                for other, of_other in slas.items()
                if other != level and amounts[other] and not (of_other.lend_guarantee and sla.preemptible)
            )
            for level, sla in slas.items()
        }
        return cls(pool, slas, amounts, keepers)

    def preemptible(self, level: int) -> bool:
        """Whether pods of the level can be reclaimed."""
        return self.slas[level].preemptible

    def inside(self, level: int, asked: Amounts, ledger: Ledger) -> bool:
        """Whether a pod stays within what its own level is guaranteed."""
        return ledger.held_by_level(self.pool, level).plus(asked).within(self.amounts[level])

    def kept_from(self, level: int, ledger: Ledger) -> Amounts:
        """What the other levels' unused guarantees keep free from this one."""
        kept = NOTHING
        for other in self._keepers[level]:
            unused = self.amounts[other].above(ledger.held_by_level(self.pool, other))
            kept = kept.plus(unused) if kept else unused
        return kept

    def refusal(self, level: int, asked: Amounts, free: Amounts, ledger: Ledger) -> Verdict | None:
        """Why the level may not take `asked` of the `free` room, or None."""
        kept = self.kept_from(level, ledger)
        if not kept or self.inside(level, asked, ledger):
            return None
        for resource in sorted(asked):
            if kept[resource] and asked[resource] > free[resource] - kept[resource]:
                limit, used = free[resource], kept[resource]
                return Verdict(Reason.RESERVED_FOR_URGENT, self.pool, "", resource, limit, used, asked[resource])
        return None
