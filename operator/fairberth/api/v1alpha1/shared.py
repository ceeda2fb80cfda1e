"""What the kinds share: the base model, markers, bounded field types, status parts.

A rule stands twice, side by side: in CEL for the API server, which refuses what breaks it, and in Python for files and
for what an older schema let in. `tests/contract/crds` holds the two together. Every list, string and map has a bound:
CEL rules are priced by them, and the API server refuses what costs too much. `x-kubernetes-…` markers go into
`json_schema_extra`; `crdgen` carries them over. The text below a field is what `kubectl explain` shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from fairberth.model.amounts import QuantityError, parse_quantity

QUANTITY: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?$"
DURATION: Final = r"^([0-9]+ms|[0-9]+(\.[0-9]{1,3})?[smh])+$"  # whole milliseconds
NAME: Final = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
LABEL_KEY: Final = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
LABEL_VALUE: Final = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
NATIVE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage", "pods")
_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ms|s|m|h)")
_MILLIS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


class Model(BaseModel):
    """Base of every part: camelCase names, unknown fields refused."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, use_attribute_docstrings=True)


class Misfit(ValueError):
    """Fields that are right one by one and wrong together: (path below the model, what is wrong) for each."""

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{path}: {message}" for path, message in self.faults))


def fit(faults: Iterable[tuple[str, str]]) -> None:
    """Raises Misfit if there are any."""
    if found := tuple(faults):
        raise Misfit(found)


# -- markers --------------------------------------------------------------------------------------------------------


def list_map(*keys: str) -> dict[str, Any]:
    """Marks a list as a map keyed by these fields, so that server-side apply merges it."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def rules(*of: tuple[str, str] | tuple[str, str, str]) -> dict[str, Any]:
    """CEL rules: (rule, message), or (rule, message, path of the field below that is at fault)."""
    return {
        "x-kubernetes-validations": [dict(zip(("rule", "message", "fieldPath"), rule, strict=False)) for rule in of]
    }


SET: Final = {"x-kubernetes-list-type": "set"}


def unique(field: str = "") -> Callable[[list[Any]], list[Any]]:
    """Checks that a list names nothing twice, as the API server does for sets and list maps."""

    def check(items: list[Any]) -> list[Any]:
        names = [getattr(item, field) if field else item for item in items]
        below = f".{field}" if field else ""
        fit((f"[{i}]{below}", f"{name!r} is there twice") for i, name in enumerate(names) if name in names[:i])
        return items

    return check


# -- fields ---------------------------------------------------------------------------------------------------------


def _a_quantity(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a quantity such as 500m, 2 or 4Gi (a fraction in quotes)")
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

_KNOWN_RESOURCES = (
    f"self.all(name, name in {list(NATIVE_RESOURCES)} || name.startsWith('hugepages-') || name.contains('/'))",
    f"a resource is one of {', '.join(NATIVE_RESOURCES)}, hugepages-*, or has a domain, as nvidia.com/gpu",
)


def _known_resources(quantities: dict[str, int | str]) -> dict[str, int | str]:
    unknown = (n for n in quantities if n not in NATIVE_RESOURCES and not n.startswith("hugepages-") and "/" not in n)
    fit((name, f"{name!r} is no resource: {_KNOWN_RESOURCES[1]}") for name in unknown)
    return quantities


Quantities = Annotated[
    dict[str, Quantity],
    Field(max_length=16, json_schema_extra=rules(_KNOWN_RESOURCES)),
    AfterValidator(_known_resources),
]
Figures = Annotated[dict[str, Annotated[str, StringConstraints(max_length=64)]], Field(max_length=64)]
"""Quantities as a status shows them."""


def millis(duration: str) -> int:
    """A duration such as ``1m30s`` or ``0.5s`` in milliseconds, exactly. Raises ValueError for what is none."""
    if not re.fullmatch(DURATION, duration):
        raise ValueError("must be a duration such as 50ms, 5s or 1m30s, in whole milliseconds")
    return sum(
        (int(whole) * 1000 + int(f"{part:0<3}")) * _MILLIS[unit] // 1000
        for whole, part, unit in _PART.findall(duration)
    )


def a_duration(value: str) -> str:
    """Checks a duration of a spec: longer than nothing."""
    if not millis(value):
        raise ValueError("must be longer than nothing")
    return value


A_DURATION: Final = ("duration(self) > duration('0s')", "must be longer than nothing")
Duration = Annotated[
    str,
    StringConstraints(max_length=32, pattern=DURATION),
    AfterValidator(a_duration),
    Field(json_schema_extra=rules(A_DURATION)),
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NAME)]
LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317, pattern=LABEL_KEY)]
LabelValue = Annotated[str, StringConstraints(max_length=63, pattern=LABEL_VALUE)]
Level = Annotated[int, Field(ge=0, le=6)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Tally = Annotated[int, Field(ge=0)]

# -- status ---------------------------------------------------------------------------------------------------------


class Condition(Model):
    """A status condition."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=316)]
    """What it is about; `Ready` says whether the object is in force as written."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[
        str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    ]
    """Why, in one word."""
    message: Annotated[str, StringConstraints(max_length=32768)]
    """Why, for people: every fault with the path of its field."""
    last_transition_time: Annotated[
        str, StringConstraints(max_length=64), Field(json_schema_extra={"format": "date-time"})
    ]
    """When `status` last changed."""
    observed_generation: Tally = 0
    """The generation of the object that this is about."""


Conditions = Annotated[list[Condition], Field(max_length=16, json_schema_extra=list_map("type"))]


class InForce(Model):
    """The version that is in force: the last one without faults."""

    generation: Tally
    """Its generation."""
    spec: Annotated[Mapping[str, Any], Field(json_schema_extra={"x-kubernetes-preserve-unknown-fields": True})]
    """Its spec, as written."""


class Status(Model):
    """What every kind's status has."""

    in_force: InForce | None = None
    """The version that is in force: the last one without faults."""
    conditions: Conditions = []
    """What is to be known about the object; `Ready` among them."""
