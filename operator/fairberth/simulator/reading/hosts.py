"""The nodes of a scenario: ordinary v1 `Node` manifests, and groups of nodes that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fairberth.api import decode
from fairberth.model.amounts import PODS, Amounts
from fairberth.model.faults import Fault, InvalidInput
from fairberth.model.selectors import Taint
from fairberth.model.workload import Namespace, Node
from fairberth.simulator.reading.envelope import faults_around_spec
from fairberth.simulator.reading.fields import Fields

MOST_NODES = 20_000  # of one group

_READY = [{"type": "Ready", "status": "True"}]
_NODE_FIELDS: Mapping[str, frozenset[str]] = {
    "spec": frozenset({"podCIDR", "podCIDRs", "providerID", "taints", "unschedulable"}),
    "status": frozenset(
        {"addresses", "allocatable", "capacity", "conditions", "config", "daemonEndpoints", "declaredFeatures"}
        | {"features", "images", "nodeInfo", "phase", "runtimeHandlers", "volumesAttached", "volumesInUse"}
    ),
}


def _faults_in_node(body: Mapping[str, Any]) -> list[Fault]:
    faults = faults_around_spec(body, "v1")
    for part, known in _NODE_FIELDS.items():
        fields = Fields(body.get(part) or {}, part, faults)
        for name in known:
            fields.raw(name)
        fields.close()
    return faults


def _converted(error: Exception) -> Fault:
    """msgspec says ``Expected `str`, got `int` - at `$.metadata.name```: the path comes first with us."""
    message, _, place = str(error).partition(" - at `$")
    return Fault(place.strip("`.") or "", message)


def read_node(body: Mapping[str, Any]) -> Node:
    """A node from its manifest. One that says nothing of its conditions is Ready: whoever writes a node by hand means
    one that works. Raises InvalidInput."""
    faults = _faults_in_node(body)
    status = body.get("status")
    if not isinstance(status, dict) or not status.get("allocatable"):
        faults.append(Fault("status.allocatable", "is required"))
    else:
        Fields(status, "status", faults).amounts("allocatable")
    if faults:
        raise InvalidInput("Node", tuple(faults))
    try:
        return decode.node_of({**body, "status": {"conditions": _READY, **body["status"]}})
    except msgspec.ValidationError as error:
        raise InvalidInput("Node", (_converted(error),)) from None


def read_namespace(body: Mapping[str, Any]) -> Namespace:
    """A namespace from its manifest. Raises InvalidInput."""
    if faults := faults_around_spec(body, "v1"):
        raise InvalidInput("Namespace", tuple(faults))
    try:
        return decode.namespace_of(body)
    except msgspec.ValidationError as error:
        raise InvalidInput("Namespace", (_converted(error),)) from None


def read_group(fields: Fields) -> Iterator[tuple[str, Node]]:
    """The nodes of a group, each with the path of the field that names it; faults go where `fields` collects them."""
    name = fields.text("name", "node", required=True)
    count = fields.count("count", 1, most=MOST_NODES)
    allocatable = fields.amounts("allocatable", required=True)
    if PODS not in allocatable:
        allocatable = allocatable.plus(Amounts({PODS: 110}))
    labels = fields.strings("labels")
    taints = tuple(_taints(fields))
    fields.close()
    width = len(str(count))
    for index in range(1, count + 1):
        full = name if count == 1 else f"{name}-{index:0{width}}"
        yield fields.at("name"), Node(full, 0, allocatable, {"kubernetes.io/hostname": full, **labels}, taints)


def _taints(fields: Fields) -> Iterator[Taint]:
    for inner in fields.each("taints"):
        yield Taint(inner.text("key", required=True), inner.text("value"), inner.text("effect", "NoSchedule"))
        inner.close()
