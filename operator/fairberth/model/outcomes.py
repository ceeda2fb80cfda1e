"""What became of a write to the API server: classified once, at the edge, into what the caller can do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """Written."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Not written; the same may succeed later. `after` is in seconds."""

    after: float
    message: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Not written: the object is not what the writer thought. Decide again on fresh facts."""

    message: str


@dataclass(frozen=True, slots=True)
class Gone:
    """Not written: the object does not exist (any more)."""

    message: str


@dataclass(frozen=True, slots=True)
class Fatal:
    """Not written, and the same would never be: the server refuses it or forbids it."""

    message: str


Outcome = Done | Retry | Conflict | Gone | Fatal
