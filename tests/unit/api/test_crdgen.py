"""Structural schemas: what the API server's rules for them ask, held by every node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairberth.api import crdgen
from fairberth.api.v1alpha1 import shared


def nodes(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            yield from nodes(schema[name], f"{path}[{name}]")


def root_of(kind: str) -> Mapping[str, Any]:
    """The schema of a whole object."""
    version = crdgen.crd(kind)["spec"]["versions"][0]
    return version["schema"]["openAPIV3Schema"]


def parts_of(kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every node of spec and status, with its path."""
    for part in ("spec", "status"):
        yield from nodes(root_of(kind)["properties"][part], part)


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_every_node_has_a_type_and_nothing_that_structural_schemas_forbid(kind: str) -> None:
    for path, node in parts_of(kind):
        assert "type" in node or node.get("x-kubernetes-int-or-string"), path
        forbidden = {"$ref", "anyOf", "oneOf", "allOf", "const", "uniqueItems", "title", "exclusiveMinimum"} & set(node)
        assert not forbidden, path


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_every_list_map_and_text_has_a_bound(kind: str) -> None:
    for path, node in parts_of(kind):
        if node.get("type") == "array":
            assert "maxItems" in node, path
        if "additionalProperties" in node:
            assert "maxProperties" in node, path
        if node.get("type") == "string" and "enum" not in node:
            assert "maxLength" in node, path


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_people_find_it_under_its_short_name_in_our_category(kind: str) -> None:
    made = crdgen.crd(kind)["spec"]
    assert made["names"]["categories"] == ["fairberth"]
    assert made["names"]["shortNames"][0] in ("tn", "psla", "fp", "cpool")
    columns = [column["name"] for column in made["versions"][0]["additionalPrinterColumns"]]
    assert columns[-2:] == ["Ready", "Age"]


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_every_field_says_what_it_is(kind: str) -> None:
    for path, node in parts_of(kind):
        for name, field in node.get("properties", {}).items():
            assert len(field.get("description", "")) > 5, f"{path}.{name}"


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_a_default_says_something_and_is_made_of_the_defaults_below_it(kind: str) -> None:
    for path, node in nodes(root_of(kind)["properties"]["spec"], "spec"):
        if "default" in node:
            assert node["default"] not in ("", [], {}), path
        if isinstance(node.get("default"), Mapping):
            below = {n: p["default"] for n, p in node["properties"].items() if "default" in p}
            assert node["default"] == below, path


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_a_status_is_there_from_the_start_and_says_nothing(kind: str) -> None:
    status = root_of(kind)["properties"]["status"]
    assert status["default"] == {}
    assert [path for path, node in nodes(status, "status") if "default" in node] == ["status"]


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_a_rule_names_a_field_that_there_is(kind: str) -> None:
    for path, node in nodes(root_of(kind), ""):
        for rule in node.get("x-kubernetes-validations", ()):
            at: Any = node
            for name in rule.get("fieldPath", "").split(".")[1:]:
                at = at["properties"][name]
            assert rule["message"], path


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_list_maps_have_their_keys_and_conditions_are_one(kind: str) -> None:
    for path, node in parts_of(kind):
        keys = node.get("x-kubernetes-list-map-keys", ())
        assert bool(keys) == (node.get("x-kubernetes-list-type") == "map"), path
        assert set(keys) <= set(node.get("items", {}).get("required", ())), path
    conditions = root_of(kind)["properties"]["status"]["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]


def test_the_yaml_stands_for_itself_and_reads_back_as_it_was() -> None:
    for kind, text in zip(crdgen.KINDS, crdgen.texts().values(), strict=True):
        assert yaml.safe_load(text) == crdgen.crd(kind)
        assert "&id" not in text, "a part is written where it stands"
        assert text.startswith("# Generated"), "so that nobody edits it"


class Twig(shared.Model):
    twigs: list[Twig] = []


class Chooser(shared.Model):
    one: int | bool = 1


@pytest.mark.parametrize(
    ("model", "why"), [(Twig, "is recursive"), (Chooser, "cannot choose")], ids=["recursion", "a choice of types"]
)
def test_what_no_structural_schema_can_say_is_refused(model: type[shared.Model], why: str) -> None:
    schema = model.model_json_schema()
    with pytest.raises(ValueError, match=why):
        crdgen.structural(schema, schema.get("$defs", {}))


def test_the_command_writes_and_then_finds_nothing_to_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "crds"
    assert crdgen.main(["--check", str(folder)]) == 1
    assert crdgen.main([str(folder)]) == 0
    assert crdgen.main(["--check", str(folder)]) == 0
    (folder / "tenants.yaml").write_text("edited")
    capsys.readouterr()
    assert crdgen.main(["--check", str(folder)]) == 1
    assert capsys.readouterr().err == f"{folder / 'tenants.yaml'} is not as generated; run `make generate`\n"
    assert crdgen.main([]) == crdgen.main(["--nonsense", "x"]) == 2
