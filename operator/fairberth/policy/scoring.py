"""§5.1: the score of a waiting pod, and the order that it gives.

Rank order of candidates, smallest first:
1. score, the highest first (a starving pod's bonus included while its tenant may force it)
2. raw level, the most urgent first (gold before silver within a level)
3. creation time, the oldest first
4. namespace/name
"""

from __future__ import annotations

from dataclasses import dataclass

from fairberth.model.objects import Scoring, ValueClass

FORCED_BONUS = 10_000

Rank = tuple[int, int, int, str]


@dataclass(frozen=True, slots=True)
class Score:
    """A score with its terms. `total` leaves the starvation bonus out; `starving` says whether it is due."""

    value: int
    base_priority: int
    aging: int
    starving: bool

    @property
    def total(self) -> int:
        """value + base priority + aging."""
        return self.value + self.base_priority + self.aging

    @property
    def forced(self) -> int:
        """The total with the starvation bonus, if due."""
        return self.total + (FORCED_BONUS if self.starving else 0)


def ticks(created: int, now: int, tick: int) -> int:
    """Whole aging ticks (`tick` milliseconds each) since creation; a clock behind the creation counts as 0."""
    return max(0, now - created) // tick


def score(value: ValueClass, base_priority: int, created: int, now: int, scoring: Scoring) -> Score:
    """The score of a pod created at `created`, at `now` (milliseconds)."""
    waited = ticks(created, now, scoring.aging_tick)
    return Score(
        value=scoring.weight_of(value),
        base_priority=base_priority,
        aging=min(waited, scoring.max_aging_ticks) * scoring.aging_per_tick,
        starving=waited >= scoring.starvation_ticks,
    )
