"""Leader election: never two leaders by anybody's clock, and a new one when the old one is gone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from fairberth.kube.lease import Lease
from tests.unit.kube.clock import Clock
from tests.unit.kube.lease_server import LeaseServer, lead
from tests.unit.kube.stub import WITHIN, client_of

Contender = Callable[[str], Awaitable[Lease]]


class Election:
    """A lease server, a clock, and as many contenders as the test asks for."""

    def __init__(self, server: LeaseServer, stack: AsyncExitStack) -> None:
        self.server = server
        self.clock = Clock()
        self.changes: list[str] = []
        self.troubles: list[str] = []
        self._stack = stack

    async def contender(self, identity: str, clock: Clock | None = None, clock_is_off_by: int = 0) -> Lease:
        client = await self._stack.enter_async_context(client_of(self.server.url))
        clock = clock or self.clock
        noon = datetime(2026, 1, 1, 12 + clock_is_off_by, tzinfo=UTC) - timedelta(seconds=clock.now)
        return Lease(
            client,
            "fairberth",
            "turn",
            identity,
            on_change=lambda held: self.changes.append(f"{identity} {'leads' if held else 'lost'}"),
            on_trouble=self.troubles.append,
            clock=clock,
            now=lambda: noon + timedelta(seconds=self.clock.now),
            sleep=clock.sleep,
            draw=lambda: 0.5,
        )


@asynccontextmanager
async def election() -> AsyncIterator[Election]:
    async with LeaseServer().serving() as server, AsyncExitStack() as stack:
        assert isinstance(server, LeaseServer)
        yield Election(server, stack)


def run(scenario: Callable[[Election], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(WITHIN), election() as it:
            await scenario(it)

    asyncio.run(whole())


def test_the_first_creates_the_lease_and_leads() -> None:
    async def scenario(it: Election) -> None:
        assert await lead(await it.contender("a"))
        assert it.changes == ["a leads"]
        assert it.server.lease is not None
        assert it.server.lease["metadata"]["name"] == "turn"
        assert it.server.spec == {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-01T12:00:00.000000Z",
            "renewTime": "2026-01-01T12:00:00.000000Z",
            "leaseTransitions": 0,
        }

    run(scenario)


def test_of_two_only_one_leads_for_as_long_as_it_renews() -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a"), await it.contender("b")
        assert await lead(a)
        for _ in range(60):
            it.clock.now += 1
            assert await lead(a)
            assert not await lead(b)
        assert b.holder == "a"
        assert it.changes == ["a leads"]

    run(scenario)


def test_another_takes_over_a_whole_duration_after_the_last_change_that_it_saw() -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a"), await it.contender("b")
        assert await lead(a)
        it.clock.now += 5
        assert not await lead(b)
        it.clock.now += 14.9
        assert not await lead(b)
        it.clock.now += 0.1
        assert await lead(b)
        assert it.server.spec["holderIdentity"] == "b"
        assert it.server.spec["leaseTransitions"] == 1
        assert not await lead(a)
        assert it.changes == ["a leads", "b leads", "a lost"]

    run(scenario)


@pytest.mark.parametrize("hours", [-10, 11])
def test_the_times_that_a_lease_carries_do_not_matter(hours: int) -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a", clock_is_off_by=hours), await it.contender("b")
        assert await lead(a)
        assert not await lead(b)
        it.clock.now += 14
        assert not await lead(b)
        it.clock.now += 1
        assert await lead(b)

    run(scenario)


def test_a_holder_that_stalls_stops_leading_by_itself_before_another_can() -> None:
    async def scenario(it: Election) -> None:
        stalled, other = await it.contender("a"), await it.contender("b")
        assert await lead(stalled)
        assert not await lead(other)
        it.clock.now += 9.9
        assert stalled.held
        it.clock.now += 0.1  # nobody has told it anything: it only looks at the clock
        assert not stalled.held
        assert not await lead(other)
        it.clock.now += 5
        assert await lead(other)
        assert not stalled.held

    run(scenario)


def test_a_renewal_counts_from_when_it_was_begun() -> None:
    class Slow(Clock):
        """Four seconds pass between two looks at it."""

        def __call__(self) -> float:
            self.now += 4
            return self.now

    async def scenario(it: Election) -> None:
        clock = Slow()
        lease = await it.contender("a", clock)
        began = clock.now + 4
        await lease.contend()
        looks = 0
        while lease.held:
            looks += 1
        assert clock.now - began >= 10
        assert looks <= 2

    run(scenario)


def test_a_holder_that_cannot_renew_loses_it_at_the_deadline_and_leads_again_if_nobody_took_it() -> None:
    async def scenario(it: Election) -> None:
        a = await it.contender("a")
        assert await lead(a)
        it.server.failing = 503
        it.clock.now += 8
        assert await lead(a)
        it.clock.now += 2
        assert not await lead(a)
        it.server.failing = 0
        assert await lead(a)
        assert it.changes == ["a leads", "a lost", "a leads"]
        assert len(it.troubles) == 2

    run(scenario)


def test_a_write_that_somebody_else_came_before_is_no_success() -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a"), await it.contender("b")
        assert await lead(a)
        assert not await lead(b)
        it.clock.now += 15
        it.server.version_moved_before_write = True
        assert not await lead(b)
        assert "Conflict" in it.troubles[-1]
        it.server.version_moved_before_write = False
        assert await lead(b)

    run(scenario)


def test_a_lease_that_was_taken_away_is_lost_at_the_next_look() -> None:
    async def scenario(it: Election) -> None:
        a = await it.contender("a")
        assert await lead(a)
        it.server.spec["holderIdentity"] = "somebody"
        assert not await lead(a)
        assert a.holder == "somebody"

    run(scenario)


def test_a_released_lease_is_taken_at_once() -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a"), await it.contender("b")
        assert await lead(a)
        assert not await lead(b)
        await a.release()
        assert not a.held
        assert it.server.spec["holderIdentity"] == ""
        assert await lead(b)
        assert it.changes == ["a leads", "a lost", "b leads"]

    run(scenario)


def test_releasing_what_another_holds_leaves_it_alone() -> None:
    async def scenario(it: Election) -> None:
        a, b = await it.contender("a"), await it.contender("b")
        assert await lead(a)
        assert not await lead(b)
        it.clock.now += 15
        assert await lead(b)
        await a.release()
        assert it.server.spec["holderIdentity"] == "b"

    run(scenario)


def test_what_others_wrote_on_the_lease_is_kept() -> None:
    async def scenario(it: Election) -> None:
        a = await it.contender("a")
        await lead(a)
        it.server.spec["strategy"] = "OldestEmulationVersion"
        await lead(a)
        assert it.server.spec["strategy"] == "OldestEmulationVersion"
        assert it.server.lease is not None
        assert it.server.lease["metadata"]["labels"] == {"kept": "yes"}

    run(scenario)


@pytest.mark.parametrize("broken", [{"spec": {"holderIdentity": 7}}, {"spec": []}, {}])
def test_an_unreadable_lease_is_trouble_and_nobody_leads(broken: dict[str, object]) -> None:
    async def scenario(it: Election) -> None:
        it.server.lease = broken
        assert not await lead(await it.contender("a"))
        assert len(it.troubles) == 1

    run(scenario)


def test_running_renews_until_cancelled_and_then_releases() -> None:
    async def scenario(it: Election) -> None:
        a = await it.contender("a")
        running = asyncio.create_task(a.run())
        await a.wait_held()
        await it.clock.until_slept(5)
        assert a.held
        assert it.server.writes >= 5
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        assert not a.held
        assert it.server.spec["holderIdentity"] == ""
        assert it.troubles == []

    run(scenario)


def test_waiting_ends_when_a_lapsed_lease_is_renewed() -> None:
    async def scenario(it: Election) -> None:
        a = await it.contender("a")
        assert await lead(a)
        it.clock.now += 12
        waiting = asyncio.create_task(a.wait_held())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert await lead(a)
        await waiting

    run(scenario)


def test_it_asks_again_every_two_seconds_as_holder_and_with_jitter_as_contender() -> None:
    async def scenario(it: Election) -> None:
        it.server.failing = 500
        a = await it.contender("a")
        running = asyncio.create_task(a.run())
        await it.clock.until_slept(2)
        it.server.failing = 0
        await a.wait_held()
        before = len(it.clock.slept)
        await it.clock.until_slept(before + 3)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        assert it.clock.slept[:2] == [3.2, 3.2]
        assert it.clock.slept[-2:] == [2.0, 2.0]

    run(scenario)
