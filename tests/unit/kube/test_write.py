"""Writes: an outcome for everything, a bounded number at a time."""

import asyncio

import pytest
from aiohttp import web
from kubernetes.client import Configuration

from fairberth.api.requests import STRATEGIC_PATCH, Request
from fairberth.kube.client import ApiClient
from fairberth.kube.credentials import Credentials
from fairberth.kube.write import ApiWriter
from fairberth.model.outcomes import Conflict, Done, Fatal, Gone, Outcome, Retry
from tests.unit.kube.stub import PODS, SILENCE, WITHIN, Answer, Reply, Stub, client_of, refusal

UNGATE = Request("PATCH", f"{PODS}/a", b'{"spec":{}}', STRATEGIC_PATCH)


async def _outcome(answer: Answer, within: float = WITHIN) -> Outcome:
    async with Stub([answer]).serving() as stub, client_of(stub.url) as client:
        return await ApiWriter(client, timeout=within).send(UNGATE)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(Reply(), Done(), id="done"),
        pytest.param(refusal(409, "Conflict", "no"), Conflict("409 Conflict: no"), id="a conflict"),
        pytest.param(refusal(404, "NotFound", "no"), Gone("404 NotFound: no"), id="gone"),
        pytest.param(refusal(422, "Invalid", "no"), Fatal("422 Invalid: no"), id="invalid"),
        pytest.param(
            refusal(429, "TooManyRequests", "no", retry_after="4"),
            Retry(4.0, "429 TooManyRequests: no"),
            id="throttled",
        ),
    ],
)
def test_a_write_is_answered_by_its_outcome(answer: Answer, expected: Outcome) -> None:
    assert asyncio.run(_outcome(answer)) == expected


def test_a_server_that_hangs_up_is_a_retry() -> None:
    assert isinstance(asyncio.run(_outcome(Reply(dropped=True))), Retry)


def test_a_silent_server_is_a_retry_after_the_timeout() -> None:
    outcome = asyncio.run(_outcome(SILENCE, within=0.05))
    assert isinstance(outcome, Retry)
    assert "Timeout" in outcome.message


def test_a_server_that_is_not_there_is_a_retry() -> None:
    async def scenario() -> Outcome:
        async with Stub().serving() as stub:
            url = stub.url
        async with client_of(url) as client:
            return await ApiWriter(client).send(UNGATE)

    assert isinstance(asyncio.run(scenario()), Retry)


def test_the_request_arrives_as_it_was_planned() -> None:
    async def scenario() -> None:
        async with Stub([Reply()]).serving() as stub, client_of(stub.url) as client:
            await ApiWriter(client).send(UNGATE)
            asked = stub.asked[0]
            assert (asked.method, asked.path, asked.body) == (UNGATE.method, UNGATE.path, UNGATE.body)
            assert asked.headers["Content-Type"] == STRATEGIC_PATCH

    asyncio.run(scenario())


def test_each_write_is_observed_with_its_outcome_and_seconds() -> None:
    seen: list[tuple[Request, Outcome, float]] = []
    ticks = iter([10.0, 10.25])

    async def scenario() -> None:
        async with Stub([Reply()]).serving() as stub, client_of(stub.url) as client:
            writer = ApiWriter(client, observe=lambda *what: seen.append(what), clock=lambda: next(ticks))
            await writer.send(UNGATE)

    asyncio.run(scenario())
    assert seen == [(UNGATE, Done(), 0.25)]


class HoldingStub(Stub):
    """Holds every request until three are there."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = 0
        self.most = 0
        self.three = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 3:
            self.three.set()
        await self.three.wait()
        self.inside -= 1
        return web.Response()


def test_no_more_writes_are_in_flight_than_allowed_and_all_arrive() -> None:
    async def scenario() -> None:
        stub = HoldingStub()
        async with stub.serving(), client_of(stub.url) as client, asyncio.timeout(WITHIN):
            writer = ApiWriter(client, in_flight=3)
            outcomes = await asyncio.gather(*(writer.send(UNGATE) for _ in range(12)))
        assert outcomes == [Done()] * 12
        assert stub.most == 3

    asyncio.run(scenario())


def test_after_a_401_the_next_write_shows_a_fresh_token() -> None:
    tokens = iter(["old", "new"])
    now = [0.0]

    async def scenario() -> None:
        async with Stub([refusal(401, "Unauthorized", "no"), Reply()]).serving() as stub:

            def read() -> Configuration:
                configuration = Configuration(host=stub.url)
                configuration.api_key = {"BearerToken": f"bearer {next(tokens)}"}
                return configuration

            async with ApiClient(Credentials(read, lambda: now[0])) as client:
                writer = ApiWriter(client)
                refused = await writer.send(UNGATE)
                assert isinstance(refused, Retry)
                now[0] += refused.after
                assert await writer.send(UNGATE) == Done()
            assert [asked.headers["Authorization"] for asked in stub.asked] == ["Bearer old", "Bearer new"]

    asyncio.run(scenario())
