"""FairnessPolicy (fp): how turns are taken. The one named `default` is in force."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from fairberth.api.v1alpha1.shared import Count, Duration, Level, Model, Status, list_map

UNLIMITED = "unlimited"

# -- spec -----------------------------------------------------------------------------------------------------------


class ValueWeights(Model):
    """What the value classes are worth in a score."""

    critical: Count = 1000
    standard: Count = 300
    batch: Count = 100


class Scoring(Model):
    """The terms of a score: value + base priority + aging; beyond `starvationTicks` a pod is forced."""

    value_weights: ValueWeights = ValueWeights()
    base_priority: Annotated[list[Annotated[int, Field(ge=0, le=100)]], Field(min_length=7, max_length=7)] = [
        100,
        50,
        0,
        100,
        0,
        100,
        0,
    ]
    aging_per_tick: Count = 40
    max_aging_ticks: Count = 10
    starvation_ticks: Count = 12
    aging_tick: Duration = "1m"


def _a_window(value: Any) -> Any:
    if value == UNLIMITED or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError(f"must be a number from 1, or `{UNLIMITED}`")


Window = Annotated[
    int | str,
    BeforeValidator(_a_window),
    Field(
        json_schema_extra={
            "x-kubernetes-int-or-string": True,
            "pattern": rf"^{UNLIMITED}$",
            "maxLength": 9,
            "x-kubernetes-validations": [
                {
                    "rule": f"type(self) == int ? int(self) >= 1 : string(self) == '{UNLIMITED}'",
                    "message": f"must be a number from 1, or {UNLIMITED}",
                }
            ],
        }
    ),
]


class Windows(Model):
    """Admissions per round: a tenant's, by weight, and a team's."""

    per_tenant: Window = 2
    per_team: Window = 2


class TypeLevel(Model):
    """The base level of a type of work."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    level: Level


class FairnessPolicySpec(Model):
    """How turns are taken."""

    scoring: Scoring = Scoring()
    fair_band: Count = 500
    windows: Windows = Windows()
    max_forced: Count = 1
    round_interval: Duration = "1s"
    max_context_boost: Annotated[str, StringConstraints(max_length=5, pattern=r"^[0-6](\.[0-9]{1,2})?$")] = "2.0"
    types: Annotated[list[TypeLevel], Field(max_length=256, json_schema_extra=list_map("name"))] = []
    lost_node_timeout: Duration = "5m"


def hundredths(decimal: str) -> int:
    """``2.0`` as 200, exactly."""
    return int(Decimal(decimal) * 100)


# -- status ---------------------------------------------------------------------------------------------------------


class FairnessPolicyStatus(Status):
    """Whether the policy is in force."""


class FairnessPolicy(Model):
    """How turns are taken; the one named `default` is in force."""

    spec: FairnessPolicySpec = FairnessPolicySpec()
    status: FairnessPolicyStatus | None = None


RULES: tuple[tuple[str, str], ...] = ()
PLURAL, SHORT_NAME = "fairnesspolicies", "fp"
COLUMNS = (
    ("Band", "integer", ".spec.fairBand"),
    ("Window", "string", ".spec.windows.perTenant"),
)
