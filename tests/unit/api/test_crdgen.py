"""Structural schemas: what the API server's rules for them ask, held by every node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fairberth.api import crdgen


def nodes(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            yield from nodes(schema[name], f"{path}[{name}]")


def spec_of(kind: str) -> Mapping[str, Any]:
    version = crdgen.crd(kind)["spec"]["versions"][0]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_every_node_has_a_type_and_nothing_that_structural_schemas_forbid(kind: str) -> None:
    for path, node in nodes(spec_of(kind), "spec"):
        assert "type" in node or node.get("x-kubernetes-int-or-string"), path
        forbidden = {"$ref", "anyOf", "oneOf", "allOf", "const", "uniqueItems", "title", "exclusiveMinimum"} & set(node)
        assert not forbidden, path


@pytest.mark.parametrize("kind", crdgen.KINDS)
def test_every_list_map_and_text_has_a_bound(kind: str) -> None:
    for path, node in nodes(spec_of(kind), "spec"):
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
