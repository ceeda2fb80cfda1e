"""Tenant (tn): who shares the cluster, with what weight, and what is theirs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from fairberth.api.v1alpha1.shared import (
    SET,
    Count,
    LabelSelector,
    Level,
    Model,
    Name,
    Quantities,
    Status,
    list_map,
    rules,
)

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

    names: Annotated[list[Name], Field(max_length=256, json_schema_extra=SET)] = []
    selector: LabelSelector | None = None


class Team(Model):
    """A part of the tenant; a pod belongs to the first team that takes it."""

    name: Name
    namespaces: Annotated[list[Name], Field(max_length=64, json_schema_extra=SET)] = []
    selector: LabelSelector | None = None


class Borrowing(Model):
    """Whether the tenant may hold more than its guarantee, and how much more."""

    enabled: bool = True
    limit: Quantities = {}


class Lending(Model):
    """Whether others may use what the guarantee leaves unused, and how much of it."""

    enabled: bool = True
    limit: Quantities = {}


_LIMIT_COVERS_GUARANTEE = (
    "!has(self.limit) || !has(self.guaranteed) || self.guaranteed.all(r, !(r in self.limit) || "
    "quantity(string(self.limit[r])).compareTo(quantity(string(self.guaranteed[r]))) >= 0)",
    "limit must not be below guaranteed",
    ".limit",
)


class Quota(Model):
    """The tenant's claim on one pool. Absent from `guaranteed` means 0, absent from `limit` means unlimited."""

    model_config = {**Model.model_config, "json_schema_extra": rules(_LIMIT_COVERS_GUARANTEE)}

    pool: Name
    guaranteed: Quantities = {}
    limit: Quantities = {}
    borrowing: Borrowing = Borrowing()
    lending: Lending = Lending()


class Backpressure(Model):
    """Bounds on the queue and on pods in flight; absent means none."""

    max_queue: Count | None = None
    max_in_flight: Count | None = None
    on_full: OnFull = OnFull.HOLD


class Levels(Model):
    """Which priority levels the tenant's pods may have."""

    most_urgent: Level = 3
    default: Level = 4


class TenantSpec(Model):
    """What a tenant is given."""

    weight: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    tier: Tier = Tier.SILVER
    parent: Annotated[str, StringConstraints(max_length=63)] = ""
    namespaces: Namespaces = Namespaces()
    teams: Annotated[list[Team], Field(max_length=64, json_schema_extra=list_map("name"))] = []
    quotas: Annotated[list[Quota], Field(max_length=32, json_schema_extra=list_map("pool"))] = []
    backpressure: Backpressure = Backpressure()
    cordoned: bool = False
    levels: Levels = Levels()
    allowed_contexts: Annotated[list[Context], Field(max_length=3, json_schema_extra=SET)] = []


# -- status ---------------------------------------------------------------------------------------------------------


class PoolShare(Model):
    """Where the tenant stands in one pool."""

    pool: Name
    entitled: Quantities = {}
    admitted: Quantities = {}
    borrowed: Quantities = {}


class TenantStatus(Status):
    """Where the tenant stands."""

    pools: Annotated[list[PoolShare], Field(max_length=64, json_schema_extra=list_map("pool"))] = []
    waiting: int = 0
    in_flight: int = 0
    dominant_share: Annotated[str, StringConstraints(max_length=32)] = ""


class Tenant(Model):
    """Shares the cluster with the other tenants, by weight."""

    spec: TenantSpec = TenantSpec()
    status: TenantStatus | None = None


RULES = (("!has(self.spec.parent) || self.spec.parent != self.metadata.name", "spec.parent must be another tenant"),)
PLURAL, SHORT_NAME = "tenants", "tn"
COLUMNS = (
    ("Weight", "integer", ".spec.weight"),
    ("Parent", "string", ".spec.parent"),
    ("In flight", "integer", ".status.inFlight"),
    ("Waiting", "integer", ".status.waiting"),
    ("Share", "string", ".status.dominantShare"),
)
