"""What the chart's files say beside the code: the seven levels, and every key of values.yaml in a closed schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from fairberth.api.manifests import manifest
from fairberth.model import keys
from fairberth.model.objects import shipped_slas

CHART = Path(__file__).parents[3] / "charts" / "fairberth"


def test_the_shipped_levels_are_those_of_the_code() -> None:
    levels = yaml.safe_load((CHART / "files" / "levels.yaml").read_text())
    made = []
    for level in levels:
        fields = ("level", "valueClass", "maxLatency", "objective", "guarantee", "lendGuarantee", "preemptible")
        spec = {name: level[name] for name in fields} | {"priorityClassName": f"fairberth-p{level['level']}"}
        made.append(manifest({"kind": "PrioritySLA", "metadata": {"name": level["name"]}, "spec": spec}))
    assert tuple(made) == shipped_slas()
    assert [level["priority"] for level in levels] == [70_000_000 - 10_000_000 * n for n in range(6)] + [-1000]


def test_every_value_is_in_the_schema_and_the_schema_takes_no_others() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert list(_unknown(values, schema, schema, "")) == []


def _unknown(values: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str]:
    while "$ref" in schema:
        schema = _resolved(schema["$ref"], root)
    if "properties" not in schema:
        return
    if schema.get("additionalProperties") is not False:
        yield f"{path or 'the chart'} takes anything"
    for name, value in values.items():
        if name not in schema["properties"]:
            yield f"{path}.{name}"
        elif isinstance(value, dict):
            yield from _unknown(value, schema["properties"][name], root, f"{path}.{name}")


def _resolved(ref: str, root: dict[str, Any]) -> dict[str, Any]:
    node: Any = root
    for part in ref.removeprefix("#/").split("/"):
        node = node[part]
    return dict(node)


def test_the_policies_and_the_webhook_speak_of_the_same_keys() -> None:
    text = "\n".join(path.read_text() for path in (CHART / "templates" / "admission").glob("*.yaml"))
    text += (CHART / "templates" / "_admission.tpl").read_text()
    for key in (
        keys.GATE,
        keys.TENANT_LABEL,
        keys.TENANT,
        keys.EXEMPT,
        keys.SUBMITTED_CLASS,
        keys.SUBMITTED_PREEMPTION,
    ):
        assert key in text, key
