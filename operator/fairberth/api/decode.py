"""The only parser of Kubernetes objects: pods, nodes and namespaces (our own kinds are in `manifests`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from fairberth.api import grants, times, wire
from fairberth.api.manifests import in_force, manifest
from fairberth.api.requested import parse, requests, within_reach
from fairberth.model import keys
from fairberth.model.selectors import (
    ANYWHERE,
    EVERYTHING,
    Constraints,
    Labels,
    NodeTerm,
    Requirement,
    Selector,
    Taint,
    Toleration,
)
from fairberth.model.workload import Namespace, Node, Pod

__all__ = ["in_force", "manifest", "namespace", "namespace_of", "node", "node_of", "pod", "pod_of", "priority_class"]

# Nodes that carry one of these are about to go: their room is no capacity (ecosystem notes, §1.j).
LEAVING_TAINTS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "karpenter.sh/disrupted",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
    }
)
# Volumes that any node can give; all others may tie a pod to some.
_NO_TIE = frozenset({"name", "emptyDir", "configMap", "secret", "projected", "downwardAPI", "hostPath", "image"})

_pod = msgspec.json.Decoder(wire.PodObject)
_node = msgspec.json.Decoder(wire.NodeObject)
_namespace = msgspec.json.Decoder(wire.NamespaceObject)
_priority_class = msgspec.json.Decoder(wire.PriorityClassObject)
_Said = tuple[tuple[tuple[str, str], ...], tuple[wire.Toleration, ...], tuple[str, ...]]
_constraints: dict[Constraints, Constraints] = {ANYWHERE: ANYWHERE}
_constraints_said: dict[_Said, Constraints] = {}
_labels: dict[tuple[tuple[str, str], ...], Labels] = {}
_MOST_REMEMBERED = 50_000


def pod(raw: bytes | msgspec.Raw) -> Pod:
    """A pod from JSON. Raises msgspec.MsgspecError or ValueError for what is no pod."""
    return _pod_from(_pod.decode(raw))


def pod_of(manifest: Mapping[str, Any]) -> Pod:
    """A pod from a decoded manifest."""
    return _pod_from(msgspec.convert(manifest, wire.PodObject))


def node(raw: bytes | msgspec.Raw) -> Node:
    """A node from JSON."""
    return _node_from(_node.decode(raw))


def node_of(manifest: Mapping[str, Any]) -> Node:
    """A node from a decoded manifest."""
    return _node_from(msgspec.convert(manifest, wire.NodeObject))


def namespace(raw: bytes | msgspec.Raw) -> Namespace:
    """A namespace from JSON."""
    return _namespace_from(_namespace.decode(raw))


def namespace_of(manifest: Mapping[str, Any]) -> Namespace:
    """A namespace from a decoded manifest."""
    return _namespace_from(msgspec.convert(manifest, wire.NamespaceObject))


def priority_class(raw: bytes | msgspec.Raw) -> tuple[str, int]:
    """A PriorityClass from JSON: its name and value."""
    obj = _priority_class.decode(raw)
    return obj.metadata.name, obj.value


def millis(timestamp: str | None) -> int:
    """An RFC 3339 time as milliseconds since the epoch; 0 for none. Raises ValueError for what is no time."""
    return times.millis(timestamp) if timestamp else 0


def _pod_from(obj: wire.PodObject) -> Pod:
    meta, spec, status = obj.metadata, obj.spec, obj.status
    labels, annotations = meta.labels or {}, meta.annotations or {}
    gates = [gate.name for gate in spec.schedulingGates or ()]
    granted = annotations.get(keys.ADMISSION)
    level = labels.get(keys.LEVEL, "")
    submitted = annotations.get(keys.SUBMITTED_CLASS)
    return Pod(
        uid=meta.uid,
        namespace=meta.namespace or "",
        name=meta.name,
        created=millis(meta.creationTimestamp),
        requests=requests(obj),
        constraints=_constraints_of(obj.spec),
        labels=_shared_labels(labels),
        scheduler=spec.schedulerName or "",
        priority_class=(spec.priorityClassName or "") if submitted is None else submitted,
        gated=keys.GATE in gates,
        foreign_gates=tuple(name for name in gates if name != keys.GATE),
        grant=grants.decode(granted) if granted else None,
        exempt=labels.get(keys.EXEMPT, ""),
        node=spec.nodeName or "",
        nominated=status.nominatedNodeName or "",
        terminal=status.phase in ("Succeeded", "Failed"),
        deleted_at=millis(meta.deletionTimestamp) if meta.deletionTimestamp else None,
        condition=_told(status),
        granted_tenant=labels.get(keys.TENANT, ""),
        granted_level=int(level) if level.isascii() and level.isdigit() else None,
        owner=next((owner.uid for owner in meta.ownerReferences or () if owner.controller), ""),
    )


def _told(status: wire.PodStatus) -> str:
    for condition in status.conditions or ():
        if condition.type == keys.CONDITION:
            return condition.reason or ""
    return ""


def _shared_labels(labels: wire.Strings) -> Labels:
    key = tuple(labels.items())
    known = _labels.get(key)
    if known is None:
        if len(_labels) >= _MOST_REMEMBERED:
            _labels.clear()
        known = _labels[key] = labels
    return known


def _constraints_of(spec: wire.PodSpec) -> Constraints:
    """Equal constraints are one value. Most pods differ in nothing here, so what they say is remembered."""
    unmodelled = _unmodelled(spec)
    if spec.affinity is not None:
        return _one(_constraints_made(spec, unmodelled))
    said = (tuple((spec.nodeSelector or {}).items()), tuple(spec.tolerations or ()), unmodelled)
    known = _constraints_said.get(said)
    if known is None:
        if len(_constraints_said) >= _MOST_REMEMBERED:
            _constraints_said.clear()
        known = _constraints_said[said] = _one(_constraints_made(spec, unmodelled))
    return known


def _one(made: Constraints) -> Constraints:
    if len(_constraints) >= _MOST_REMEMBERED:
        _constraints.clear()
    return _constraints.setdefault(made, made)


def _constraints_made(spec: wire.PodSpec, unmodelled: tuple[str, ...]) -> Constraints:
    affinity = spec.affinity and spec.affinity.nodeAffinity
    required = affinity and affinity.requiredDuringSchedulingIgnoredDuringExecution
    return Constraints(
        selector=Selector.exact(spec.nodeSelector) if spec.nodeSelector else EVERYTHING,
        terms=tuple(_term(term) for term in required.nodeSelectorTerms or ()) if required else (),
        tolerations=tuple(_toleration(toleration) for toleration in spec.tolerations or ()),
        unmodelled=unmodelled,
    )


def _term(term: wire.NodeSelectorTerm) -> NodeTerm:
    return NodeTerm(_expressions(term.matchExpressions), _expressions(term.matchFields))


def _expressions(expressions: list[wire.Expression] | None) -> tuple[Requirement, ...]:
    return tuple(Requirement(e.key, e.operator, tuple(e.values or ())) for e in expressions or ())


def _toleration(toleration: wire.Toleration) -> Toleration:
    return Toleration(
        key=toleration.key or "",
        operator=toleration.operator or "",  # as written: an existing toleration may not change, not even in its words
        value=toleration.value or "",
        effect=toleration.effect or "",
        seconds=toleration.tolerationSeconds,
    )


def _unmodelled(spec: wire.PodSpec) -> tuple[str, ...]:
    """What the pod asks of its node that node fit knows nothing of, by field name."""
    affinity = spec.affinity
    found = {
        "podAffinity": affinity is not None and affinity.podAffinity,
        "podAntiAffinity": affinity is not None and affinity.podAntiAffinity,
        "topologySpreadConstraints": spec.topologySpreadConstraints,
        "resourceClaims": spec.resourceClaims,
        "schedulingGroup": spec.schedulingGroup or spec.workloadRef,  # its name from 1.36 on, and before
        "hostPort": _host_port(spec.containers) or _host_port(spec.initContainers),
        "volumes": spec.volumes and any(not volume.keys() <= _NO_TIE for volume in spec.volumes),
    }
    return tuple(name for name, asked in found.items() if asked) if any(found.values()) else ()


def _host_port(containers: list[wire.Container] | None) -> bool:
    return any(port.hostPort for container in containers or () if container.ports for port in container.ports)


def _node_from(obj: wire.NodeObject) -> Node:
    taints = tuple(Taint(t.key, t.value or "", t.effect) for t in obj.spec.taints or ())
    deleting = obj.metadata.deletionTimestamp is not None
    conditions = obj.status.conditions or ()
    return Node(
        name=obj.metadata.name,
        created=millis(obj.metadata.creationTimestamp),
        allocatable=within_reach(parse(obj.status.allocatable or {})),
        labels=obj.metadata.labels or {},
        taints=taints,
        ready=any(c.type == "Ready" and c.status == "True" for c in conditions),
        unschedulable=bool(obj.spec.unschedulable),
        leaving=deleting or any(taint.key in LEAVING_TAINTS for taint in taints),
    )


def _namespace_from(obj: wire.NamespaceObject) -> Namespace:
    return Namespace(obj.metadata.name, obj.metadata.labels or {}, millis(obj.metadata.creationTimestamp))
