"""The report's values. Shares are *dominant* (of the resource that a tenant has most of), as parts of the cluster."""

from __future__ import annotations

from dataclasses import dataclass

from fairberth.model.workload import Millis
from fairberth.simulator.history import Peak


@dataclass(frozen=True, slots=True)
class Waits:
    """How long pods waited. `starved` counts those that waited for `starvationTicks` or longer."""

    pods: int
    p50: Millis = 0
    p99: Millis = 0
    longest: Millis = 0
    starved: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """What became of a number of pods; all that arrived either wait still, or were admitted, or have ended."""

    arrived: int
    admitted: int
    finished: int
    waits: Waits

    @property
    def waiting(self) -> int:
        """How many wait at the end."""
        return self.arrived - self.admitted


@dataclass(frozen=True, slots=True)
class TenantReport:
    """One tenant (what is below it in the tree included in its shares). Shares are parts of the cluster, 0 to 1;
    `error` is the average distance between both, over the time that it had pods."""

    name: str
    weight: int
    count: Count
    share: float
    fair: float
    error: float
    reasons: tuple[tuple[str, float], ...]  # what its pods waited for: reason and average number of pods, most first


@dataclass(frozen=True, slots=True)
class Phase:
    """From one named moment to the next."""

    name: str
    text: str
    start: Millis
    end: Millis
    count: Count
    used: float  # of the scarcest resource


@dataclass(frozen=True, slots=True)
class Report:
    """All of it. `jain` is Jain's index of held ÷ fair over the tenants with pods (1: everybody has its fair share);
    `used` the average part in use, by resource; `scarcest` the resource that was used most."""

    name: str
    start: Millis
    end: Millis
    count: Count
    tenants: tuple[TenantReport, ...]
    levels: tuple[tuple[int, Count], ...]
    phases: tuple[Phase, ...]
    used: tuple[tuple[str, float], ...]
    scarcest: str
    jain: float
    error: float
    starvation: Millis  # the wait from which on a pod is starving
    debt: Peak
    deviation: Peak
    backlog: Peak
    turns: int
    rounds: int
    forced: int
    batch: frozenset[int]  # the levels of that value class
