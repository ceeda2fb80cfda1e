"""The wheel: snapshot → engine → plan → perform → observe, on every change and at least each `roundInterval`.

Admissions are assumed in the state before they are written, so the next turn counts them although the API server has
not shown them yet; what definitely did not happen is withdrawn. Only the leader turns; a standby keeps its state
current all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fairberth.control import plan
from fairberth.control.commands import Admit, Tell
from fairberth.control.perform import Performer
from fairberth.control.ports import Clock, Leadership, TurnObserver, Writer
from fairberth.control.telling import Telling
from fairberth.model.outcomes import Done, Fatal, Outcome
from fairberth.model.reasons import Reason
from fairberth.policy.engine import Turn, admit
from fairberth.policy.snapshot import Snapshot
from fairberth.policy.verdict import Verdict
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import Assumed, Fact, PodGone, Withdrawn

MOST_IN_FLIGHT = 2_000  # admissions being written; a turn waits for room here, so decisions stay fresh
LONGEST_GAP = 0.05  # seconds between turns under load
AFTER_REFUSAL = 30.0  # seconds until a pod whose admission the API server refused gets another turn


class Wheel:
    """Owns the state; everything that happens comes in through `apply`."""

    def __init__(
        self,
        state: ClusterState,
        writer: Writer,
        clock: Clock,
        leadership: Leadership,
        observer: TurnObserver,
        *,
        identity: str,
        turned: Callable[[Snapshot, Turn], None] = lambda snapshot, turn: None,
    ) -> None:
        self.state = state
        self._clock = clock
        self._leadership = leadership
        self._observer = observer
        self._identity = identity
        self._turned = turned
        self._performer = Performer(writer, clock, leadership, observer)
        self._teller = plan.Teller()
        self._telling = Telling(self._performer, clock, self._waits)
        self._changed = asyncio.Event()
        self._writes: set[asyncio.Task[None]] = set()
        self._turns = 0
        self._labelled = -1
        self.last: tuple[Snapshot, Turn] | None = None

    @property
    def performer(self) -> Performer:
        """For whoever else writes as the leader (statuses)."""
        return self._performer

    def apply(self, fact: Fact) -> None:
        """Take in a fact; a turn follows."""
        self.state.apply(fact)
        if isinstance(fact, PodGone):
            self._telling.forget(fact.uid)
        self._changed.set()

    def _waits(self, uid: str) -> bool:
        pod = self.state.pods.get(uid)
        return pod is not None and not pod.admitted and uid not in self.state.assumed

    async def run(self) -> None:
        """Turn, for ever."""
        telling = asyncio.create_task(self._telling.run())
        try:
            while True:
                await self._next()
                if self._leadership.held:
                    started = time.perf_counter()
                    await self.turn()
                    # Let watches and writes have the loop for about as long as the turn took.
                    await self._clock.sleep(min(time.perf_counter() - started, LONGEST_GAP))
                else:
                    self._stand_by()
        finally:
            telling.cancel()

    async def _next(self) -> None:
        interval = self.state.setup.policy.round_interval / 1000
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), interval)
        self._changed.clear()

    def _stand_by(self) -> None:
        self._teller.forget()
        self._telling.clear()
        self._labelled = -1

    async def turn(self) -> Turn:
        """One turn: decide, then set writing in motion (it goes on while the next turn is decided)."""
        started = time.perf_counter()
        now = self._clock.now()
        snapshot = self.state.snapshot(now)
        turn = admit(snapshot)
        self._turns += 1
        decision = f"{self._identity}-{self._turns}"
        for command in plan.admissions(turn, snapshot.setup, now, decision):
            self.state.apply(Assumed(command.pod.uid, command.grant))
            self._telling.forget(command.pod.uid)
            self._start(self._admit(command))
        self._tell(turn)
        self._label()
        self.last = (snapshot, turn)
        self._observer.turned(snapshot, turn, time.perf_counter() - started)
        self._turned(snapshot, turn)
        while len(self._writes) > MOST_IN_FLIGHT:
            await asyncio.wait(self._writes, return_when=asyncio.FIRST_COMPLETED)
        return turn

    def _tell(self, turn: Turn) -> None:
        if self._telling.failed:
            self._telling.failed = False
            self._teller.forget()
        for told in self._teller.tell(turn):
            self._telling.put(told)
        for told in plan.orphans(self.state.orphans):
            self._telling.put(told)

    def _label(self) -> None:
        if self._labelled == self.state.ownership_changes:
            return
        self._labelled = self.state.ownership_changes
        for command in plan.labels(self.state.setup, self.state.namespaces):
            self._start(self._until_done(self._performer.label(command)))

    async def _admit(self, command: Admit) -> None:
        outcome = await self._performer.admit(command)
        if isinstance(outcome, Done):
            return
        if isinstance(outcome, Fatal) and self._leadership.held:
            # The same would be refused again at once: say so, and hold its place before it gets another turn.
            await self._performer.tell(Tell(command.pod, Verdict(Reason.ADMISSION_FAILED, detail=outcome.message)))
            await self._clock.sleep(AFTER_REFUSAL)
        self.apply(Withdrawn(command.pod.uid))

    async def _until_done(self, write: Awaitable[Outcome]) -> None:
        outcome = await write
        if not isinstance(outcome, Done):
            self._labelled = -1

    def _start(self, write: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(write)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def settled(self) -> None:
        """Wait until nothing is being written (tests and a clean stop)."""
        while self._writes:
            await asyncio.wait(self._writes)
