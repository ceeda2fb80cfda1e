"""The reflector: keeps a sink informed of every object of one kind, whatever happens to the connection.

In order: list (as a stream where the server can, else in pages), then watch from there. A watch that ends is
resumed where it ended. One that can't be (410), an unreadable stream, or failures in a row: list again, and tell the
sink what vanished meanwhile. A connection that is silent longer than the server's bookmarks allow is dead.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

import msgspec

from fairberth.kube.backoff import Backoff
from fairberth.kube.client import NO_QUERY, ApiClient, Query
from fairberth.kube.errors import NO_ANSWER, Refused
from fairberth.kube.frames import Unreadable, ends_initial_events, pages, read_event, read_meta, status_of
from fairberth.kube.lines import lines
from fairberth.kube.mirror import Mirror, Sink
from fairberth.model.outcomes import Gone, Retry

T = TypeVar("T")

RELIST_AFTER: Final = 5  # failures in a row after which resuming is given up: a version may be unknown for ever

Trouble = Literal["undecodable", "refused", "expired", "disconnected", "unreadable"]
Report = Callable[[Trouble, str], None]
"""Told what went wrong, and the details; nothing is expected of it, the reflector goes on by itself."""


def _unreported(_trouble: Trouble, _details: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Pace:
    """The sizes and times of a reflector; all times are in seconds."""

    page: int = 250  # objects: parsing one page takes a few milliseconds
    page_timeout: float = 30.0
    stream_list: bool = True  # WatchList, where the server has it
    inactivity: float = 70.0  # the server sends a bookmark each minute
    shortest_watch: int = 280  # the server is asked to end a watch after a time between these
    longest_watch: int = 560
    slice: float = 0.005  # the event loop is given a chance at least this often
    backoff_base: float = 0.5
    backoff_cap: float = 30.0


class Reflector(Generic[T]):
    """Lists and watches one path. `run` it as a task."""

    def __init__(
        self,
        client: ApiClient,
        path: str,
        *,
        decode: Callable[[msgspec.Raw], T],
        key: Callable[[T], str],
        sink: Sink[T],
        selectors: Query = NO_QUERY,
        report: Report = _unreported,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """`selectors` are `labelSelector` and `fieldSelector`; `decode` may raise, `sink` must not."""
        self._client = client
        self._path = path
        self._selectors = selectors
        self._report = report
        self._pace = pace or Pace()
        self._clock = clock
        self._sleep = sleep
        self._draw = draw
        self._mirror = Mirror(decode, key, sink, self._undecodable)
        self._backoff = Backoff(self._pace.backoff_base, self._pace.backoff_cap, draw)
        self._stream_list = self._pace.stream_list
        self._version: str | None = None  # to resume from; None: list first
        self._heard_at = self._sliced_at = clock()
        self.synced = False  # everything has been seen at least once
        self.relists = 0  # listings after the first
        self.decode_errors = 0
        self.disconnects = 0  # episodes that ended otherwise than by the server's own time limit

    def __len__(self) -> int:
        """How many objects are there, as far as known."""
        return len(self._mirror)

    @property
    def last_event_age(self) -> float:
        """Seconds since the server last said something (a bookmark counts), or since the start."""
        return self._clock() - self._heard_at

    async def run(self) -> None:
        """Follows until cancelled."""
        while True:
            wait = await self._episode()
            if wait > 0:
                await self._sleep(wait)

    async def _episode(self) -> float:
        """One connection, with a listing before if need be. Returns the seconds to wait before the next."""
        try:
            if self._version is None and not self._stream_list:
                await self._list()
            await self._watch()
        except Refused as refused:
            return self._refused(refused)
        except Unreadable as error:
            self._version = None
            return self._failed("unreadable", str(error))
        except NO_ANSWER as error:
            return self._failed("disconnected", f"{type(error).__name__}: {error}")
        return 0.0

    def _refused(self, refused: Refused) -> float:
        listing = self._version is None
        match refused.outcome:
            case Retry(after=after):
                return self._failed("refused", str(refused), after)
            case Gone():
                self._version = None
                return self._failed("expired", str(refused))
        self._version = None
        if listing and self._stream_list and refused.status in (400, 422):
            self._stream_list = False  # the server does not know WatchList: in pages, at once
            return 0.0
        return self._failed("refused", str(refused))

    def _failed(self, trouble: Trouble, details: str, at_least: float = 0.0) -> float:
        self.disconnects += 1
        self._report(trouble, f"{self._path}: {details}")
        wait = self._backoff.failed(at_least)
        if self._backoff.failures >= RELIST_AFTER:
            self._version = None
        return wait

    async def _list(self) -> None:
        self._mirror.begin()
        version = ""
        of = pages(self._client, self._path, self._selectors, limit=self._pace.page, within=self._pace.page_timeout)
        async for page in of:
            self._heard_at = self._clock()
            version = page.metadata.resourceVersion
            for raw in page.items or ():
                self._mirror.show(raw)
                await self._breathe()
        self._listed(version)

    def _listed(self, version: str) -> None:
        self._mirror.end()
        self._version = version
        if self.synced:
            self.relists += 1
        self.synced = True

    async def _watch(self) -> None:
        query = {
            **self._selectors,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._watch_seconds()),
        }
        if self._version is None:
            self._mirror.begin()
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        else:
            query["resourceVersion"] = self._version
        silent = True
        async with self._client.stream(self._path, query, inactivity=self._pace.inactivity) as chunks:
            async for line in lines(chunks):
                silent = False
                self._take(line)
                await self._breathe()
        if silent or self._version is None:
            raise ConnectionResetError("the server ended the watch before it began")

    def _watch_seconds(self) -> int:
        shortest, longest = self._pace.shortest_watch, self._pace.longest_watch
        return shortest + int((longest - shortest) * self._draw())

    def _take(self, line: bytes) -> None:
        event = read_event(line)
        self._heard_at = self._clock()
        match event.type:
            case "ADDED" | "MODIFIED":
                self._advance(self._mirror.show(event.object))
            case "DELETED":
                self._advance(self._mirror.hide(event.object))
            case "BOOKMARK":
                self._bookmark(event.object)
            case "ERROR":
                raise status_of(event.object)
            case _:
                raise Unreadable(f"an event of type {event.type!r}")

    def _bookmark(self, raw: msgspec.Raw) -> None:
        meta = read_meta(raw)
        if self._mirror.listing and ends_initial_events(meta):
            self._listed(meta.resourceVersion)
        self._advance(meta.resourceVersion)

    def _advance(self, version: str) -> None:
        """The stream has come to this version; while it lists there is none to resume from yet."""
        if self._mirror.listing or not version:
            return
        self._version = version
        self._backoff.succeeded()

    def _undecodable(self, details: str) -> None:
        self.decode_errors += 1
        self._report("undecodable", f"{self._path}: {details}")

    async def _breathe(self) -> None:
        if self._clock() - self._sliced_at >= self._pace.slice:
            await asyncio.sleep(0)
            self._sliced_at = self._clock()
