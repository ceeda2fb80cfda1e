"""Figures of a benchmark: named, with unit, aim and whether it was met. Printed as a table or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Console
from rich.table import Table


@dataclass
class Figure:
    """One measured figure; `aim` as people read it, `met` None where there is no aim."""

    name: str
    value: float
    unit: str
    aim: str = ""
    met: bool | None = None


@dataclass
class Figures:
    """All figures of a run."""

    rows: list[Figure] = field(default_factory=list)

    def add(
        self, name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
    ) -> None:
        """Add one; an aim is a bound from above or from below, in the same unit."""
        figure = Figure(name, value, unit)
        if at_most is not None:
            figure.aim, figure.met = f"≤ {at_most:g}", value <= at_most
        if at_least is not None:
            figure.aim, figure.met = f"≥ {at_least:g}", value >= at_least
        self.rows.append(figure)

    def print(self, console: Console, output: str) -> None:
        """As a table for people, or as JSON for machines."""
        if output == "json":
            console.print_json(json.dumps([asdict(row) for row in self.rows]))
            return
        table = Table("figure", "value", "unit", "aim", "met")
        for row in self.rows:
            met = "" if row.met is None else "[green]yes[/]" if row.met else "[red]no[/]"
            table.add_row(row.name, f"{row.value:.4g}", row.unit, row.aim, met)
        console.print(table)


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile (0 to 1) of some values, the nearest one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def timed(times: int, work: Callable[[], object]) -> list[float]:
    """Seconds of each of `times` runs."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds
