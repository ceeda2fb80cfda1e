"""What the kinds share: the base model, bounded field types, label selectors, status parts.

Every list, string and map has a bound: CEL rules are priced by them, and the API server refuses what costs too much.
`x-kubernetes-…` markers go into `json_schema_extra`; `crdgen` carries them over.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from fairberth.model.amounts import QuantityError, parse_quantity

QUANTITY: Final = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
NAME: Final = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ms|s|m|h)")
_MILLIS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


class Model(BaseModel):
    """Base of every part: camelCase names, unknown fields refused."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


def list_map(*keys: str) -> dict[str, Any]:
    """Marks a list as a map keyed by these fields, so that server-side apply merges it."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def rules(*of: tuple[str, str] | tuple[str, str, str]) -> dict[str, Any]:
    """CEL rules: (rule, message), or (rule, message, path of the field below that is at fault)."""
    return {
        "x-kubernetes-validations": [dict(zip(("rule", "message", "fieldPath"), rule, strict=False)) for rule in of]
    }


SET: Final = {"x-kubernetes-list-type": "set"}


def _a_quantity(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a quantity such as 500m, 2 or 4Gi")
    try:
        amount = parse_quantity("", value)
    except QuantityError as error:
        raise ValueError(str(error)) from None
    if amount < 0 or str(value).startswith("-"):
        raise ValueError("must not be negative")
    return value


Quantity = Annotated[
    int | str,
    BeforeValidator(_a_quantity),
    Field(
        json_schema_extra={
            "x-kubernetes-int-or-string": True,
            "pattern": QUANTITY,
            "maxLength": 32,
            **rules(("quantity(string(self)).compareTo(quantity('0')) >= 0", "must not be negative")),
        }
    ),
]
Quantities = Annotated[dict[str, Quantity], Field(max_length=16)]


def millis(duration: str) -> int:
    """A duration such as ``1m30s`` or ``0.5s`` in whole milliseconds (exact; finer parts are refused)."""
    if not re.fullmatch(DURATION, duration):
        raise ValueError("must be a duration such as 50ms, 5s or 1m30s")
    total = 0
    for whole, part, unit in _PART.findall(duration):
        fraction = int(part or 0) * _MILLIS[unit]
        if fraction % 10 ** len(part):
            raise ValueError("must be whole milliseconds")
        total += int(whole) * _MILLIS[unit] + fraction // 10 ** len(part)
    return total


def _a_duration(value: str) -> str:
    if not millis(value):
        raise ValueError("must be longer than nothing")
    return value


Duration = Annotated[str, StringConstraints(max_length=32, pattern=DURATION), AfterValidator(_a_duration)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NAME)]
Label = Annotated[str, StringConstraints(max_length=317)]
Level = Annotated[int, Field(ge=0, le=6)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class Expression(Model):
    """One expression of a label selector."""

    key: Label
    operator: Annotated[str, StringConstraints(pattern=r"^(In|NotIn|Exists|DoesNotExist)$", max_length=16)]
    values: Annotated[list[Label], Field(max_length=64)] = []


class LabelSelector(Model):
    """A label selector, as everywhere in Kubernetes: all of it must match."""

    match_labels: Annotated[dict[str, Label], Field(max_length=32)] = {}
    match_expressions: Annotated[list[Expression], Field(max_length=32)] = []


class Toleration(Model):
    """A toleration, as in a pod's spec."""

    key: Label = ""
    operator: Annotated[str, StringConstraints(pattern=r"^(Equal|Exists)$", max_length=8)] = "Equal"
    value: Label = ""
    effect: Annotated[str, StringConstraints(pattern=r"^(|NoSchedule|PreferNoSchedule|NoExecute)$", max_length=20)] = ""
    toleration_seconds: int | None = None


class Condition(Model):
    """A status condition."""

    type: Annotated[str, StringConstraints(max_length=316)]
    status: Annotated[str, StringConstraints(pattern=r"^(True|False|Unknown)$", max_length=8)]
    reason: Annotated[str, StringConstraints(max_length=1024)]
    message: Annotated[str, StringConstraints(max_length=32768)]
    last_transition_time: Annotated[
        str, StringConstraints(max_length=64), Field(json_schema_extra={"format": "date-time"})
    ]
    observed_generation: int = 0


Conditions = Annotated[list[Condition], Field(max_length=8, json_schema_extra=list_map("type"))]


class InForce(Model):
    """The version that is in force: the last one without faults."""

    generation: int
    spec: Annotated[dict[str, Any], Field(json_schema_extra={"x-kubernetes-preserve-unknown-fields": True})]


class Status(Model):
    """What every kind's status has."""

    in_force: InForce | None = None
    conditions: Conditions = []
