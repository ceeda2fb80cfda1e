"""`fairberth simulate`: what is printed where, and with which exit code."""

import io
import json

import pytest
from rich.console import Console

from fairberth.simulator.command import BAD_INPUT, DONE, simulate
from tests.unit.simulator.scenarios import SMALL


class Said:
    """Runs the command, keeping what it prints."""

    def __init__(
        self, scenario=None, *, trace=None, scale=1.0, output="table", html=None, traces_dir=None, terminal=False
    ):
        out, errors = io.StringIO(), io.StringIO()
        self.code = simulate(
            scenario,
            trace,
            scale,
            output,
            html,
            Console(file=out, width=80),
            traces_dir,
            Console(file=errors, width=80, force_terminal=terminal),
        )
        self.out, self.errors = out.getvalue(), errors.getvalue()


def test_a_scenario_is_told_as_tables_that_fit_a_terminal():
    said = Said(SMALL)
    assert (said.code, said.errors) == (DONE, "")
    assert "two-teams, 08:00 to 09:00: 26 pods" in said.out
    assert "08:30 drain" in said.out
    assert "…" not in said.out
    assert max(len(line) for line in said.out.splitlines()) <= 80


def test_json_is_all_that_stdout_gets():
    said = Said(SMALL, output="json", terminal=True)
    assert json.loads(said.out)["arrived"] == 26


def test_progress_is_shown_on_a_terminal_alone():
    assert "simulating two-teams" in Said(SMALL, terminal=True).errors
    assert Said(SMALL).errors == ""


def test_the_page_is_written_where_it_was_asked_for(tmp_path):
    said = Said(SMALL, html=tmp_path / "new" / "day.html")
    assert (tmp_path / "new" / "day.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (said.code, said.errors) == (DONE, f"wrote {tmp_path / 'new' / 'day.html'}\n")


def test_a_page_that_cannot_be_written_is_told_after_the_report(tmp_path):
    (tmp_path / "file").write_text("")
    said = Said(SMALL, html=tmp_path / "file" / "day.html")
    assert said.code == BAD_INPUT
    assert said.errors.startswith("cannot write")
    assert "26 pods" in said.out


def test_a_faulty_scenario_is_told_fault_by_fault_and_nothing_is_run(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text(SMALL.read_text(encoding="utf-8").replace("count: 12", "count: [12]"), encoding="utf-8")
    said = Said(path)
    assert (said.code, said.out) == (BAD_INPUT, "")
    first, *faults = said.errors.splitlines()
    assert first == "my.yaml has 2 faults; nothing was run:"
    assert [fault.split(": ")[0] for fault in faults] == ["my.yaml:34", "my.yaml:39"]


def test_without_anything_the_shipped_day_runs():
    said = Said(output="json")
    told = json.loads(said.out)
    assert told["scenario"] == "bank-day"
    assert [phase["name"] for phase in told["phases"]] == ["storm", "calm", "burst", "reports", "batch"]
    by_level = {level["level"]: level for level in told["levels"]}
    assert by_level["P0"]["waitSeconds"]["longest"] == 0
    assert told["waiting"] == 0
    assert told["jainIndex"] > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trace": "philly", "scale": 2.0}, "the scale must be above 0 and at most 1, not 2.0"),
        ({"trace": "elsewhere"}, "there is no trace 'elsewhere' (known: openb, philly)"),
        ({"trace": "openb"}, "the trace openb cannot be read"),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_told(options, message, tmp_path):
    said = Said(**options, traces_dir=tmp_path)
    assert (said.code, said.out) == (BAD_INPUT, "")
    assert said.errors.startswith(message)
