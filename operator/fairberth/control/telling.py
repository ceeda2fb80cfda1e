"""Telling pods why they wait, within a write budget: latest word first served, never the same word twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fairberth.control.commands import Tell
from fairberth.control.perform import Performer
from fairberth.control.ports import Clock
from fairberth.model.outcomes import Done, Gone

PER_SECOND = 100  # writes; admissions are never counted against it
AT_ONCE = 10


class Telling:
    """A queue of what to tell whom. `still` says whether a pod still waits, asked just before it is written."""

    def __init__(self, performer: Performer, clock: Clock, still: Callable[[str], bool]) -> None:
        self._performer = performer
        self._clock = clock
        self._still = still
        self._queue: dict[str, Tell] = {}
        self._written: dict[str, str] = {}
        self._more = asyncio.Event()
        self.failed = False  # something was not written: look at everybody again

    def put(self, command: Tell) -> None:
        """Tell a pod, unless it was told so already."""
        uid = command.pod.uid
        code = str(command.verdict.reason)
        if self._written.get(uid) == code and command.pod.condition != code:
            return  # written, and not seen back yet
        self._queue[uid] = command
        self._more.set()

    def forget(self, uid: str) -> None:
        """The pod is gone, or goes."""
        self._queue.pop(uid, None)
        self._written.pop(uid, None)

    def clear(self) -> None:
        """Somebody else leads."""
        self._queue.clear()
        self._written.clear()

    async def run(self) -> None:
        """Write, for ever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            while not self._queue:
                self._more.clear()
                await self._more.wait()
            uid = next(iter(self._queue))
            command = self._queue.pop(uid)
            if not self._still(uid):
                continue
            self._written[uid] = str(command.verdict.reason)
            outcome = await self._performer.tell(command)
            if not isinstance(outcome, Done | Gone):
                self._written.pop(uid, None)
                self.failed = True
            await self._clock.sleep(AT_ONCE / PER_SECOND)
