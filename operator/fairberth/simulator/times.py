"""Virtual time: durations and clock times as people write them, as integer milliseconds and back.

A scenario's time 0 is midnight of its first day, so that a moment reads as a clock time.
"""

from __future__ import annotations

import re
from typing import Final

from fairberth.model.workload import Millis

SECOND: Final[Millis] = 1_000
MINUTE: Final[Millis] = 60 * SECOND
HOUR: Final[Millis] = 60 * MINUTE
DAY: Final[Millis] = 24 * HOUR

_UNITS: Final = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND, "ms": 1}
_DURATION: Final = re.compile(r"(\d+)(d|h|ms|m|s)")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


class TimeError(ValueError):
    """A text that is no duration or clock time; the message quotes it."""


def parse_duration(text: object) -> Millis:
    """``1h30m``, ``45s``, ``200ms`` or ``2d`` in milliseconds. Raises TimeError; a bare number has no unit."""
    raw = str(text).strip()
    parts = _DURATION.findall(raw)
    if not parts or "".join(number + unit for number, unit in parts) != raw:
        raise TimeError(f"{raw!r} is not a duration (examples: 90s, 10m, 1h30m, 2d)")
    return sum(int(number) * _UNITS[unit] for number, unit in parts)


def parse_clock(text: object) -> Millis:
    """``09:30`` or ``09:30:15`` in milliseconds since midnight. Raises TimeError."""
    raw = str(text).strip()
    found = _CLOCK.fullmatch(raw)
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (99, 0, 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise TimeError(f"{raw!r} is not a time of day (examples: 09:30, 14:55:30)")
    return hours * HOUR + minutes * MINUTE + seconds * SECOND


def parse_moment(text: object, start: Millis) -> Millis:
    """A moment of a run that begins at `start`: ``09:30`` is the first such time at or after it, ``+90m`` is that
    long after it. Raises TimeError."""
    raw = str(text).strip()
    if raw.startswith("+"):
        return start + parse_duration(raw[1:])
    try:
        clock = parse_clock(raw)
    except TimeError:
        raise TimeError(f"{raw!r} is not a moment (examples: 09:30, or +90m from the start)") from None
    return clock + -(-(start - clock) // DAY) * DAY if clock < start else clock


def clock(moment: Millis, *, days: bool = False) -> str:
    """``09:30``; with `days` (or from the second day on) ``day 2 09:30``; seconds only where there are any."""
    day, rest = divmod(moment, DAY)
    hours, minutes, seconds = rest // HOUR, rest % HOUR // MINUTE, rest % MINUTE // SECOND
    text = f"{hours:02}:{minutes:02}" + (f":{seconds:02}" if seconds else "")
    return f"day {day + 1} {text}" if days or day else text


def brief(duration: float) -> str:
    """A duration in its two largest units: ``1h30m``, ``45s``, ``0s``."""
    left, parts = round(duration), []
    for unit, size in (("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    if not parts:
        return f"{left}ms" if left else "0s"
    return "".join(parts[:2])
