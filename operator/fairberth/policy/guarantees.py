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

    def beyond(self, level: int, asked: Amounts, ledger: Ledger) -> frozenset[str]:
        """The resources in which a pod goes beyond what its own level is guaranteed."""
        held, guaranteed = ledger.held_by_level(self.pool, level), self.amounts[level]
        return frozenset(name for name, n in asked.items() if n > 0 and held[name] + n > guaranteed[name])

    def unlent(self) -> Amounts:
        """What is guaranteed to levels that lend nothing: no tenant is entitled to it at another level."""
        kept = NOTHING
        for level, sla in self.slas.items():
            kept = kept if sla.lend_guarantee else kept.plus(self.amounts[level])
        return kept

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
        if not kept:
            return None
        for resource in sorted(self.beyond(level, asked, ledger)):
            if kept[resource] and asked[resource] > free[resource] - kept[resource]:
                limit, used = free[resource], kept[resource]
                return Verdict(Reason.RESERVED_FOR_URGENT, self.pool, "", resource, limit, used, asked[resource])
        return None
