"""Durations and moments as people write them."""

import pytest

from fairberth.simulator import times
from fairberth.simulator.times import DAY, HOUR, MINUTE, SECOND


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("200ms", 200),
        ("45s", 45 * SECOND),
        ("10m", 10 * MINUTE),
        ("1h30m", 90 * MINUTE),
        ("2d", 2 * DAY),
        ("1d1ms", DAY + 1),
    ],
)
def test_a_duration_is_read(text, millis):
    assert times.parse_duration(text) == millis


@pytest.mark.parametrize("text", ["", "10", "m", "1 h", "-5m", "1.5h", "10min", 600])
def test_what_is_no_duration_is_quoted(text):
    with pytest.raises(times.TimeError, match=f"'{text}' is not a duration"):
        times.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("09:30", 9 * HOUR + 30 * MINUTE, id="later the same day"),
        pytest.param("09:00", 9 * HOUR, id="the start itself"),
        pytest.param("02:00", DAY + 2 * HOUR, id="earlier than the start means the next day"),
        pytest.param("14:55:30", 14 * HOUR + 55 * MINUTE + 30 * SECOND, id="with seconds"),
        pytest.param("+90m", 9 * HOUR + 90 * MINUTE, id="from the start"),
    ],
)
def test_a_moment_is_the_first_such_time_from_the_start_on(text, moment):
    assert times.parse_moment(text, 9 * HOUR) == moment


@pytest.mark.parametrize("text", ["24:00", "9", "noon", "09:60", "09:30:99", "+soon", 895])
def test_what_is_no_moment_is_an_error(text):
    with pytest.raises(times.TimeError):
        times.parse_moment(text, 0)


@pytest.mark.parametrize(
    ("millis", "text"),
    [(0, "0s"), (5, "5ms"), (1_500, "1s"), (90 * SECOND, "1m30s"), (3 * HOUR, "3h"), (DAY + HOUR + SECOND, "1d1h")],
)
def test_a_duration_is_told_in_its_two_largest_units(millis, text):
    assert times.brief(millis) == text


def test_a_clock_time_says_the_day_from_the_second_on():
    assert times.clock(9 * HOUR) == "09:00"
    assert times.clock(9 * HOUR, days=True) == "day 1 09:00"
    assert times.clock(DAY + 9 * HOUR + SECOND) == "day 2 09:00:01"
