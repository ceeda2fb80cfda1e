"""Performs commands: turns each into requests, retries what may succeed later, and says what became of it.

An admission is two writes: the condition with the nomination (status), then the one patch that removes the gate. The
first is soft, so an admission goes on without it; the patch decides.
"""

from __future__ import annotations

from fairberth.api import patches
from fairberth.api.requests import Request
from fairberth.control.commands import Admit, LabelNamespace, Tell
from fairberth.control.ports import Clock, Leadership, TurnObserver, Writer
from fairberth.model.outcomes import Conflict, Fatal, Gone, Outcome, Retry
from fairberth.observe.explain import sentence
from fairberth.policy.verdict import Verdict

GIVE_UP_AFTER = 60.0  # seconds: then the reservation is returned, and the pod waits for another turn
_LONGEST_PAUSE = 8.0


class Performer:
    """Performs one command at a time; the caller runs many at once."""

    def __init__(self, writer: Writer, clock: Clock, leadership: Leadership, observer: TurnObserver) -> None:
        self._writer = writer
        self._clock = clock
        self._leadership = leadership
        self._observer = observer

    async def admit(self, command: Admit) -> Outcome:
        """Say so on the pod (and nominate, where a node was chosen), then let it go. Only Done means that it went."""
        started = self._clock.now()
        outcome = await self._send(patches.admitted(command.pod, command.grant.node, at=command.grant.at))
        if isinstance(outcome, Gone | Conflict):
            return self._said("admit", outcome, started)
        outcome = await self._insist(patches.admission(command.pod, command.grant, command.pool))
        return self._said("admit", outcome, started)

    async def tell(self, command: Tell) -> Outcome:
        """Write why a pod waits."""
        started = self._clock.now()
        verdict: Verdict = command.verdict
        message = sentence(verdict)
        request = patches.condition(command.pod, "False", str(verdict.reason), message, at=started)
        return self._said("tell", await self._send(request), started)

    async def label(self, command: LabelNamespace) -> Outcome:
        """Write whose namespace it is."""
        started = self._clock.now()
        request = patches.namespace_label(command.name, command.tenant or None)
        return self._said("label", await self._send(request), started)

    async def status(self, request: Request) -> Outcome:
        """Write the status of an object of ours."""
        started = self._clock.now()
        return self._said("status", await self._send(request), started)

    async def _send(self, request: Request) -> Outcome:
        if not self._leadership.held:
            return Fatal("not the leader any more")
        return await self._writer.send(request)

    async def _insist(self, request: Request) -> Outcome:
        """Send until the server gives a definite answer, or for `GIVE_UP_AFTER`."""
        give_up = self._clock.now() + int(GIVE_UP_AFTER * 1000)
        pause = 0.1
        while True:
            outcome = await self._send(request)
            if not isinstance(outcome, Retry) or self._clock.now() >= give_up:
                return outcome
            await self._clock.sleep(max(pause, outcome.after))
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _said(self, what: str, outcome: Outcome, started: int) -> Outcome:
        self._observer.wrote(what, outcome, (self._clock.now() - started) / 1000)
        return outcome
