"""Which traces there are, and where. Their folder's README says where the data is from and what it does not say.

A trace brings nodes, tenants and arrivals; policies are the defaults, and no level has a guarantee, since no trace
knows levels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fairberth.simulator.scenario import Scenario
from fairberth.simulator.traces import openb, philly

FOLDER_VARIABLE: Final = "FAIRBERTH_TRACES"
TRACES: Final[Mapping[str, Callable[[Path, float], Scenario]]] = {"openb": openb.scenario, "philly": philly.scenario}


class NoTrace(ValueError):
    """The trace is not there, or not as expected; the message says what to do."""


def folder(given: Path | None) -> Path:
    """Where the traces are: as given, else by the environment, else beside the repository. Raises NoTrace."""
    beside = Path(__file__).resolve().parents[5] / "shared" / "traces"
    named = os.environ.get(FOLDER_VARIABLE)
    chosen = given or (Path(named) if named else beside)
    if not chosen.is_dir():
        how = f"give --traces-dir or set {FOLDER_VARIABLE}"
        raise NoTrace(f"no traces in {chosen}: {how} (without a trace, `fairberth simulate` runs the shipped scenario)")
    return chosen


def load(name: str, scale: float, where: Path) -> Scenario:
    """Read a trace: `philly` or `openb`, on a cluster of `scale` times the published size. Raises NoTrace."""
    if name not in TRACES:
        raise NoTrace(f"there is no trace {name!r} (known: {', '.join(TRACES)})")
    if not 0 < scale <= 1:
        raise NoTrace(f"the scale must be above 0 and at most 1, not {scale}")
    try:
        return TRACES[name](where / name, scale)
    except OSError as error:
        raise NoTrace(f"the trace {name} cannot be read: {error}") from None
    except KeyError as error:
        raise NoTrace(f"{where / name} is not the trace that was expected: a table lacks the column {error}") from None
    except ValueError as error:
        raise NoTrace(f"{where / name} is not the trace that was expected: {error}") from None
