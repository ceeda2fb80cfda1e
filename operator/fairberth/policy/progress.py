"""Where a lane stands within a turn: how many of its pods went, in which pool it asks, and why it was refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import Scoring
from fairberth.model.reasons import Reason
from fairberth.model.workload import Millis
from fairberth.policy.scoring import Score, score
from fairberth.policy.snapshot import Candidate, Lane
from fairberth.policy.verdict import Verdict

_HOPELESS = (Reason.NO_NODE_FITS, Reason.NO_POOL)


@dataclass(slots=True, eq=False)
class Progress:
    """A lane in a turn. `route` are the pools it may use, in order; `step` the one it asks in now."""

    lane: Lane
    route: tuple[str, ...]
    step: int = 0
    next: int = 0
    refusal: Verdict | None = None
    refused_at: int = 0  # what the claims' change count was when it was refused
    _told: Verdict | None = None
    _standing: tuple[int, Score] | None = None

    @property
    def pool(self) -> str:
        """The pool it asks in."""
        return self.route[self.step] if self.route else ""

    @property
    def head(self) -> Candidate:
        """Its first pod that did not go yet."""
        return self.lane.candidates[self.next]

    @property
    def waits(self) -> bool:
        """Whether it has a pod to offer."""
        return self.refusal is None and self.next < len(self.lane.candidates)

    @property
    def verdict(self) -> Verdict | None:
        """Why what is left of it waits: of the pools' refusals the first that is not hopeless; None if all went."""
        return None if self.next >= len(self.lane.candidates) else self._told or self.refusal

    def standing(self, now: Millis, scoring: Scoring) -> Score:
        """The score of its head, worked out once per head (a turn has one `now` and one `scoring`)."""
        if self._standing is None or self._standing[0] != self.next:
            key = self.lane.key
            self._standing = self.next, score(key.value, key.base_priority, self.head.pod.created, now, scoring)
        return self._standing[1]

    def together(self) -> tuple[Candidate, ...]:
        """The candidates that go together or not at all: one, or what a group lacks to its size."""
        lacking = self.lane.key.group_size - self.lane.running - self.next
        return self.lane.candidates[self.next : self.next + max(1, lacking)]

    def asked(self) -> Amounts:
        """What all its pods that did not go yet ask for."""
        left = self.lane.candidates[self.next :]
        if not self.lane.key.group:
            return self.lane.key.requests.times(len(left))
        return _sum_of(left)

    def unit(self) -> Amounts:
        """What goes at once: one pod, or what a group lacks."""
        return _sum_of(self.together()) if self.lane.key.group else self.lane.key.requests

    def went_since(self, first: int) -> Amounts:
        """What the pods ask for that went, from an index on."""
        return _sum_of(self.lane.candidates[first : self.next])

    def refuse(self, verdict: Verdict, claims: int) -> None:
        """It does not go, in this pool; `claims` is the claims' change count."""
        self.refusal, self.refused_at = verdict, claims

    def ask_again(self, claims: int) -> None:
        """Forget a denial of borrowing that others' giving up their claims may have overtaken."""
        if self.refusal and self.refusal.reason is Reason.BORROWING_DENIED and self.refused_at != claims:
            self.refusal = None

    def leave_pool(self) -> bool:
        """Go on to the next pool of the route after a refusal; False where there is nothing to go on with."""
        if self.refusal is None or self.next >= len(self.lane.candidates) or self.step + 1 >= len(self.route):
            return False
        if self.refusal.reason not in _HOPELESS and self._told is None:
            self._told = self.refusal
        self.step, self.refusal = self.step + 1, None
        return True


def _sum_of(candidates: Iterable[Candidate]) -> Amounts:
    total = NOTHING
    for candidate in candidates:
        total = total.plus(candidate.pod.requests)
    return total
