"""What happened in a run: the life of each pod, and the cluster's state sampled at even intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairberth.model.amounts import Amounts
from fairberth.model.reasons import Reason
from fairberth.model.workload import Millis
from fairberth.simulator.scenario import Scenario


@dataclass(slots=True)
class Life:
    """One pod's. `level` is None until a turn has looked at it."""

    tenant: str
    created: Millis
    run_for: Millis | None
    level: int | None = None
    admitted: Millis | None = None
    ended: Millis | None = None

    def wait(self, end: Millis) -> Millis:
        """How long it waited until its admission, or has waited so far."""
        return (end if self.admitted is None else self.admitted) - self.created


@dataclass(frozen=True, slots=True)
class Sample:
    """A moment. `held` and `fair` are by tenant, over all pools: what its subtree holds, and what it would hold at
    its fair share; `own` is what its own pods hold. `waiting` counts pods by tenant and reason."""

    at: Millis
    held: Mapping[str, Amounts]
    fair: Mapping[str, Amounts]
    own: Mapping[str, Amounts]
    running: Mapping[str, int]
    waiting: Mapping[tuple[str, Reason], int]


@dataclass(slots=True)
class Peak:
    """The largest value of something, and when it was reached first."""

    value: float = 0.0
    at: Millis | None = None

    def see(self, value: float, at: Millis) -> None:
        """Another value."""
        if value > self.value:
            self.value, self.at = value, at


@dataclass(slots=True)
class History:
    """A whole run. `capacity` is that of all pools together."""

    scenario: Scenario
    capacity: Amounts
    pools: Mapping[str, Amounts]
    lives: dict[str, Life] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    turns: int = 0
    rounds: int = 0
    forced: int = 0
    debt: Peak = field(default_factory=Peak)
    deviation: Peak = field(default_factory=Peak)
    backlog: Peak = field(default_factory=Peak)

    def of(self, tenant: str) -> Iterator[Life]:
        """The lives of a tenant's pods, in order of arrival."""
        return (life for life in self.lives.values() if life.tenant == tenant)
