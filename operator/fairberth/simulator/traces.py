"""Real traces as scenarios. `docs` of the traces folder say where the data is from and what it does not say.

A trace brings nodes, tenants and arrivals; policies are the defaults, and no level has a guarantee, since no trace
knows levels.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from fairberth.model.objects import CapacityPool, FairnessPolicy, Tenant, shipped_slas
from fairberth.model.workload import Namespace
from fairberth.policy.snapshot import Setup
from fairberth.simulator.scenario import Scenario, labelled

FOLDER_VARIABLE: Final = "FAIRBERTH_TRACES"
POOL: Final = "gpus"

Row = Mapping[str, str]


class NoTrace(ValueError):
    """The trace is not there, or not as expected; the message says what to do."""


def folder(given: Path | None) -> Path:
    """Where the traces are: as given, else by the environment, else beside the repository. Raises NoTrace."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "traces"
    named = os.environ.get(FOLDER_VARIABLE)
    chosen = given or (Path(named) if named else beside)
    if not chosen.is_dir():
        how = f"give --traces-dir or set {FOLDER_VARIABLE}"
        raise NoTrace(f"no traces in {chosen}: {how} (without a trace, `fairberth simulate` runs the shipped scenario)")
    return chosen


def load(name: str, scale: float, where: Path) -> Scenario:
    """Read a trace: `philly` or `openb`, on a cluster of `scale` times the published size. Raises NoTrace."""
    from fairberth.simulator import openb, philly

    known: dict[str, Callable[[Path, float], Scenario]] = {"philly": philly.scenario, "openb": openb.scenario}
    if name not in known:
        raise NoTrace(f"there is no trace {name!r} (known: {', '.join(sorted(known))})")
    if not 0 < scale <= 1:
        raise NoTrace(f"the scale must be above 0 and at most 1, not {scale}")
    try:
        return known[name](where / name, scale)
    except (OSError, KeyError, ValueError) as error:
        raise NoTrace(f"{where / name} is not the trace that was expected: {error!r}") from error


def rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file, compressed or not."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)
    else:
        with path.open(encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)


def setup_of(*tenants: Tenant) -> tuple[Setup, tuple[Namespace, ...]]:
    """Default policies, one pool of all nodes, levels without guarantees; and the tenants' namespaces."""
    slas = {sla.level: replace(sla, guarantee=0) for sla in shipped_slas()}
    setup = Setup.of({t.name: t for t in tenants}, slas, FairnessPolicy(), {POOL: CapacityPool(POOL)})
    return setup, labelled(setup, [Namespace(name) for tenant in tenants for name in tenant.namespaces])
