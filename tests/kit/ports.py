"""Fakes at the ports that we own: a clock that is moved by hand, a writer that remembers, a leadership that is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from fairberth.api.requests import Request
from fairberth.model.outcomes import Done, Outcome
from fairberth.policy.engine import Turn
from fairberth.policy.snapshot import Snapshot
from tests.kit import builders


class HandClock:
    """Time passes when somebody sleeps: then at once, by as much."""

    def __init__(self) -> None:
        self.at = builders.T0
        self.slept: list[float] = []

    def now(self) -> int:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += int(seconds * 1000)
        await asyncio.sleep(0)


class RecordingWriter:
    """Answers by `answer(request)`, Done unless told otherwise, and keeps what was sent."""

    def __init__(self, answer: Callable[[Request], Outcome] = lambda request: Done()) -> None:
        self.sent: list[Request] = []
        self.answer = answer

    async def send(self, request: Request) -> Outcome:
        self.sent.append(request)
        await asyncio.sleep(0)
        return self.answer(request)

    def bodies(self, path: str) -> list[Any]:
        """The decoded bodies of what was sent to paths that end so."""
        return [json.loads(request.body) for request in self.sent if request.path.endswith(path)]


class ToldLeadership:
    """Leads while `held`."""

    def __init__(self, held: bool = True) -> None:
        self.held = held


class SilentObserver:
    """Remembers the outcomes of commands."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, Outcome]] = []

    def turned(self, snapshot: Snapshot, turn: Turn, seconds: float) -> None:
        return None

    def wrote(self, what: str, outcome: Outcome, seconds: float) -> None:
        self.outcomes.append((what, outcome))
