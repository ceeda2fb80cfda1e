"""Kubernetes objects as far as we read them: typed, so that decoding skips everything else at full speed.

Field names are those of the Kubernetes API. `null` and absent are the same everywhere.
"""

from __future__ import annotations

from typing import Any

import msgspec

Strings = dict[str, str]
Quantities = dict[str, str | int | float]


class Wire(msgspec.Struct, gc=False):
    """Base: unknown fields are skipped."""


class OwnerReference(Wire):
    uid: str = ""
    kind: str = ""
    controller: bool | None = None


class Metadata(Wire):
    name: str = ""
    namespace: str | None = None
    uid: str = ""
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    labels: Strings | None = None
    annotations: Strings | None = None
    ownerReferences: list[OwnerReference] | None = None


class Resources(Wire):
    requests: Quantities | None = None


class Port(Wire):
    hostPort: int | None = None


class Container(Wire):
    name: str = ""
    resources: Resources | None = None
    restartPolicy: str | None = None
    ports: list[Port] | None = None


class Expression(Wire):
    key: str
    operator: str
    values: list[str] | None = None


class NodeSelectorTerm(Wire):
    matchExpressions: list[Expression] | None = None
    matchFields: list[Expression] | None = None


class NodeSelector(Wire):
    nodeSelectorTerms: list[NodeSelectorTerm] | None = None


class NodeAffinity(Wire):
    requiredDuringSchedulingIgnoredDuringExecution: NodeSelector | None = None


class Affinity(Wire):
    nodeAffinity: NodeAffinity | None = None
    podAffinity: Any = None
    podAntiAffinity: Any = None


class Toleration(msgspec.Struct, gc=False, frozen=True):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    tolerationSeconds: int | None = None


class Gate(Wire):
    name: str


class PodSpec(Wire):
    nodeName: str | None = None
    schedulerName: str | None = None
    priorityClassName: str | None = None
    schedulingGates: list[Gate] | None = None
    containers: list[Container] | None = None
    initContainers: list[Container] | None = None
    overhead: Quantities | None = None
    resources: Resources | None = None
    nodeSelector: Strings | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topologySpreadConstraints: list[Any] | None = None
    resourceClaims: list[Any] | None = None
    schedulingGroup: Any = None
    workloadRef: Any = None
    volumes: list[dict[str, Any]] | None = None


class Condition(Wire):
    type: str = ""
    status: str = ""
    reason: str | None = None


class ContainerStatus(Wire):
    name: str = ""
    resources: Resources | None = None
    allocatedResources: Quantities | None = None


class PodStatus(Wire):
    phase: str | None = None
    nominatedNodeName: str | None = None
    conditions: list[Condition] | None = None
    containerStatuses: list[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None
    resources: Resources | None = None
    allocatedResources: Quantities | None = None


class PodObject(Wire):
    metadata: Metadata
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Taint(Wire):
    key: str
    effect: str = ""
    value: str | None = None


class NodeSpec(Wire):
    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class NodeStatus(Wire):
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None


class NodeObject(Wire):
    metadata: Metadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class NamespaceObject(Wire):
    metadata: Metadata


class PriorityClassObject(Wire):
    metadata: Metadata
    value: int = 0
