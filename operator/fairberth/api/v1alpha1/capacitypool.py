"""CapacityPool (cpool): a set of nodes that tenants have quotas on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from fairberth.api.v1alpha1.selectors import LabelSelector, Toleration
from fairberth.api.v1alpha1.shared import (
    SET,
    Figures,
    Level,
    Model,
    Quantities,
    Status,
    Tally,
    unique,
)

# -- spec -----------------------------------------------------------------------------------------------------------


class Role(StrEnum):
    """Which pools a pod tries first: dedicated, then shared, then remote."""

    DEDICATED = "dedicated"
    SHARED = "shared"
    REMOTE = "remote"


class Autoscaling(Model):
    """How far the pool can grow: pods beyond the present room are released up to here."""

    max_capacity: Quantities
    """The pool's capacity when it is as large as it can be; quotas and shares are of this."""


class CapacityPoolSpec(Model):
    """Which nodes, for which levels. A node that two pools select belongs to the older one."""

    role: Role = Role.SHARED
    """Which pools a pod tries first: dedicated, then shared, then remote."""
    node_selector: LabelSelector = LabelSelector()
    """Its nodes, by their labels; without one, all nodes. A pod that is admitted to the pool is tied to it by this."""
    tolerations: Annotated[list[Toleration], Field(max_length=32)] = []
    """Given to each pod that is admitted to the pool, so that taints can keep everybody else out."""
    levels: Annotated[
        list[Level], Field(min_length=1, max_length=7, json_schema_extra=SET), AfterValidator(unique())
    ] = [0, 1, 2, 3, 4, 5, 6]
    """The priority levels whose pods may come here."""
    autoscaling: Autoscaling | None = None
    """How far an autoscaler can grow the pool; absent means that it cannot grow."""


# -- status ---------------------------------------------------------------------------------------------------------


class CapacityPoolStatus(Status):
    """What the pool has."""

    nodes: Tally = 0
    """How many nodes it has whose room counts: Ready, schedulable and not about to go."""
    allocatable: Figures = {}
    """What those nodes have for tenants."""
    used: Figures = {}
    """What tenants' pods hold of it."""


class CapacityPool(Model):
    """A set of nodes that tenants have quotas on."""

    spec: CapacityPoolSpec = CapacityPoolSpec()
    """Which nodes, for which levels."""
    status: CapacityPoolStatus | None = None
    """What the pool has."""


LONGEST_NAME = 63  # quotas name it
RULES = (
    (f"size(self.metadata.name) <= {LONGEST_NAME}", f"metadata.name must be at most {LONGEST_NAME} characters long"),
)
PLURAL, SHORT_NAME = "capacitypools", "cpool"
COLUMNS = (
    ("Role", "string", ".spec.role"),
    ("Nodes", "integer", ".status.nodes"),
    ("CPU", "string", ".status.allocatable.cpu"),
    ("Used", "string", ".status.used.cpu"),
)
