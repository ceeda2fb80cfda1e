"""Fairberth's own objects as decisions see them: defaults filled in, quantities parsed, nothing optional by accident.

`api/v1alpha1` is the contract that users write; `api/decode.py` turns it into these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Final

from fairberth.model.amounts import NOTHING, UNLIMITED, Amounts, Limits
from fairberth.model.selectors import EVERYTHING, Selector, Toleration

LEVELS: Final = range(7)  # P0 emergency … P6 batch
MOST_BASE_PRIORITY: Final = 100
MICRO: Final = 1_000_000


class ValueClass(IntEnum):
    """How much a level is worth, the most valuable first (an order, so it sorts)."""

    CRITICAL = 0
    STANDARD = 1
    BATCH = 2


class Tier(Enum):
    """A tenant's tier, with what it adds to the raw level (hundredths of a level)."""

    PLATINUM = -100
    GOLD = -50
    SILVER = 0
    BRONZE = 50


@dataclass(frozen=True, slots=True)
class Borrowing:
    """Whether a tenant may hold more than its guarantee, and at most how much more."""

    enabled: bool = True
    limit: Limits = UNLIMITED


@dataclass(frozen=True, slots=True)
class Lending:
    """Whether others may use what a tenant's guarantee leaves unused, and at most how much of it."""

    enabled: bool = True
    limit: Limits = UNLIMITED


@dataclass(frozen=True, slots=True)
class Quota:
    """A tenant's claim on one pool."""

    guaranteed: Amounts = NOTHING
    limit: Limits = UNLIMITED
    borrowing: Borrowing = Borrowing()
    lending: Lending = Lending()


NO_QUOTA: Final = Quota()


@dataclass(frozen=True, slots=True)
class Team:
    """A part of a tenant, told by namespace or by pod labels."""

    name: str
    namespaces: tuple[str, ...] = ()
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class Backpressure:
    """Bounds on a tenant's queue and on its pods in flight (None: no bound)."""

    max_queue: int | None = None
    max_in_flight: int | None = None
    reject_when_full: bool = False


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant. `created` (milliseconds) and then `name` break ties: the older one wins."""

    name: str
    created: int = 0
    weight: int = 1
    tier: Tier = Tier.SILVER
    parent: str = ""
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector | None = None
    teams: tuple[Team, ...] = ()
    quotas: Mapping[str, Quota] = field(default_factory=dict, hash=False)
    backpressure: Backpressure = Backpressure()
    cordoned: bool = False
    most_urgent: int = 3
    default_level: int = 4
    allowed_contexts: frozenset[str] = frozenset()

    def quota(self, pool: str) -> Quota:
        """Its claim on a pool; without one: no guarantee, no limit, borrowing allowed."""
        return self.quotas.get(pool, NO_QUOTA)


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket for a level's admissions. It holds at most `max_concurrent` · `burst` tokens and is refilled by
    `refill` micro-tokens a second; an admission takes one token."""

    max_concurrent: int
    refill: int  # micro-tokens per second
    burst: int = 1

    @property
    def capacity(self) -> int:
        """How many micro-tokens it holds at most."""
        return self.max_concurrent * self.burst * MICRO

    @property
    def off(self) -> bool:
        """A capacity of 0 limits nothing."""
        return self.capacity == 0


@dataclass(frozen=True, slots=True)
class PrioritySLA:
    """What a priority level promises and is allowed."""

    name: str
    level: int
    value: ValueClass
    guarantee: int = 0  # percent of each pool
    lend_guarantee: bool = True
    preemptible: bool = True
    max_latency: int | None = None  # milliseconds; None: best effort
    objective: int = 9900  # hundredths of a percent of pods within max_latency
    priority_class: str = ""
    rate: Rate | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """§5.1: the terms of a pod's score."""

    critical: int = 1000
    standard: int = 300
    batch: int = 100
    base_priority: tuple[int, ...] = (100, 50, 0, 100, 0, 100, 0)  # by level, where the pod says none
    aging_per_tick: int = 40
    max_aging_ticks: int = 10
    starvation_ticks: int = 12
    aging_tick: int = 60_000  # milliseconds

    def weight_of(self, value: ValueClass) -> int:
        """What a value class is worth."""
        return (self.critical, self.standard, self.batch)[value]


@dataclass(frozen=True, slots=True)
class History:
    """§6: decayed usage with a half-life (milliseconds; 0: off), which enters debts with a weight (hundredths)."""

    half_life: int = 0
    weight: int = 100


@dataclass(frozen=True, slots=True)
class LoadBand:
    """§7: a band of load (thousandths), with the level guarantees (percent, by level) and the adjustment of raw levels
    (hundredths) that are in force while a pool is in it."""

    enter: int
    leave: int
    guarantees: tuple[int, ...]
    adjustment: int = 0


@dataclass(frozen=True, slots=True)
class LoadBands:
    """§7: both bands, how long a pool stays in whichever it is in (milliseconds), and of which resources load is."""

    high: LoadBand = LoadBand(800, 750, (30, 25, 20, 15, 7, 3, 0))
    low: LoadBand = LoadBand(300, 350, (15, 10, 10, 15, 15, 15, 20))
    minimum_stay: int = 300_000
    resources: tuple[str, ...] = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class FairnessPolicy:
    """§5: how turns are taken. `None` for a window means unlimited."""

    name: str = "default"
    scoring: Scoring = Scoring()
    fair_band: int = 500
    per_tenant_window: int | None = 2
    per_team_window: int | None = 2
    max_forced: int = 1
    round_interval: int = 1_000  # milliseconds
    max_context_boost: int = 200  # hundredths of a level
    types: Mapping[str, int] = field(default_factory=dict, hash=False)
    lost_node_timeout: int = 300_000  # milliseconds past grace until a pod on a lost node is uncharged
    reservation_timeout: int = 300_000  # milliseconds that room is collected for a starving pod
    max_reserved: int = 25  # percent of a pool that reservations take together at most
    history: History = History()
    load: LoadBands = LoadBands()


class PoolRole(IntEnum):
    """Which pools a route tries first."""

    DEDICATED = 0
    SHARED = 1
    REMOTE = 2


@dataclass(frozen=True, slots=True)
class CapacityPool:
    """A set of nodes. A node that two pools select belongs to the older one."""

    name: str
    created: int = 0
    role: PoolRole = PoolRole.SHARED
    selector: Selector = EVERYTHING
    tolerations: tuple[Toleration, ...] = ()
    levels: frozenset[int] = frozenset(LEVELS)
    max_capacity: Amounts | None = None  # a growable pool's; None: it cannot grow

    @property
    def grows(self) -> bool:
        """Whether an autoscaler adds nodes to it."""
        return self.max_capacity is not None


def shipped_slas() -> tuple[PrioritySLA, ...]:
    """The seven levels as shipped (the chart's PrioritySLA objects say the same; a test holds them together)."""
    critical, standard, batch = ValueClass
    return (
        PrioritySLA("p0-emergency", 0, critical, 20, False, False, 50, 9990, "fairberth-p0"),
        PrioritySLA("p1-interactive", 1, critical, 15, True, False, 200, 9900, "fairberth-p1"),
        PrioritySLA("p2-realtime", 2, critical, 15, True, False, 500, 9900, "fairberth-p2"),
        PrioritySLA("p3-near-realtime", 3, standard, 15, True, True, 5_000, 9900, "fairberth-p3"),
        PrioritySLA("p4-standard", 4, standard, 10, True, True, 30_000, 9900, "fairberth-p4"),
        PrioritySLA("p5-background", 5, batch, 5, True, True, 300_000, 9900, "fairberth-p5"),
        PrioritySLA("p6-batch", 6, batch, 0, True, True, None, 9900, "fairberth-p6"),
    )
