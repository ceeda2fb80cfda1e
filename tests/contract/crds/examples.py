"""The examples of this folder, as manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent


def load(name: str) -> list[dict[str, Any]]:
    """The examples of one file: each with case, kind, spec (and place, name)."""
    return list(yaml.safe_load((_HERE / f"{name}_examples.yaml").read_text()))


def manifest(example: dict[str, Any], name: str = "bad") -> dict[str, Any]:
    """An example as an object; `name` where it has none of its own."""
    return {
        "apiVersion": "fairberth.io/v1alpha1",
        "kind": example["kind"],
        "metadata": {"name": example.get("name", name)},
        "spec": example["spec"],
    }


GOOD, BAD = load("good"), load("bad")


def case(example: dict[str, Any]) -> str:
    """The test's id."""
    return f"{example['kind']}: {example['case']}"
