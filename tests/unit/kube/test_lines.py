"""Lines out of chunks, and the wait after failures."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairberth.kube.backoff import Backoff
from fairberth.kube.lines import lines


async def _chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def _split(*parts: bytes) -> list[bytes]:
    async def collect() -> list[bytes]:
        return [line async for line in lines(_chunks(*parts))]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([b"a\nb\n"], [b"a", b"b"], id="two in one chunk"),
        pytest.param([b"a", b"b\n", b"c", b"\n"], [b"ab", b"c"], id="cut anywhere"),
        pytest.param([b"a\n\n\nb\n"], [b"a", b"b"], id="empty lines are left out"),
        pytest.param([b"a\nb"], [b"a"], id="an unfinished last line is left out"),
        pytest.param([], [], id="nothing at all"),
        pytest.param([b"x" * 300_000, b"y" * 300_000 + b"\n"], [b"x" * 300_000 + b"y" * 300_000], id="a huge line"),
    ],
)
def test_lines_of(parts: list[bytes], expected: list[bytes]) -> None:
    assert _split(*parts) == expected


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)), st.lists(st.integers(0, 200)))
def test_where_the_chunks_are_cut_does_not_matter(whole: list[bytes], cuts: list[int]) -> None:
    text = b"".join(line + b"\n" for line in whole)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(bounds)]
    assert _split(*parts) == whole


@pytest.mark.parametrize(
    ("draw", "waits"),
    [
        pytest.param(0.0, [0.5, 1.0, 2.0, 4.0, 4.0], id="half of it at least"),
        pytest.param(1.0, [1.0, 2.0, 4.0, 8.0, 8.0], id="all of it at most"),
    ],
)
def test_the_wait_doubles_up_to_the_cap_with_jitter(draw: float, waits: list[float]) -> None:
    backoff = Backoff(base=1.0, cap=8.0, draw=lambda: draw)
    assert [backoff.failed() for _ in waits] == waits


def test_the_wait_is_no_shorter_than_the_server_asked_for() -> None:
    assert Backoff(base=1.0, cap=8.0, draw=lambda: 0.0).failed(at_least=5.0) == 5.0


def test_after_a_success_the_wait_begins_anew() -> None:
    backoff = Backoff(base=1.0, cap=8.0, draw=lambda: 1.0)
    backoff.failed()
    backoff.failed()
    backoff.succeeded()
    assert backoff.failures == 0
    assert backoff.failed() == 1.0


def test_thousands_of_failures_do_not_overflow() -> None:
    backoff = Backoff(base=1.0, cap=8.0, draw=lambda: 1.0)
    assert {backoff.failed() for _ in range(5_000)} == {1.0, 2.0, 4.0, 8.0}
