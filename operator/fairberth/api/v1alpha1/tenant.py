"""Tenant (tn): who shares the cluster, with what weight, and what is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from fairberth.api.v1alpha1.selectors import LabelSelector
from fairberth.api.v1alpha1.shared import (
    NAME,
    SET,
    Count,
    Figures,
    Level,
    Model,
    Name,
    Quantities,
    Status,
    Tally,
    fit,
    list_map,
    rules,
    unique,
)
from fairberth.model.amounts import parse_quantity

# -- spec -----------------------------------------------------------------------------------------------------------


class Tier(StrEnum):
    """A tenant's tier: how much more urgent its pods are than others'."""

    PLATINUM = "platinum"
    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"


class Context(StrEnum):
    """A context that a tenant's pods may claim."""

    ALERT = "alert"
    RETRY = "retry"
    USER_WAITING = "user-waiting"


class OnFull(StrEnum):
    """What happens to a pod that is created while the queue is full."""

    HOLD = "Hold"
    REJECT = "Reject"


class Namespaces(Model):
    """The namespaces of a tenant: those named, and those whose labels match."""

    names: Annotated[list[Name], Field(max_length=256, json_schema_extra=SET), AfterValidator(unique())] = []
    """Namespaces by name; they need not exist yet. Of two tenants that claim one, the older has it."""
    selector: LabelSelector | None = None
    """Namespaces by their labels."""


class Team(Model):
    """A part of the tenant; a pod belongs to the first team that takes it."""

    name: Name
    """Its name, unique within the tenant."""
    namespaces: Annotated[list[Name], Field(max_length=64, json_schema_extra=SET), AfterValidator(unique())] = []
    """It takes all pods of these namespaces of the tenant."""
    selector: LabelSelector | None = None
    """It takes pods with these labels."""


class Borrowing(Model):
    """Whether the tenant may hold more than its guarantee, and how much more."""

    enabled: bool = True
    """Whether it may."""
    limit: Quantities = {}
    """How much more; a resource that is absent is unlimited."""


class Lending(Model):
    """Whether others may use what the guarantee leaves unused, and how much of it."""

    enabled: bool = True
    """Whether they may."""
    limit: Quantities = {}
    """How much of it; a resource that is absent is unlimited."""


_LIMIT_COVERS_GUARANTEE = (
    "!has(self.limit) || !has(self.guaranteed) || self.guaranteed.all(r, !(r in self.limit) || "
    "quantity(string(self.limit[r])).compareTo(quantity(string(self.guaranteed[r]))) >= 0)",
    "limit must not be below guaranteed",
    ".limit",
)
_LENDS_WHAT_IT_HAS = (
    "!has(self.lending) || !has(self.lending.limit) || self.lending.limit.all(r, has(self.guaranteed) "
    "&& r in self.guaranteed && "
    "quantity(string(self.lending.limit[r])).compareTo(quantity(string(self.guaranteed[r]))) <= 0)",
    "no more can be lent than is guaranteed",
    ".lending.limit",
)


class Quota(Model):
    """The tenant's claim on one pool. Absent from `guaranteed` means 0, absent from `limit` means unlimited."""

    model_config = {"json_schema_extra": rules(_LIMIT_COVERS_GUARANTEE, _LENDS_WHAT_IT_HAS)}

    pool: Name
    """The CapacityPool."""
    guaranteed: Quantities = {}
    """What the tenant can always have, before anybody's surplus is shared; a resource that is absent is 0."""
    limit: Quantities = {}
    """The most that the tenant may hold; a resource that is absent is unlimited."""
    borrowing: Borrowing = Borrowing()
    """Whether the tenant may hold more than its guarantee, and how much more."""
    lending: Lending = Lending()
    """Whether others may use what the guarantee leaves unused, and how much of it."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        fit(self._misfits())
        return self

    def _misfits(self) -> Iterator[tuple[str, str]]:
        guaranteed = {name: parse_quantity(name, text) for name, text in self.guaranteed.items()}
        for name, text in self.limit.items():
            if parse_quantity(name, text) < guaranteed.get(name, 0):
                yield f"limit.{name}", f"must not be below guaranteed ({self.guaranteed[name]})"
        for name, text in self.lending.limit.items():
            if name not in guaranteed or parse_quantity(name, text) > guaranteed[name]:
                yield f"lending.limit.{name}", f"{_LENDS_WHAT_IT_HAS[1]} ({self.guaranteed.get(name, 0)})"


class Backpressure(Model):
    """Bounds on the queue and on pods in flight; absent means none."""

    max_queue: Count | None = None
    """How many pods may wait."""
    max_in_flight: Count | None = None
    """How many pods may be admitted and not yet ended."""
    on_full: OnFull = OnFull.HOLD
    """What happens to a pod that is created while the queue is full: it waits (Hold), or is refused (Reject)."""


class Levels(Model):
    """Which priority levels the tenant's pods may have."""

    most_urgent: Level = 3
    """The most urgent level that any of its pods can reach, whatever their labels say."""
    default: Level = 4
    """The level of a pod that says nothing about itself."""


class TenantSpec(Model):
    """What a tenant is given."""

    weight: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Its share of what is not guaranteed to anybody, relative to the other tenants' weights."""
    tier: Tier = Tier.SILVER
    """How much more urgent its pods are than others': platinum by a level, gold by half; bronze is half less."""
    parent: Annotated[str, StringConstraints(max_length=63, pattern=rf"^$|{NAME}")] = ""
    """The tenant that this one is a part of: its quotas bound all parts together."""
    namespaces: Namespaces = Namespaces()
    """The namespaces whose pods are this tenant's."""
    teams: Annotated[
        list[Team], Field(max_length=64, json_schema_extra=list_map("name")), AfterValidator(unique("name"))
    ] = []
    """Parts of the tenant that take turns within it."""
    quotas: Annotated[
        list[Quota], Field(max_length=32, json_schema_extra=list_map("pool")), AfterValidator(unique("pool"))
    ] = []
    """Its claims, by pool. In a pool without one it has no guarantee and no limit, and may borrow."""
    backpressure: Backpressure = Backpressure()
    """Bounds on its queue and on its pods in flight."""
    cordoned: bool = False
    """Whether nothing new of it is admitted; what runs goes on."""
    levels: Levels = Levels()
    """Which priority levels its pods may have."""
    allowed_contexts: Annotated[
        list[Context], Field(max_length=3, json_schema_extra=SET), AfterValidator(unique())
    ] = []
    """The contexts that make its pods more urgent when they claim them; others are ignored."""


# -- status ---------------------------------------------------------------------------------------------------------


class PoolShare(Model):
    """Where the tenant stands in one pool."""

    pool: Name
    """The CapacityPool."""
    entitled: Figures = {}
    """Its fair share now: its guarantee, and its part of the surplus."""
    admitted: Figures = {}
    """What its pods hold, admitted and not yet ended."""
    borrowed: Figures = {}
    """What of it is above the guarantee."""


class TenantStatus(Status):
    """Where the tenant stands."""

    pools: Annotated[list[PoolShare], Field(max_length=256, json_schema_extra=list_map("pool"))] = []
    """Where the tenant stands, by pool."""
    waiting: Tally = 0
    """How many of its pods wait for their turn."""
    in_flight: Tally = 0
    """How many of its pods are admitted and not yet ended."""
    dominant_share: Annotated[str, StringConstraints(max_length=32)] = ""
    """The largest part that it holds of any resource of any pool."""


class Tenant(Model):
    """Shares the cluster with the other tenants, by weight."""

    spec: TenantSpec = TenantSpec()
    """What the tenant is given."""
    status: TenantStatus | None = None
    """Where the tenant stands."""


LONGEST_NAME = 63  # it is a label's value on the tenant's namespaces
RULES = (
    (
        "!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",
        "must be another tenant",
        ".spec.parent",
    ),
    (f"size(self.metadata.name) <= {LONGEST_NAME}", f"metadata.name must be at most {LONGEST_NAME} characters long"),
)
PLURAL, SHORT_NAME = "tenants", "tn"
COLUMNS = (
    ("Weight", "integer", ".spec.weight"),
    ("Parent", "string", ".spec.parent"),
    ("In flight", "integer", ".status.inFlight"),
    ("Waiting", "integer", ".status.waiting"),
    ("Share", "string", ".status.dominantShare"),
)
