"""Faults of input: collected with their field paths, reported once, terminal until the input changes."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("Tenant", "PrioritySLA", "FairnessPolicy", "CapacityPool")


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """Which of our cluster-scoped objects."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong, at a field path such as ``spec.quotas[0].limit.cpu``."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class InvalidInput(ValueError):
    """Input with faults; `faults` lists all of them."""

    def __init__(self, where: str, faults: tuple[Fault, ...]) -> None:
        self.where = where
        self.faults = faults
        super().__init__("\n".join(f"{where}: {fault}" for fault in faults))
