"""Routing rules: when they are in force, what they ask of a pod, and what they change about it.

What a rule's author writes (CEL, cron) is compiled at the edge; decisions only meet the two protocols here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from fairberth.model.objects import Tenant
from fairberth.model.workload import Millis, Pod


class ConditionFailed(ValueError):
    """A condition that could not be evaluated for a pod; the message says why. Such a rule is skipped."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a condition may look at. `load` is that of the first pool of the pod's route, in thousandths."""

    pod: Pod
    tenant: Tenant
    team: str
    now: Millis
    load: int


class Condition(Protocol):
    """A compiled condition. Equal texts are equal conditions."""

    @property
    def uses(self) -> frozenset[str]:
        """Which of ``pod``, ``tenant``, ``now`` and ``load`` it mentions."""

    def holds(self, circumstances: Circumstances) -> bool:
        """Whether it holds. Raises ConditionFailed."""


class Schedule(Protocol):
    """Windows that open by a cron expression in a time zone, and stay open for a while."""

    def open(self, at: Millis) -> bool:
        """Whether a window is open."""

    def next_change(self, at: Millis) -> Millis | None:
        """When a window next opens or closes after `at`; None for never again."""


@dataclass(frozen=True, slots=True)
class RoutingRule:
    """Changes the level (`adjustment`, hundredths; −100 is one more urgent) and the pools of the pods it holds for."""

    name: str
    created: Millis = 0
    condition: Condition | None = None  # None: every pod
    adjustment: int = 0
    pools: tuple[str, ...] = ()  # where its pods go instead, in this order; empty: their level's route
    effective_from: Millis | None = None
    effective_to: Millis | None = None  # the first moment at which it is over
    schedule: Schedule | None = field(default=None)

    def active(self, now: Millis) -> bool:
        """Whether it is in force at a moment."""
        if self.effective_from is not None and now < self.effective_from:
            return False
        if self.effective_to is not None and now >= self.effective_to:
            return False
        return self.schedule is None or self.schedule.open(now)

    def next_change(self, now: Millis) -> Millis | None:
        """When `active` may next give another answer."""
        times = [t for t in (self.effective_from, self.effective_to) if t is not None and t > now]
        if self.schedule is not None and (turn := self.schedule.next_change(now)) is not None:
            times.append(turn)
        return min(times, default=None)
