"""Times as Kubernetes writes them."""

from __future__ import annotations

import pytest
import yaml

from fairberth.api.times import millis, timestamp
from fairberth.api.v1alpha1 import shared


@pytest.mark.parametrize(
    "written",
    [
        "2023-11-14T22:13:20Z",
        "2023-11-14T22:13:20.000000Z",
        "2023-11-14T23:13:20+01:00",
        "2023-11-14T22:13:20",
        yaml.safe_load("2023-11-14 22:13:20"),
    ],
    ids=["in UTC", "in microseconds", "in another zone", "in no zone", "as YAML reads it"],
)
def test_a_time_is_milliseconds_since_the_epoch(written: str) -> None:
    assert millis(written) == 1_700_000_000_000


def test_parts_of_a_second_are_exact() -> None:
    assert [millis(f"2023-11-14T22:13:20.{part:03}Z") % 1000 for part in range(1000)] == list(range(1000))


def test_a_time_is_written_to_the_second_in_utc() -> None:
    assert timestamp(1_700_000_000_999) == "2023-11-14T22:13:20Z"
    assert timestamp(0) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("written", ["", "soon", "2023-13-01T00:00:00Z", "12"])
def test_what_is_no_time_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        millis(written)


DURATIONS = {
    "50ms": 50,
    "5s": 5_000,
    "1m30s": 90_000,
    "5m0s": 300_000,
    "0.5s": 500,
    "1.001s": 1_001,
    "1.5h": 5_400_000,
    "0.001m": 60,
    "2h3m4s5ms": 7_384_005,
}


@pytest.mark.parametrize(("written", "expected"), DURATIONS.items(), ids=DURATIONS.keys())
def test_a_duration_is_exact_milliseconds(written: str, expected: int) -> None:
    assert shared.millis(written) == expected


@pytest.mark.parametrize("written", ["", "5", "s", "5 s", "-5s", "0.5ms", "1.0001s", "5d", "1e3s", "٥s"])
def test_what_is_no_duration_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        shared.millis(written)
