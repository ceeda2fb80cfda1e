"""PrioritySLA (psla): what one of the seven priority levels promises and is allowed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from fairberth.api.v1alpha1.shared import DURATION, Level, Model, Status, millis

# -- spec -----------------------------------------------------------------------------------------------------------


class ValueClass(StrEnum):
    """How much the level's work is worth."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BATCH = "batch"


BEST_EFFORT = "bestEffort"


def _a_latency(value: str) -> str:
    if value != BEST_EFFORT and not millis(value):
        raise ValueError("must be longer than nothing")
    return value


class PrioritySLASpec(Model):
    """A level."""

    level: Level
    value_class: ValueClass
    max_latency: Annotated[
        str,
        StringConstraints(max_length=32, pattern=rf"^{BEST_EFFORT}$|{DURATION}"),
        AfterValidator(_a_latency),
    ] = BEST_EFFORT
    objective: Annotated[str, StringConstraints(max_length=8, pattern=r"^(100|[0-9]{1,2})(\.[0-9]{1,2})?%$")] = "99%"
    guarantee: Annotated[int, Field(ge=0, le=100)] = 0
    lend_guarantee: bool = True
    preemptible: bool = True
    priority_class_name: Annotated[str, StringConstraints(max_length=253)] = ""


# -- status ---------------------------------------------------------------------------------------------------------


class PrioritySLAStatus(Status):
    """How the level does."""

    waiting: int = 0
    running: int = 0


class PrioritySLA(Model):
    """What a priority level promises and is allowed."""

    spec: PrioritySLASpec
    status: PrioritySLAStatus | None = None


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
