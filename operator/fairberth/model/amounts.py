"""Amounts of resources: exact integers with a unit per resource name.

cpu counts in milli-cores, everything else in whole units (bytes, devices, pods), rounded up as
kube-scheduler rounds (`k8s.io/component-helpers/resource`). There is no bare ``+``: adding or taking away
is a named operation, so that nobody mixes amounts with limits, where an absent name means something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal, InvalidOperation, localcontext
from typing import Final

CPU: Final = "cpu"
MEMORY: Final = "memory"
PODS: Final = "pods"

_SUFFIXES: Final[Mapping[str, Decimal]] = {
    **{name: Decimal(1024) ** power for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
    **{name: Decimal(1000) ** power for power, name in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    "m": Decimal("1e-3"),
    "u": Decimal("1e-6"),
    "n": Decimal("1e-9"),
}

# A number with a suffix or an exponent, not both (`k8s.io/apimachinery/pkg/api/resource`).
_QUANTITY: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?", re.ASCII)


class QuantityError(ValueError):
    """A text that is not a Kubernetes quantity; the message quotes it."""


def parse_quantity(resource: str, text: str | int | float) -> int:
    """Read a Kubernetes quantity such as ``500m``, ``2Gi`` or ``1e3`` into the unit of its resource.

    Returns milli-cores for cpu, whole units otherwise, rounded up. Raises QuantityError.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text * 1000 if resource == CPU else text
    raw = str(text)
    if _QUANTITY.fullmatch(raw) is None:
        raise QuantityError(f"{raw!r} is not a quantity (examples: 500m, 2, 1.5, 4Gi)")
    number, factor = _split(raw)
    try:
        with localcontext() as context:
            context.prec = 60
            value = Decimal(number) * factor
            if resource == CPU:
                value *= 1000
            if not value.is_finite():
                raise InvalidOperation
            return int(value.to_integral_value(rounding=ROUND_CEILING))
    except InvalidOperation:
        raise QuantityError(f"{raw!r} is not a quantity (examples: 500m, 2, 1.5, 4Gi)") from None


def _split(raw: str) -> tuple[str, Decimal]:
    for width in (2, 1):
        factor = _SUFFIXES.get(raw[-width:])
        if factor is not None and len(raw) > width:
            return raw[:-width], factor
    return raw, Decimal(1)


def format_quantity(resource: str, amount: int) -> str:
    """Write an amount as people read it: ``1500m`` cpu is ``1.5``, bytes take the largest exact binary suffix."""
    if resource == CPU:
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{Decimal(amount).scaleb(-3).normalize():f}"
    if resource in (MEMORY, "ephemeral-storage") or resource.startswith("hugepages-"):
        for suffix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
            unit = int(_SUFFIXES[suffix])
            if amount and amount % unit == 0:
                return f"{amount // unit}{suffix}"
    return str(amount)


class Amounts(Mapping[str, int]):
    """What is asked, held or free, per resource; a name that is absent counts as 0 (and zeros are not kept)."""

    __slots__ = ("_hash", "_of")

    def __init__(self, of: Mapping[str, int] | None = None) -> None:
        self._of = {name: n for name, n in of.items() if n} if of else {}
        self._hash: int | None = None

    @classmethod
    def parse(cls, quantities: Mapping[str, str | int | float]) -> Amounts:
        """Read a Kubernetes resource list. Raises QuantityError, naming the resource."""
        parsed = {}
        for name, text in quantities.items():
            try:
                parsed[name] = parse_quantity(name, text)
            except QuantityError as error:
                raise QuantityError(f"{name}: {error}") from None
        return cls(parsed)

    def __getitem__(self, name: str) -> int:
        return self._of.get(name, 0)

    def __contains__(self, name: object) -> bool:
        return name in self._of

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._of.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amounts) and self._of == other._of

    def __repr__(self) -> str:
        return f"Amounts({self})"

    def __str__(self) -> str:
        return ", ".join(f"{name} {format_quantity(name, self._of[name])}" for name in sorted(self._of)) or "nothing"

    def plus(self, other: Amounts) -> Amounts:
        """Both together."""
        total = dict(self._of)
        for name, n in other._of.items():
            total[name] = total.get(name, 0) + n
        return Amounts(total)

    def minus(self, other: Amounts) -> Amounts:
        """This without the other; negative where the other is more."""
        rest = dict(self._of)
        for name, n in other._of.items():
            rest[name] = rest.get(name, 0) - n
        return Amounts(rest)

    def times(self, count: int) -> Amounts:
        """This, count times."""
        return Amounts({name: n * count for name, n in self._of.items()})

    def above(self, floor: Amounts) -> Amounts:
        """What this has more than the floor, per resource, never negative."""
        return Amounts({name: n - floor[name] for name, n in self._of.items() if n > floor[name]})

    def least(self, other: Amounts) -> Amounts:
        """The smaller of both, per resource."""
        return Amounts({name: min(n, other[name]) for name, n in self._of.items()})

    def most(self, other: Amounts) -> Amounts:
        """The larger of both, per resource."""
        return Amounts({name: max(self[name], other[name]) for name in {**self._of, **other._of}})

    def share(self, percent: int) -> Amounts:
        """Floor of a percentage, per resource."""
        return Amounts({name: n * percent // 100 for name, n in self._of.items()})

    def within(self, room: Amounts) -> bool:
        """Whether each positive amount is at most what the room has (an absent name has no room)."""
        available = room._of
        return all(n <= available.get(name, 0) for name, n in self._of.items() if n > 0)

    def anything(self) -> bool:
        """Whether any amount is positive."""
        return any(n > 0 for n in self._of.values())


NOTHING: Final = Amounts()


class Limits(Mapping[str, int]):
    """Upper bounds per resource; a name that is absent is unlimited, and 0 is a bound like any other."""

    __slots__ = ("_of",)

    def __init__(self, of: Mapping[str, int] | None = None) -> None:
        self._of = dict(of) if of else {}

    def __getitem__(self, name: str) -> int:
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __hash__(self) -> int:
        return hash(frozenset(self._of.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self._of == other._of

    def __repr__(self) -> str:
        return f"Limits({self._of})"

    def broken_by(self, held: Amounts, asked: Amounts) -> str | None:
        """The first resource (by name) that held and asked together would take over its bound, or None.

        A resource that is not asked for never breaks a bound: what is held above a lowered limit stays, and only
        more of it is refused.
        """
        for name in sorted(self._of.keys() & set(asked)):
            if asked[name] > 0 and held[name] + asked[name] > self._of[name]:
                return name
        return None


UNLIMITED: Final = Limits()
