"""The cases' format: read, checked, and every mistake reported with file, case and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from fairberth.api.manifests import path_of


class CaseError(ValueError):
    """A case that cannot be read; the message names file, case and field."""


class Part(BaseModel):
    """Base of every part: unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid")


class Share(Part):
    """One tenant's stake in the share function."""

    weight: int = 1
    guaranteed: int = 0
    demand: int | list[int] = 0
    limit: int | None = None
    lends: bool = True


class Shares(Part):
    """A question to the share function."""

    capacity: int
    tenants: dict[str, Share]
    expect: dict[str, int]


class Nodes(BaseModel):
    """Equal nodes; whatever is not named here is an allocatable amount."""

    model_config = ConfigDict(extra="allow")

    name: str = "n"
    count: int = 1
    labels: dict[str, str] = {}


class Pods(BaseModel):
    """Equal pods; whatever is not named here is a request."""

    model_config = ConfigDict(extra="allow")

    tenant: str
    name: str = "p"
    namespace: str = ""
    count: int = 1
    level: int = 4
    labels: dict[str, str] = {}
    selector: dict[str, str] = {}
    gates: list[str] = []
    age: str = ""
    group: str = ""
    size: int = 0
    node: str = ""


class Expect(Part):
    """What a turn must give; what is not said is not asked."""

    admitted: list[str] | None = None
    took: dict[str, int] | None = None
    running: dict[str, int] | None = None
    waits: dict[str, str] | None = None


class Step(Part):
    """What happens, and what is expected then."""

    tenants: dict[str, dict[str, Any]] = {}
    submit: list[Pods] = []
    run: list[Pods] = []
    end: list[str] | dict[str, int] = []
    wait: str = ""
    expect: Expect | None = None


class World(Part):
    """A cluster."""

    nodes: list[Nodes] = []
    tenants: dict[str, dict[str, Any]]
    policy: dict[str, Any] = {}
    pools: dict[str, dict[str, Any]] = {"main": {}}
    guarantees: dict[int, int] = {}


class Case(Part):
    """A case."""

    case: str
    source: str = ""
    rule: str = ""
    shares: Shares | None = None
    world: World | None = None
    steps: list[Step] = []

    @model_validator(mode="after")
    def _asks_something(self) -> Case:
        if (self.shares is None) == (self.world is None):
            raise ValueError("needs either `shares` or `world`")
        if self.world is not None and not any(step.expect for step in self.steps):
            raise ValueError("expects nothing")
        return self


def read(path: Path) -> list[Case]:
    """The cases of a file. Raises CaseError."""
    try:
        listed = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise CaseError(f"{path.name}: is not YAML: {error}") from None
    if not isinstance(listed, list):
        raise CaseError(f"{path.name}: must be a list of cases")
    return [_read(path, index, body) for index, body in enumerate(listed)]


def _read(path: Path, index: int, body: Any) -> Case:
    name = body.get("case", f"#{index}") if isinstance(body, dict) else f"#{index}"
    try:
        return Case.model_validate(body)
    except ValidationError as error:
        said = "; ".join(f"{path_of(detail['loc']) or 'the case'}: {detail['msg']}" for detail in error.errors())
        raise CaseError(f"{path.name}: {name}: {said}") from None
