"""`fairberth simulate`: read, run, report. Results go to stdout, progress and complaints to stderr."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from fairberth.simulator import output as outputs
from fairberth.simulator.books import InvariantBroken
from fairberth.simulator.history import History
from fairberth.simulator.page.html import page
from fairberth.simulator.reading import file
from fairberth.simulator.reading.documents import FaultyFile
from fairberth.simulator.report import report
from fairberth.simulator.run import run
from fairberth.simulator.scenario import Scenario
from fairberth.simulator.traces import catalogue

SHIPPED = "bank-day.yaml"

DONE, BROKEN, BAD_INPUT = 0, 1, 2  # exit codes


def simulate(
    scenario: Path | None,
    trace: str | None,
    scale: float,
    output: str,
    html: Path | None,
    console: Console,
    traces_dir: Path | None = None,
    errors: Console | None = None,
) -> int:
    """Run a scenario file, a trace (`philly`, `openb`) or, with neither, the shipped day of a bank.

    `output` is ``table`` or ``json``. Returns the exit code: 0, 1 where the engine broke an invariant, 2 for bad
    input (every fault is printed with its place).
    """
    errors = errors or Console(stderr=True)
    try:
        chosen = _load(scenario, trace, scale, traces_dir)
        history = _run(chosen, errors)
    except FaultyFile as error:
        count = len(error.found)
        errors.print(f"{error.file} has {count} fault{'s' * (count > 1)}; nothing was run:", markup=False)
        errors.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return BAD_INPUT
    except catalogue.NoTrace as error:
        errors.print(str(error), markup=False, soft_wrap=True)
        return BAD_INPUT
    except InvariantBroken as error:
        errors.print(f"the engine broke an invariant, please report this: {error}", markup=False, soft_wrap=True)
        return BROKEN
    told = report(history)
    if output == "json":
        console.print(outputs.as_json(told), markup=False, highlight=False, soft_wrap=True)
    else:
        outputs.print_tables(told, chosen.notes, console)
    return DONE if html is None else _write(page(history, told), html, errors)


def _write(text: str, path: Path, errors: Console) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        errors.print(f"cannot write {path}: {error}", markup=False, soft_wrap=True)
        return BAD_INPUT
    errors.print(f"wrote {path}", markup=False, soft_wrap=True)
    return DONE


def _load(scenario: Path | None, trace: str | None, scale: float, traces_dir: Path | None) -> Scenario:
    if trace is not None:
        return catalogue.load(trace, scale, catalogue.folder(traces_dir))
    if scenario is not None:
        return file.load(scenario)
    shipped = resources.files("fairberth.simulator") / "scenarios" / SHIPPED
    return file.load_text(shipped.read_text(encoding="utf-8"), SHIPPED)


def _run(scenario: Scenario, errors: Console) -> History:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(f"simulating {scenario.name}", total=1.0)
        return run(scenario, watch=lambda done: bar.update(task, completed=done))
