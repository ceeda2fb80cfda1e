"""What happens to a pod at creation (design §1.1). Pure: from the pod and who creates it to a patch or a refusal.

The same rules stand in CEL in the chart (`templates/admission`): the safety net in the API server does them without
us, apart from finding team and level. It runs first, so a pod may arrive here with the net's work done; doing it
again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from fairberth.control.intake import Classified
from fairberth.model import keys
from fairberth.model.reasons import Reason

DAEMONSET_CONTROLLER: Final = "system:serviceaccount:kube-system:daemon-set-controller"
NODES_GROUP: Final = "system:nodes"
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"

Object = Mapping[str, Any]
Patch = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A pod that may not be created: HTTP code, reason, message."""

    code: int
    reason: str
    message: str


class Classifier(Protocol):
    """Who knows tenants."""

    def tenant_of(self, namespace: str) -> str:
        """The tenant of a namespace, "" for none."""

    def classify(self, pod: Object, namespace: str, tenant: str, submitted_class: str) -> Classified:
        """Where a pod of the tenant belongs."""

    def queue_full(self, tenant: str) -> str:
        """Why nothing more may queue, "" if it may."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the installation says: the scheduler's name, and whether the safety net runs before us."""

    scheduler: str = keys.SCHEDULER
    net: bool = True


def review(
    pod: Object, namespace: str, user: str, groups: Sequence[str], classifier: Classifier, rules: Rules
) -> Patch | Refusal:
    """The patch for a new pod (empty where nothing is to do), or why it may not be created."""
    tenant = classifier.tenant_of(namespace)
    if not tenant:
        return []
    exempt = _exempt(pod, user, groups)
    if exempt:
        return _patch(pod, _labels(pod, {keys.TENANT: tenant, keys.EXEMPT: exempt}), _annotations(pod, {}), {})
    if pod.get("spec", {}).get("nodeName"):
        message = "spec.nodeName: a tenant's pod may not choose its node past the queue; use a nodeSelector"
        return Refusal(403, "Forbidden", f"fairberth: {message}")
    full = classifier.queue_full(tenant)
    if full:
        return Refusal(429, str(Reason.QUEUE_FULL), f"fairberth: {full}")
    return _gated(pod, namespace, tenant, classifier, rules)


def _exempt(pod: Object, user: str, groups: Sequence[str]) -> str:
    """Told by who asks, never by what the pod says: an owner or an annotation can be forged."""
    if user == DAEMONSET_CONTROLLER:
        return "daemonset"
    mirror = MIRROR_ANNOTATION in (pod.get("metadata", {}).get("annotations") or {})
    return "mirror" if mirror and NODES_GROUP in groups else ""


def _gated(pod: Object, namespace: str, tenant: str, classifier: Classifier, rules: Rules) -> Patch:
    submitted_class, submitted_preemption = _submitted(pod, rules)
    found = classifier.classify(pod, namespace, tenant, submitted_class)
    labels = {keys.TENANT: tenant, keys.LEVEL: str(found.level)}
    if found.team:
        labels[keys.TEAM] = found.team
    annotations = {keys.SUBMITTED_CLASS: submitted_class, keys.SUBMITTED_PREEMPTION: submitted_preemption}
    gates = list(pod.get("spec", {}).get("schedulingGates") or ())
    if all(gate.get("name") != keys.GATE for gate in gates):
        gates.append({"name": keys.GATE})
    spec = {
        "schedulingGates": gates,
        "schedulerName": rules.scheduler,
        "priorityClassName": found.priority_class or None,
        "priority": found.priority,
        "preemptionPolicy": "Never",
    }
    return _patch(pod, _labels(pod, labels), _annotations(pod, annotations), spec)


def _submitted(pod: Object, rules: Rules) -> tuple[str, str]:
    """The PriorityClass and preemptionPolicy that the author asked for.

    Where the net runs before us it kept them as annotations (it overwrites what anybody else put there), and a pod
    without our gate has not met it.
    """
    spec = pod.get("spec", {})
    annotations = pod.get("metadata", {}).get("annotations") or {}
    met_net = rules.net and any(gate.get("name") == keys.GATE for gate in spec.get("schedulingGates") or ())
    if met_net and keys.SUBMITTED_CLASS in annotations:
        return str(annotations[keys.SUBMITTED_CLASS]), str(annotations.get(keys.SUBMITTED_PREEMPTION, ""))
    return spec.get("priorityClassName") or "", spec.get("preemptionPolicy") or ""


def _labels(pod: Object, granted: Mapping[str, str]) -> dict[str, str]:
    return {**_without_granted(pod.get("metadata", {}).get("labels")), **granted}


def _annotations(pod: Object, granted: Mapping[str, str]) -> dict[str, str]:
    return {**_without_granted(pod.get("metadata", {}).get("annotations")), **granted}


def _without_granted(said: Mapping[str, str] | None) -> dict[str, str]:
    return {key: value for key, value in (said or {}).items() if not key.startswith(keys.GRANTED_PREFIX)}


def _patch(pod: Object, labels: dict[str, str], annotations: dict[str, str], spec: Mapping[str, Any]) -> Patch:
    wanted: list[tuple[str, Any, Any]] = [
        ("/metadata/labels", pod.get("metadata", {}).get("labels") or {}, labels),
        ("/metadata/annotations", pod.get("metadata", {}).get("annotations") or {}, annotations),
        *((f"/spec/{field}", pod.get("spec", {}).get(field), value) for field, value in spec.items()),
    ]
    return [
        {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}
        for path, now, value in wanted
        if now != value
    ]
