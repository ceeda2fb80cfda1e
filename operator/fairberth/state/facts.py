"""Facts: what the API server showed, or what we just decided. The only way to change `ClusterState`."""

from __future__ import annotations

from dataclasses import dataclass

from fairberth.model.workload import Grant, Namespace, Node, Pod
from fairberth.policy.snapshot import Setup


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod was added or changed."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod does not exist any more."""

    uid: str


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node was added or changed."""

    node: Node


@dataclass(frozen=True, slots=True)
class NodeGone:
    """A node does not exist any more."""

    name: str


@dataclass(frozen=True, slots=True)
class NamespaceSeen:
    """A namespace was added or changed."""

    namespace: Namespace


@dataclass(frozen=True, slots=True)
class NamespaceGone:
    """A namespace does not exist any more."""

    name: str


@dataclass(frozen=True, slots=True)
class SetupChanged:
    """Other objects of ours are in force."""

    setup: Setup


@dataclass(frozen=True, slots=True)
class Assumed:
    """We decided to admit a pod; its patch is on the way."""

    uid: str
    grant: Grant


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The admission that we assumed did not happen."""

    uid: str


Fact = PodSeen | PodGone | NodeSeen | NodeGone | NamespaceSeen | NamespaceGone | SetupChanged | Assumed | Withdrawn
