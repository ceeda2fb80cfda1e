"""CapacityPool (cpool): a set of nodes that tenants have quotas on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from fairberth.api.v1alpha1.shared import SET, LabelSelector, Level, Model, Quantities, Status, Toleration

# -- spec -----------------------------------------------------------------------------------------------------------


class Role(StrEnum):
    """Which pools a pod tries first: dedicated, then shared, then remote."""

    DEDICATED = "dedicated"
    SHARED = "shared"
    REMOTE = "remote"


class Autoscaling(Model):
    """How far the pool can grow: pods beyond the present room are released up to here."""

    max_capacity: Quantities


class CapacityPoolSpec(Model):
    """Which nodes, for which levels. A node that two pools select belongs to the older one."""

    role: Role = Role.SHARED
    node_selector: LabelSelector = LabelSelector()
    tolerations: Annotated[list[Toleration], Field(max_length=32)] = []
    levels: Annotated[list[Level], Field(min_length=1, max_length=7, json_schema_extra=SET)] = [0, 1, 2, 3, 4, 5, 6]
    autoscaling: Autoscaling | None = None


# -- status ---------------------------------------------------------------------------------------------------------


class CapacityPoolStatus(Status):
    """What the pool has."""

    nodes: int = 0
    allocatable: Quantities = {}
    used: Quantities = {}


class CapacityPool(Model):
    """A set of nodes that tenants have quotas on."""

    spec: CapacityPoolSpec = CapacityPoolSpec()
    status: CapacityPoolStatus | None = None


RULES: tuple[tuple[str, str], ...] = ()
PLURAL, SHORT_NAME = "capacitypools", "cpool"
COLUMNS = (
    ("Role", "string", ".spec.role"),
    ("Nodes", "integer", ".status.nodes"),
    ("CPU", "string", ".status.allocatable.cpu"),
    ("Used", "string", ".status.used.cpu"),
)
