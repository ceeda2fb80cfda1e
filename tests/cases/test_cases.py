"""Every case of the folder, over the production engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.format import Case, CaseError, read
from tests.cases.runner import run


def test_case(case: Case) -> None:
    run(case)


MISTAKES = {
    "no list": ("case: x", "bad.yaml: must be a list"),
    "not YAML": ("- {case: [", "bad.yaml: is not YAML"),
    "an unknown field": ("- {case: c, world: {tenants: {}, nodez: []}}", "bad.yaml: c: world.nodez: Extra inputs"),
    "a wrong type": ("- {case: c, shares: {capacity: many, tenants: {}, expect: {}}}", "bad.yaml: c: shares.capacity"),
    "nothing asked": ("- {case: c, world: {tenants: {}}}", "bad.yaml: c: the case: Value error, expects nothing"),
    "neither body": ("- {case: c}", "needs either `shares` or `world`"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_a_file_is_reported_with_file_case_and_field(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(CaseError) as error:
        read(path)
    assert said in str(error.value)


def test_a_bad_tenant_in_a_case_is_reported_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("- {case: c, world: {tenants: {a: {weight: 0}}}, steps: [{expect: {admitted: []}}]}")
    with pytest.raises(CaseError, match=r"c: Tenant/a: spec\.weight"):
        run(read(path)[0])
