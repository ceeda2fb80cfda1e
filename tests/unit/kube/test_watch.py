"""The reflector against a scripted server: whatever happens to the connection, the sink ends up with the truth."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from fairberth.kube.watch import RELIST_AFTER
from tests.unit.kube.follower import PAGED, STREAMED, following
from tests.unit.kube.stub import (
    SILENCE,
    Answer,
    Reply,
    Stream,
    bookmark,
    line,
    page,
    pod,
    refusal,
    status,
)

EXPIRED: Answer = Stream((line("ERROR", status(410, "Expired", "too old resource version")),))


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scenario)


def live(*lines: bytes) -> Answer:
    """A watch that says this, then stays open."""
    return Stream(lines, open=True)


def ended(*lines: bytes) -> Answer:
    """A watch that says this, then is ended by the server."""
    return Stream(lines)


# Listing


def test_a_list_comes_in_pages_and_is_watched_from_its_version() -> None:
    async def scenario() -> None:
        script = [page(pod("a", 3), token="more"), page(pod("b", 4), version=7), live(line("ADDED", pod("c", 8)))]
        async with following(script, selectors={"fieldSelector": "spec.nodeName!="}) as it:
            await it.until_heard("+a@3", "+b@4", "synced", "+c@8")
            first, second, watch = it.stub.queries()
            assert first == {"limit": "250", "fieldSelector": "spec.nodeName!="}
            assert second == {"limit": "250", "continue": "more", "fieldSelector": "spec.nodeName!="}
            assert watch["resourceVersion"] == "7"
            assert watch["allowWatchBookmarks"] == "true"
            assert watch["fieldSelector"] == "spec.nodeName!="
            assert it.reflector.synced
            assert it.reflector.relists == 0
            assert len(it.reflector) == 3

    run(scenario())


def test_it_is_not_synced_before_the_last_page() -> None:
    async def scenario() -> None:
        async with following([page(pod("a", 3), token="more"), SILENCE]) as it:
            await it.until_asked(2)
            await it.until_heard("+a@3")
            assert not it.reflector.synced

    run(scenario())


def test_an_expired_continue_token_starts_the_list_over() -> None:
    async def scenario() -> None:
        script = [
            page(pod("a", 3), pod("b", 3), token="old"),
            refusal(410, "Expired", "the provided continue parameter is too old"),
            page(pod("b", 3), version=9),
        ]
        async with following(script) as it:
            await it.until_heard("+a@3", "+b@3", "-uid-of-a", "synced")
            assert "continue" not in it.stub.queries()[2]
            assert [trouble for trouble, _ in it.troubles] == ["expired"]

    run(scenario())


def test_a_streamed_list_ends_with_its_bookmark() -> None:
    async def scenario() -> None:
        script = [
            live(
                line("ADDED", pod("a", 3)),
                line("ADDED", pod("b", 2)),
                bookmark(7, ends_list=True),
                line("MODIFIED", pod("a", 8)),
            )
        ]
        async with following(script, STREAMED) as it:
            await it.until_heard("+a@3", "+b@2", "synced", "+a@8")
            query = it.stub.queries()[0]
            assert query["sendInitialEvents"] == "true"
            assert query["resourceVersionMatch"] == "NotOlderThan"
            assert "resourceVersion" not in query

    run(scenario())


def test_a_streamed_list_that_breaks_off_is_begun_again_and_was_never_synced() -> None:
    async def scenario() -> None:
        script = [
            ended(line("ADDED", pod("a", 3)), bookmark(4)),
            live(line("ADDED", pod("b", 5)), bookmark(7, ends_list=True)),
        ]
        async with following(script, STREAMED) as it:
            await it.until_heard("+a@3", "+b@5", "-uid-of-a", "synced")
            assert it.stub.queries()[1]["sendInitialEvents"] == "true"
            assert it.reflector.disconnects == 1

    run(scenario())


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_without_streamed_lists_is_listed_in_pages_at_once(code: int) -> None:
    async def scenario() -> None:
        script = [
            refusal(code, "Invalid", "sendInitialEvents is forbidden"),
            page(pod("a", 3), version=7),
            live(),
            EXPIRED,
        ]
        async with following(script, STREAMED) as it:
            await it.until_heard("+a@3", "synced")
            assert it.waits == []
            assert it.troubles == []

    run(scenario())


def test_an_empty_list_is_synced() -> None:
    async def scenario() -> None:
        async with following([Reply(body=b'{"metadata":{"resourceVersion":"5"},"items":null}')]) as it:
            await it.until_heard("synced")

    run(scenario())


# Watching


def test_changes_and_deletions_are_told_in_order() -> None:
    async def scenario() -> None:
        script = [
            page(pod("a", 1), version=1),
            live(line("MODIFIED", pod("a", 2)), line("DELETED", pod("a", 3)), line("ADDED", pod("a", 4, uid="again"))),
        ]
        async with following(script) as it:
            await it.until_heard("+a@1", "synced", "+a@2", "-uid-of-a", "+a@4")

    run(scenario())


def test_a_watch_that_the_server_ends_is_resumed_at_once_from_the_last_version() -> None:
    async def scenario() -> None:
        script = [
            page(version=1),
            ended(line("ADDED", pod("a", 5))),
            ended(bookmark(9)),
            live(line("ADDED", pod("b", 10))),
        ]
        async with following(script) as it:
            await it.until_heard("synced", "+a@5", "+b@10")
            assert [query.get("resourceVersion") for query in it.stub.queries()] == [None, "1", "5", "9"]
            assert it.waits == []
            assert it.reflector.relists == 0

    run(scenario())


def test_lines_may_be_cut_anywhere_and_be_long() -> None:
    long = line("ADDED", pod("long", 2, padding="x" * 600_000))
    text = long + line("ADDED", pod("b", 3)) + bookmark(4)
    chunks = [text[at : at + 50_001] for at in range(0, len(text), 50_001)]

    async def scenario() -> None:
        async with following([page(version=1), ended(*chunks), SILENCE]) as it:
            await it.until_heard("synced", "+long@2", "+b@3")
            await it.until_asked(3)
            assert it.stub.queries()[2]["resourceVersion"] == "4"

    run(scenario())


def test_a_connection_that_breaks_in_mid_line_is_resumed_after_the_last_whole_one() -> None:
    async def scenario() -> None:
        broken = Stream((line("ADDED", pod("a", 5)), line("ADDED", pod("b", 6))[:-9]), broken=True)
        async with following([page(version=1), broken, live(line("ADDED", pod("b", 6)))]) as it:
            await it.until_heard("synced", "+a@5", "+b@6")
            assert it.stub.queries()[2]["resourceVersion"] == "5"
            assert [trouble for trouble, _ in it.troubles] == ["disconnected"]

    run(scenario())


def test_the_server_is_asked_to_end_watches_at_different_times() -> None:
    async def scenario() -> None:
        draws = iter([0.0, 0.999, 0.5])
        script = [page(version=1), ended(bookmark(2)), ended(bookmark(3)), SILENCE]
        async with following(script, draw=lambda: next(draws)) as it:
            await it.until_asked(4)
            assert [query["timeoutSeconds"] for query in it.stub.queries()[1:]] == ["280", "559", "420"]

    run(scenario())


# When it cannot be resumed


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(EXPIRED, id="410 in the stream"),
        pytest.param(refusal(410, "Gone", "too old resource version"), id="410 on opening"),
        pytest.param(ended(b"{not json}\n"), id="a line that is no JSON"),
        pytest.param(ended(b'{"type":"SOMETHING","object":{}}\n'), id="an unknown type of event"),
        pytest.param(ended(b'{"type":"BOOKMARK","object":{}}\n'), id="a bookmark without a version"),
        pytest.param(refusal(403, "Forbidden", "no"), id="refused"),
    ],
)
def test_what_vanished_unseen_is_gone_after_listing_again(end: Answer) -> None:
    async def scenario() -> None:
        script = [page(pod("a", 1), pod("b", 1), version=1), end, page(pod("b", 1), pod("c", 8), version=9), SILENCE]
        async with following(script) as it:
            await it.until_heard("+a@1", "+b@1", "synced", "+c@8", "-uid-of-a", "synced")
            await it.until_asked(4)
            assert it.stub.queries()[3]["resourceVersion"] == "9"
            assert it.reflector.relists == 1
            assert it.reflector.synced

    run(scenario())


def test_a_streamed_list_tells_what_vanished_too() -> None:
    async def scenario() -> None:
        script = [
            ended(line("ADDED", pod("a", 1)), line("ADDED", pod("b", 1)), bookmark(1, ends_list=True)),
            EXPIRED,
            live(line("ADDED", pod("b", 1)), bookmark(9, ends_list=True)),
        ]
        async with following(script, STREAMED) as it:
            await it.until_heard("+a@1", "+b@1", "synced", "-uid-of-a", "synced")

    run(scenario())


def test_a_silent_connection_is_dropped_and_resumed() -> None:
    async def scenario() -> None:
        pace = replace(PAGED, inactivity=0.05)
        script = [page(pod("a", 1), version=1), live(line("MODIFIED", pod("a", 2))), live(line("DELETED", pod("a", 3)))]
        async with following(script, pace) as it:
            await it.until_heard("+a@1", "synced", "+a@2", "-uid-of-a")
            assert it.stub.queries()[2]["resourceVersion"] == "2"
            assert it.troubles[0][0] == "disconnected"
            assert "Timeout" in it.troubles[0][1]

    run(scenario())


def test_after_failures_in_a_row_it_lists_again_instead_of_resuming_for_ever() -> None:
    async def scenario() -> None:
        failures = [refusal(504, "Timeout", "Too large resource version")] * RELIST_AFTER
        async with following([page(pod("a", 1), version=99), *failures, page(version=2), SILENCE]) as it:
            await it.until_heard("+a@1", "synced", "-uid-of-a", "synced")
            versions = [query.get("resourceVersion") for query in it.stub.queries()]
            assert versions[: RELIST_AFTER + 2] == [None, *["99"] * RELIST_AFTER, None]

    run(scenario())


# Backing off


@pytest.mark.parametrize(
    ("draw", "waits"),
    [
        pytest.param(0.0, [0.5, 1.0, 2.0, 4.0, 4.0], id="the shortest"),
        pytest.param(0.999_999, [1.0, 2.0, 4.0, 8.0, 8.0], id="the longest"),
    ],
)
def test_failures_wait_longer_and_longer_within_the_jitter(draw: float, waits: list[float]) -> None:
    async def scenario() -> None:
        failures: list[Answer] = [ended(), Reply(502), ended(), Reply(503), ended()]  # `ended` before it began
        async with following([page(version=1), *failures], draw=lambda: draw) as it:
            await it.until_asked(7)
            assert it.waits == pytest.approx(waits, rel=1e-5)
            assert it.reflector.disconnects == 5

    run(scenario())


def test_the_wait_is_as_long_as_the_server_asks() -> None:
    async def scenario() -> None:
        async with following([refusal(429, "TooManyRequests", "slow down", retry_after="30"), page(version=1)]) as it:
            await it.until_heard("synced")
            assert it.waits == [30.0]

    run(scenario())


def test_after_an_event_the_waits_begin_anew() -> None:
    async def scenario() -> None:
        script = [page(version=1), ended(), ended(), ended(bookmark(2)), ended(), SILENCE]
        async with following(script, draw=lambda: 0.999_999) as it:
            await it.until_asked(6)
            assert it.waits == pytest.approx([1.0, 2.0, 1.0], rel=1e-5)

    run(scenario())


def test_a_list_alone_does_not_begin_the_waits_anew() -> None:
    async def scenario() -> None:
        script = [
            page(version=1),
            EXPIRED,
            page(version=2),
            EXPIRED,
            page(version=3),
            EXPIRED,
            page(version=4),
            SILENCE,
        ]
        async with following(script, draw=lambda: 0.999_999) as it:
            await it.until_asked(8)
            assert it.waits == pytest.approx([1.0, 2.0, 4.0], rel=1e-5)

    run(scenario())


# Objects that can't be used


def test_one_bad_object_in_a_list_does_not_keep_the_others_away() -> None:
    async def scenario() -> None:
        async with following([page(pod("a", 1), pod("bad", 1, bad=True), pod("b", 1)), SILENCE]) as it:
            await it.until_heard("+a@1", "+b@1", "synced")
            assert it.reflector.decode_errors == 1
            assert it.troubles == [("undecodable", "/api/v1/pods: bank/bad: ValueError: spec.x: bad")]

    run(scenario())


def test_one_bad_object_in_a_watch_does_not_end_it() -> None:
    async def scenario() -> None:
        bad = line("ADDED", pod("bad", 2, bad=True))
        headless = b'{"type":"ADDED","object":{"metadata":7}}\n'
        async with following([page(version=1), ended(bad, headless, line("ADDED", pod("b", 4))), SILENCE]) as it:
            await it.until_heard("synced", "+b@4")
            await it.until_asked(3)
            assert it.stub.queries()[2]["resourceVersion"] == "4"
            assert it.reflector.decode_errors == 2
            assert it.reflector.disconnects == 0

    run(scenario())


def test_a_page_that_is_no_list_is_asked_for_again() -> None:
    async def scenario() -> None:
        async with following([Reply(body=b"<html>hello</html>"), page(version=1)]) as it:
            await it.until_heard("synced")
            assert it.troubles[0][0] == "unreadable"

    run(scenario())


# Being a good neighbour on the event loop


def test_a_long_burst_lets_others_run_in_between() -> None:
    async def scenario() -> None:
        burst = b"".join(line("ADDED", pod(f"p{n}", n + 2)) for n in range(200))
        pace = replace(PAGED, slice=0.0)
        async with following([page(*(pod(f"l{n}", 1) for n in range(200)), version=1), live(burst)], pace) as it:
            turns: set[int] = set()
            while len(it.heard) < 401:
                turns.add(len(it.heard))
                await asyncio.sleep(0)
            assert len(turns) > 300

    run(scenario())


# What the metrics say


def test_the_age_of_the_last_event_grows_while_the_server_says_nothing() -> None:
    async def scenario() -> None:
        async with following([page(version=1), SILENCE]) as it:
            await it.until_asked(2)
            it.clock.now += 40
            assert it.reflector.last_event_age == 40

    run(scenario())


def test_a_bookmark_is_an_event_too() -> None:
    async def scenario() -> None:
        async with following([page(version=1), ended(), ended(bookmark(2)), SILENCE]) as it:
            await it.until_asked(4)
            assert it.waits == [0.75]
            assert it.reflector.last_event_age == 0

    run(scenario())
