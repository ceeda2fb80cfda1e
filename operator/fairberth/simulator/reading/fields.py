"""Strict reading of a decoded mapping: each field is asked for by name and type, every fault is collected with its
path, and what nobody asked for is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from fairberth.model.amounts import NOTHING, Amounts, QuantityError, parse_quantity
from fairberth.model.faults import Fault
from fairberth.model.workload import Millis
from fairberth.simulator.times import TimeError, parse_duration

Strings = dict[str, str]


class Fields:
    """A mapping at a path. Reading a field with a fault notes it and gives the default, so that reading goes on."""

    def __init__(self, body: Any, path: str, faults: list[Fault]) -> None:
        self.path = path
        self._faults = faults
        self._asked: set[str] = set()
        self._body: Mapping[Any, Any] = {}
        if isinstance(body, Mapping):
            self._body = body
        else:
            self.fault("", f"must be a mapping of fields, not {_kind(body)}")

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path and name else self.path or name

    def fault(self, name: str, message: str) -> None:
        """Note a fault of a field (or, with "", of the whole)."""
        self._faults.append(Fault(self.at(name), message))

    def has(self, name: str) -> bool:
        """Whether the field is given."""
        return self._body.get(name) is not None

    def raw(self, name: str) -> Any:
        """A field as it is; None where absent."""
        self._asked.add(name)
        return self._body.get(name)

    def text(self, name: str, default: str = "", *, required: bool = False) -> str:
        """A text."""
        value = self.raw(name)
        if value is None:
            if required:
                self.fault(name, "is required")
            return default
        if not isinstance(value, str):
            self.fault(name, f"must be text, not {_kind(value)}: quote it")
            return default
        return value

    def count(self, name: str, default: int, *, least: int = 1, most: int = 100_000) -> int:
        """A whole number within bounds."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.fault(name, f"must be a whole number from {least} to {most}, not {value!r}")
            return default
        return value

    def duration(self, name: str, default: Millis | None = None, *, required: bool = False) -> Millis | None:
        """A duration of more than nothing."""
        value = self.raw(name)
        if value is None:
            if required:
                self.fault(name, "is required")
            return default
        return self._duration(name, value) or default

    def durations(self, name: str) -> tuple[Millis, ...]:
        """One duration, or a list of them."""
        value = self.raw(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            return tuple(d for d in (self._duration(name, value),) if d)
        read = [self._duration(f"{name}[{index}]", item) for index, item in enumerate(value)]
        if not read:
            self.fault(name, "must not be empty")
        return tuple(d for d in read if d)

    def _duration(self, name: str, value: Any) -> Millis | None:
        try:
            duration = parse_duration(value)
        except TimeError as error:
            self.fault(name, str(error))
            return None
        if duration == 0:
            self.fault(name, "must be longer than nothing")
            return None
        return duration

    def strings(self, name: str) -> Strings:
        """A mapping of texts, such as labels."""
        read = {}
        for key, value in self._mapping(name).items():
            if isinstance(key, str) and isinstance(value, str):
                read[key] = value
            else:
                self.fault(f"{name}.{key}", f"must be text, not {_kind(value)}: quote it")
        return read

    def amounts(self, name: str, *, required: bool = False) -> Amounts:
        """A list of resources."""
        if required and not self.has(name):
            self.fault(name, "is required")
        read = {}
        for resource, quantity in self._mapping(name).items():
            try:
                read[str(resource)] = parse_quantity(str(resource), quantity)
            except QuantityError as error:
                self.fault(f"{name}.{resource}", str(error))
                continue
            if read[str(resource)] < 0:
                self.fault(f"{name}.{resource}", f"must not be negative: {quantity}")
        return Amounts(read) if read else NOTHING

    def _mapping(self, name: str) -> Mapping[Any, Any]:
        value = self.raw(name)
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        self.fault(name, f"must be a mapping, not {_kind(value)}")
        return {}

    def items(self, name: str) -> list[Any]:
        """A list as it is; empty where absent."""
        value = self.raw(name)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self.fault(name, f"must be a list, not {_kind(value)}")
        return []

    def each(self, name: str) -> list[Fields]:
        """The mappings of a list."""
        return [Fields(item, f"{self.at(name)}[{index}]", self._faults) for index, item in enumerate(self.items(name))]

    def inner(self, name: str) -> Fields:
        """The mapping at a field; an absent one is empty."""
        value = self.raw(name)
        return Fields({} if value is None else value, self.at(name), self._faults)

    def close(self) -> None:
        """All fields have been asked for: any other is unknown."""
        for name in self._body:
            if name not in self._asked:
                meant = get_close_matches(str(name), sorted(self._asked), n=1)
                hint = f"; did you mean {meant[0]}?" if meant else f" (known: {', '.join(sorted(self._asked))})"
                self.fault(str(name), f"unknown field{hint}")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the truth value {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}"
        case list():
            return "a list"
        case Mapping():
            return "a mapping"
    return str(type(value).__name__)
