"""Scenarios for tests: a small file that is right, and short words for others."""

from __future__ import annotations

from pathlib import Path

from fairberth.simulator.reading import file
from fairberth.simulator.scenario import Scenario

DATA = Path(__file__).parent / "data"
SMALL = DATA / "two-teams.yaml"


def tenant(name: str, weight: int = 1, spec: str = "") -> str:
    """A Tenant document that claims the namespace of its own name; `spec` holds more lines of YAML."""
    more = "".join(f"  {line}\n" for line in spec.splitlines())
    head = f"apiVersion: fairberth.io/v1alpha1\nkind: Tenant\nmetadata: {{name: {name}}}\nspec:\n"
    return f"{head}  weight: {weight}\n  namespaces: {{names: [{name}]}}\n{more}---\n"


def policy(spec: str) -> str:
    """The FairnessPolicy in force; `spec` is YAML."""
    inner = "".join(f"  {line}\n" for line in spec.splitlines())
    return f"apiVersion: fairberth.io/v1alpha1\nkind: FairnessPolicy\nmetadata: {{name: default}}\nspec:\n{inner}---\n"


def no_level_guarantees() -> str:
    """PrioritySLA documents that leave all room to everybody."""
    values = ["critical"] * 3 + ["standard"] * 2 + ["batch"] * 2
    return "".join(
        "apiVersion: fairberth.io/v1alpha1\nkind: PrioritySLA\n"
        f"metadata: {{name: p{level}}}\nspec: {{level: {level}, valueClass: {value}, guarantee: 0}}\n---\n"
        for level, value in enumerate(values)
    )


def day(arrivals: str, *documents: str, nodes: str = '{name: n, count: 4, allocatable: {cpu: "8"}}') -> Scenario:
    """A scenario of one hour from 09:00; `arrivals` is a YAML list."""
    head = "apiVersion: sim.fairberth.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nspec:\n"
    inner = "".join(f"    {line}\n" for line in arrivals.strip().splitlines())
    body = f'{head}  start: "09:00"\n  duration: 1h\n  nodes: [{nodes}]\n  arrivals:\n{inner}'
    return file.load_text("".join(documents) + body)
