"""PrioritySLA (psla): what one of the seven priority levels promises and is allowed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from fairberth.api.v1alpha1.shared import A_DURATION, DURATION, NAME, Level, Model, Status, Tally, a_duration, rules

# -- spec -----------------------------------------------------------------------------------------------------------


class ValueClass(StrEnum):
    """How much the level's work is worth."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BATCH = "batch"


BEST_EFFORT = "bestEffort"


def _a_latency(value: str) -> str:
    return value if value == BEST_EFFORT else a_duration(value)


class PrioritySLASpec(Model):
    """A level."""

    level: Level
    """The level, from 0 (the most urgent) to 6. Each level has one object: a second is told so, and left out."""
    value_class: ValueClass
    """How much its work is worth: it ranks before everything else."""
    max_latency: Annotated[
        str,
        StringConstraints(max_length=32, pattern=rf"^{BEST_EFFORT}$|{DURATION}"),
        AfterValidator(_a_latency),
        Field(json_schema_extra=rules((f"self == '{BEST_EFFORT}' || {A_DURATION[0]}", A_DURATION[1]))),
    ] = BEST_EFFORT
    """How long a pod should wait at most, from creation to admission; bestEffort promises nothing."""
    objective: Annotated[
        str, StringConstraints(max_length=7, pattern=r"^(100(\.0{1,2})?|[0-9]{1,2}(\.[0-9]{1,2})?)%$")
    ] = "99%"
    """How many of its pods should meet that."""
    guarantee: Annotated[int, Field(ge=0, le=100)] = 0
    """How many percent of each pool are kept for the level. All levels together: at most 100."""
    lend_guarantee: bool = True
    """Whether preemptible pods of other levels may use what it leaves unused."""
    preemptible: bool = True
    """Whether its pods may be evicted for others."""
    priority_class_name: Annotated[str, StringConstraints(max_length=253, pattern=rf"^$|{NAME}")] = ""
    """The PriorityClass of its pods; a pod created with it asks for this level."""


# -- status ---------------------------------------------------------------------------------------------------------


class PrioritySLAStatus(Status):
    """How the level does."""

    waiting: Tally = 0
    """How many of its pods wait for their turn."""
    running: Tally = 0
    """How many of its pods are admitted and not yet ended."""


class PrioritySLA(Model):
    """What a priority level promises and is allowed."""

    spec: PrioritySLASpec
    """A level."""
    status: PrioritySLAStatus | None = None
    """How the level does."""


RULES: tuple[tuple[str, str], ...] = ()
PLURAL, SHORT_NAME = "priorityslas", "psla"
COLUMNS = (
    ("Level", "integer", ".spec.level"),
    ("Value", "string", ".spec.valueClass"),
    ("Latency", "string", ".spec.maxLatency"),
    ("Guarantee", "integer", ".spec.guarantee"),
    ("Running", "integer", ".status.running"),
    ("Waiting", "integer", ".status.waiting"),
)
