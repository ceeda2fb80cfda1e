"""A reflector that follows a scripted server, with everything it does written down."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import msgspec

from fairberth.kube.watch import Pace, Reflector, Trouble
from tests.unit.kube.clock import Clock
from tests.unit.kube.stub import PODS, WITHIN, Answer, Object, Stub, client_of

STREAMED = Pace(inactivity=WITHIN, page_timeout=WITHIN, backoff_base=1.0, backoff_cap=8.0)
PAGED = replace(STREAMED, stream_list=False)


class Follower:
    """The sink of the reflector: `+name@version`, `-key`, `synced`; and its waits and troubles."""

    def __init__(self) -> None:
        """`reflector` and `stub` are set once they run."""
        self.heard: list[str] = []
        self.clock = Clock()
        self.waits: list[float] = []
        self.troubles: list[tuple[Trouble, str]] = []
        self.reflector: Reflector[Object]
        self.stub: Stub
        self._changed = asyncio.Event()

    def seen(self, value: Object) -> None:
        """An object is there."""
        self._note(f"+{value['metadata']['name']}@{value['metadata']['resourceVersion']}")

    def gone(self, key: str) -> None:
        """An object is gone."""
        self._note(f"-{key}")

    def synced(self) -> None:
        """All have been told."""
        self._note("synced")

    def report(self, trouble: Trouble, details: str) -> None:
        """Something went wrong."""
        self.troubles.append((trouble, details))

    async def sleep(self, seconds: float) -> None:
        """Does not wait: writes it down and moves the clock."""
        self.waits.append(seconds)
        await self.clock.sleep(seconds)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Returns once that holds; checked whenever something is heard or asked. TimeoutError if it never does."""
        async with asyncio.timeout(WITHIN):
            while not holds():
                self._changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), 0.01)

    async def until_heard(self, *heard: str) -> None:
        """Returns once exactly this has been heard; AssertionError if something else was."""
        await self.until(lambda: len(self.heard) >= len(heard))
        assert self.heard == list(heard)

    async def until_asked(self, times: int) -> None:
        """Returns once the server has had that many requests."""
        await self.until(lambda: len(self.stub.asked) >= times)

    def _note(self, what: str) -> None:
        self.heard.append(what)
        self._changed.set()


def decode(raw: msgspec.Raw) -> Object:
    """Refuses objects that are marked bad."""
    value: Object = msgspec.json.decode(raw)
    if value.get("bad"):
        raise ValueError("spec.x: bad")
    return value


@asynccontextmanager
async def following(
    script: Iterable[Answer],
    pace: Pace = PAGED,
    draw: Callable[[], float] = lambda: 0.5,
    selectors: dict[str, str] | None = None,
) -> AsyncIterator[Follower]:
    """Runs a reflector against a stub with this script."""
    follower = Follower()
    async with Stub(script).serving() as follower.stub, client_of(follower.stub.url) as client:
        follower.reflector = Reflector(
            client,
            PODS,
            decode=decode,
            key=lambda value: str(value["metadata"]["uid"]),
            sink=follower,
            selectors=selectors or {},
            report=follower.report,
            pace=pace,
            clock=follower.clock,
            sleep=follower.sleep,
            draw=draw,
        )
        running = asyncio.create_task(follower.reflector.run())
        try:
            yield follower
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
