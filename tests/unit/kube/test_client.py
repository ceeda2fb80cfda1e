"""The client: what goes over the wire, and that nothing waits for ever."""

import asyncio

import pytest

from fairberth.kube.errors import NO_ANSWER, Refused
from fairberth.model.outcomes import Gone
from tests.unit.kube.stub import PODS, SILENCE, Reply, Stream, Stub, client_of, refusal


def test_a_request_carries_authorization_query_and_body() -> None:
    async def scenario() -> None:
        async with Stub([Reply(201, b"made")]).serving() as stub, client_of(stub.url, token="abc") as client:
            answer = await client.request("POST", PODS, b"{}", query={"fieldSelector": "a!=b,c!=d", "dryRun": "All"})
            assert (answer.status, answer.body) == (201, b"made")
            asked = stub.asked[0]
            assert (asked.method, asked.path, asked.body) == ("POST", PODS, b"{}")
            assert asked.query == {"fieldSelector": "a!=b,c!=d", "dryRun": "All"}
            assert asked.headers["Authorization"] == "Bearer abc"
            assert asked.headers["Content-Type"] == "application/json"

    asyncio.run(scenario())


def test_a_refusal_is_an_answer_with_its_retry_after() -> None:
    async def scenario() -> None:
        async with Stub([refusal(429, retry_after="3")]).serving() as stub, client_of(stub.url) as client:
            answer = await client.request("GET", PODS)
            assert (answer.status, answer.retry_after) == (429, "3")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "script", [pytest.param(SILENCE, id="silence"), pytest.param(Reply(dropped=True), id="a hang-up")]
)
def test_no_answer_is_an_error_within_the_timeout(script: Reply | Stream) -> None:
    async def scenario() -> None:
        async with Stub([script, script]).serving() as stub, client_of(stub.url) as client:
            with pytest.raises(NO_ANSWER):
                await client.request("GET", PODS, within=0.05)

    asyncio.run(scenario())


def test_a_redirect_is_not_followed_with_our_credentials() -> None:
    async def scenario() -> None:
        script = [Reply(307, headers={"Location": "/elsewhere"})]
        async with Stub(script).serving() as stub, client_of(stub.url, token="abc") as client:
            assert (await client.request("GET", PODS)).status == 307
            assert len(stub.asked) == 1

    asyncio.run(scenario())


def test_a_stream_that_is_refused_says_what_that_means() -> None:
    async def scenario() -> None:
        async with Stub([refusal(410, "Expired", "too old")]).serving() as stub, client_of(stub.url) as client:
            with pytest.raises(Refused) as refused:
                async with client.stream(PODS, {}, inactivity=5.0):
                    pass
            assert refused.value.status == 410
            assert refused.value.outcome == Gone("410 Expired: too old")

    asyncio.run(scenario())


def test_a_closed_client_stays_closed() -> None:
    async def scenario() -> None:
        async with Stub([Reply(), Reply()]).serving() as stub, client_of(stub.url) as client:
            await client.request("GET", PODS)
            await client.close()
            await client.close()  # twice is once
            with pytest.raises(RuntimeError, match="closed"):
                await client.request("GET", PODS)

    asyncio.run(scenario())
