"""`--cases-dir DIR` runs the cases of another folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.cases.runner")

from tests.cases.format import CaseError, read  # noqa: E402 # after the line above, or its asserts stay mute

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases-dir", type=Path, default=DATA, help="folder of YAML files with cases (tests/cases/README.md)"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        folder: Path = metafunc.config.getoption("--cases-dir")
        try:
            cases = [(path.stem, case) for path in sorted(folder.glob("*.yaml")) for case in read(path)]
        except CaseError as error:
            raise pytest.UsageError(str(error)) from None
        if not cases:
            raise pytest.UsageError(f"there are no cases in {folder}")
        metafunc.parametrize("case", [case for _, case in cases], ids=[f"{stem}: {case.case}" for stem, case in cases])
