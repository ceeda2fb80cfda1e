"""Pods and nodes, reduced to what decisions need. Times are integer milliseconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.selectors import ANYWHERE, Constraints, Labels, Taint

Millis = int


@dataclass(frozen=True, slots=True)
class Grant:
    """A pod's admission, as its annotation says: when, where, at which level, by which decision."""

    at: Millis
    pool: str
    level: int
    decision: str
    node: str = ""  # the node that was nominated with it, "" where none was


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as the API server shows it. `requests` follow kube-scheduler's rule and include ``pods: 1``."""

    uid: str
    namespace: str
    name: str
    created: Millis
    requests: Amounts
    constraints: Constraints = ANYWHERE
    labels: Labels = field(default_factory=dict, hash=False)
    scheduler: str = ""
    priority_class: str = ""  # as its owner submitted it
    gated: bool = False  # by us
    foreign_gates: tuple[str, ...] = ()
    grant: Grant | None = None
    exempt: str = ""
    node: str = ""  # bound to
    nominated: str = ""
    terminal: bool = False  # Succeeded or Failed
    deleted_at: Millis | None = None  # deletionTimestamp: when its grace ends
    condition: str = ""  # reason of our condition as last seen on the pod, "" where it has none
    granted_tenant: str = ""  # what our webhook labelled it with; informs, never decides
    granted_level: int | None = None
    owner: str = ""  # uid of its controller

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def admitted(self) -> bool:
        """Whether it may be placed: bound already, or admitted and past our gate."""
        return bool(self.node) or (self.grant is not None and not self.gated)


@dataclass(frozen=True, slots=True)
class Node:
    """A node as the API server shows it."""

    name: str
    created: Millis
    allocatable: Amounts = NOTHING
    labels: Labels = field(default_factory=dict, hash=False)
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    unschedulable: bool = False
    leaving: bool = False  # marked for deletion, by itself or by an autoscaler

    @property
    def counts(self) -> bool:
        """Whether its room counts as capacity."""
        return self.ready and not self.unschedulable and not self.leaving


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace and the tenant label that it carries now."""

    name: str
    labels: Labels = field(default_factory=dict, hash=False)
    created: Millis = 0
