"""The rules of docs/architecture.md that import-linter does not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairberth.api import crdgen
from fairberth.model.reasons import Reason
from fairberth.observe import metrics, reference

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "operator" / "fairberth"
LONGEST_DECISION = 59  # lines of one function in policy/


def functions(folder: Path) -> Iterator[tuple[str, int]]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_operator_is_a_source_root_and_no_package() -> None:
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_no_decision_is_longer_than_a_screen() -> None:
    assert {name: lines for name, lines in functions(PACKAGE / "policy") if lines > LONGEST_DECISION} == {}


@pytest.mark.parametrize("name", sorted(reference.pages()))
def test_reference_pages_are_as_generated(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == reference.pages()[name]


@pytest.mark.parametrize("folder", ["crds", "charts/fairberth/files/crds"])
def test_custom_resource_definitions_are_as_generated(folder: str) -> None:
    assert {path.name: path.read_text() for path in sorted((ROOT / folder).glob("*.yaml"))} == crdgen.texts()


def test_every_reason_is_given_by_somebody() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if path.name != "reasons.py"]
    text = "\n".join(path.read_text() for path in sources)
    assert [reason.name for reason in Reason if f"Reason.{reason.name}" not in text] == []


def test_every_metric_is_written_by_somebody() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if path.name != "metrics.py"]
    text = (
        "\n".join(path.read_text() for path in sources)
        + (PACKAGE / "observe/metrics.py").read_text().split("class Metrics")[1]
    )
    assert [metric.name for metric in metrics.TABLE if f'"{metric.name}"' not in text] == []
