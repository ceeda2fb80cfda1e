"""FairnessPolicy (fp): how turns are taken. The one named `default` is in force."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from fairberth.api.v1alpha1.shared import (
    LABEL_VALUE,
    Count,
    Duration,
    Level,
    Model,
    Status,
    fit,
    list_map,
    rules,
    unique,
)
from fairberth.model.objects import MOST_BASE_PRIORITY

UNLIMITED = "unlimited"

# -- spec -----------------------------------------------------------------------------------------------------------

_CLASSES_APART = tuple(
    (
        f"self.{more} > self.{less} + {MOST_BASE_PRIORITY}",
        f"must be more than {MOST_BASE_PRIORITY} above {less}, so that no base priority crosses a value class",
        f".{more}",
    )
    for more, less in (("critical", "standard"), ("standard", "batch"))
)


class ValueWeights(Model):
    """What the value classes are worth in a score."""

    model_config = {"json_schema_extra": rules(*_CLASSES_APART)}

    critical: Count = 1000
    """Of critical levels."""
    standard: Count = 300
    """Of standard levels."""
    batch: Count = 100
    """Of batch levels."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        close = (self.critical - self.standard <= MOST_BASE_PRIORITY, self.standard - self.batch <= MOST_BASE_PRIORITY)
        fit((path[1:], said) for (_, said, path), wrong in zip(_CLASSES_APART, close, strict=True) if wrong)
        return self


class Scoring(Model):
    """The terms of a score: value + base priority + aging; beyond `starvationTicks` a pod is forced."""

    value_weights: ValueWeights = ValueWeights()
    """What the value classes are worth."""
    base_priority: Annotated[
        list[Annotated[int, Field(ge=0, le=MOST_BASE_PRIORITY)]], Field(min_length=7, max_length=7)
    ] = [100, 50, 0, 100, 0, 100, 0]
    """By level, from 0 to 6, what a pod has that says no `fairberth.io/base-priority` itself."""
    aging_per_tick: Count = 40
    """What each tick of waiting adds."""
    max_aging_ticks: Count = 10
    """After how many ticks it adds no more."""
    starvation_ticks: Count = 12
    """After how many ticks of waiting a pod is forced: before all that are not."""
    aging_tick: Duration = "1m"
    """How long a tick is."""


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
            **rules(("type(self) != int || int(self) >= 1", f"must be a number from 1, or {UNLIMITED}")),
        }
    ),
]


class Windows(Model):
    """Admissions per round: a tenant's, by weight, and a team's."""

    per_tenant: Window = 2
    """Of the tenant with the smallest weight; the others have more by their weights. Or `unlimited`."""
    per_team: Window = 2
    """Of each team of a tenant. Or `unlimited`."""


class TypeLevel(Model):
    """The base level of a type of work."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=LABEL_VALUE)]
    """The type, as pods say it in their label `fairberth.io/type`."""
    level: Level
    """The base level of such pods."""


_BOOST = r"^[0-6](\.[0-9]{1,2})?$"


def _a_boost(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if (whole or isinstance(value, str)) and re.fullmatch(_BOOST, str(value)):
        return value
    raise ValueError('must be a number of levels from 0 to 6.99 (a fraction in quotes, as "1.5")')


Boost = Annotated[
    int | str,
    BeforeValidator(_a_boost),
    Field(
        json_schema_extra={
            "x-kubernetes-int-or-string": True,
            "pattern": _BOOST,
            "maxLength": 4,
            **rules(("type(self) != int || (int(self) >= 0 && int(self) <= 6)", "must be from 0 to 6")),
        }
    ),
]


def hundredths(levels: int | str) -> int:
    """``2.0`` as 200, exactly."""
    return int(Decimal(levels) * 100)


class FairnessPolicySpec(Model):
    """How turns are taken."""

    scoring: Scoring = Scoring()
    """The terms of a pod's score."""
    fair_band: Count = 500
    """Within how much of the best score the tenant with the smallest debt goes first; 0 is pure score order."""
    windows: Windows = Windows()
    """How many admissions a tenant and a team may have in a round."""
    max_forced: Count = 1
    """How many starving pods of a tenant may go first in a round."""
    round_interval: Duration = "1s"
    """How long there is at most between turns."""
    max_context_boost: Boost = "2.0"
    """By how many levels the contexts of a pod (alert, retry, user waiting) can make it more urgent, all together."""
    types: Annotated[
        list[TypeLevel], Field(max_length=256, json_schema_extra=list_map("name")), AfterValidator(unique("name"))
    ] = []
    """The base levels of types of work."""
    lost_node_timeout: Duration = "5m"
    """How long past its grace a pod on a lost node is still charged."""


# -- status ---------------------------------------------------------------------------------------------------------


class FairnessPolicyStatus(Status):
    """Whether the policy is in force."""


class FairnessPolicy(Model):
    """How turns are taken; the one named `default` is in force."""

    spec: FairnessPolicySpec = FairnessPolicySpec()
    """How turns are taken."""
    status: FairnessPolicyStatus | None = None
    """Whether the policy is in force."""


RULES: tuple[tuple[str, str], ...] = ()
PLURAL, SHORT_NAME = "fairnesspolicies", "fp"
COLUMNS = (
    ("Band", "integer", ".spec.fairBand"),
    ("Window", "string", ".spec.windows.perTenant"),
)
