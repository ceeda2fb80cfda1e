"""What the wheel needs from the outside, each as small as it can be. `bootstrap` joins them to the real things."""

from __future__ import annotations

from typing import Protocol

from fairberth.api.requests import Request
from fairberth.model.outcomes import Outcome
from fairberth.model.workload import Millis
from fairberth.policy.engine import Turn
from fairberth.policy.snapshot import Snapshot


class Clock(Protocol):
    """The wall clock and the passing of time."""

    def now(self) -> Millis:
        """Milliseconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""


class Writer(Protocol):
    """The way to the API server."""

    async def send(self, request: Request) -> Outcome:
        """Send one request. Never raises for what the server answers."""


class Leadership(Protocol):
    """Whether this process may write."""

    @property
    def held(self) -> bool:
        """True only while no other process can believe the same."""


class TurnObserver(Protocol):
    """Who looks at turns: metrics and logs."""

    def turned(self, snapshot: Snapshot, turn: Turn, seconds: float) -> None:
        """A turn was decided."""

    def wrote(self, what: str, outcome: Outcome, seconds: float) -> None:
        """A command (``admit``, ``tell``, ``label``, ``status``) was performed, or given up."""
