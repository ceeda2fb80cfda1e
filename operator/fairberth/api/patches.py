"""Every write of ours to the API server, as a `Request`. Pure: the same arguments give the same bytes.

Each patch of a pod carries its uid, so that a pod that was deleted and made anew under its name is never touched
(the server answers 409).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from fairberth.api import grants
from fairberth.api.requests import MERGE_PATCH, STRATEGIC_PATCH, Request
from fairberth.model import keys
from fairberth.model.objects import CapacityPool
from fairberth.model.reasons import Reason
from fairberth.model.selectors import NodeTerm, Requirement, Toleration
from fairberth.model.workload import Grant, Millis, Pod

GROUP_PATH = "/apis/fairberth.io/v1alpha1"
PLURALS = {
    "Tenant": "tenants",
    "PrioritySLA": "priorityslas",
    "FairnessPolicy": "fairnesspolicies",
    "CapacityPool": "capacitypools",
}


def timestamp(at: Millis) -> str:
    """RFC 3339 in UTC, to the second, as Kubernetes writes times."""
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def admission(pod: Pod, grant: Grant, pool: CapacityPool) -> Request:
    """Let a pod go: our gate removed by name, the grant written, placement tightened to the pool; all in one patch.

    A pod that is past our gate already only gets the grant: its spec cannot be changed any more.
    """
    body: dict[str, Any] = {
        "metadata": {"uid": pod.uid, "annotations": {keys.ADMISSION: grants.encode(grant)}},
    }
    if pod.gated:
        spec: dict[str, Any] = {"schedulingGates": [{"$patch": "delete", "name": keys.GATE}]}
        spec |= _placement(pod, pool)
        body["spec"] = spec
    return _patch(f"{_pod_path(pod)}", body)


def admitted(pod: Pod, node: str, *, at: Millis) -> Request:
    """Say that the pod is admitted, and nominate a node if there is one (one write for both)."""
    fields: dict[str, Any] = {"conditions": [_condition("True", str(Reason.ADMITTED), Reason.ADMITTED.sentence, at)]}
    if node:
        fields["nominatedNodeName"] = node
    return _status_patch(pod, fields)


def condition(pod: Pod, status: str, reason: str, message: str, *, at: Millis) -> Request:
    """Write our condition on a pod. `status` is ``True`` or ``False``; `at` when it changed."""
    fields: dict[str, Any] = {"conditions": [_condition(status, reason, message, at)]}
    if pod.gated and pod.nominated:
        fields["nominatedNodeName"] = None  # left from an admission that was never written
    return _status_patch(pod, fields)


def namespace_label(name: str, tenant: str | None) -> Request:
    """Write whose namespace it is; None takes the label away."""
    body = {"metadata": {"labels": {keys.TENANT_LABEL: tenant}}}
    return Request("PATCH", f"/api/v1/namespaces/{name}", msgspec.json.encode(body), MERGE_PATCH)


def object_status(kind: str, name: str, uid: str, status: Mapping[str, Any]) -> Request:
    """Write the status of an object of ours (fields that are left out stay as they are)."""
    body = {"metadata": {"uid": uid}, "status": status}
    path = f"{GROUP_PATH}/{PLURALS[kind]}/{name}/status"
    return Request("PATCH", path, msgspec.json.encode(body), MERGE_PATCH)


def _patch(path: str, body: Mapping[str, Any]) -> Request:
    return Request("PATCH", path, msgspec.json.encode(body), STRATEGIC_PATCH)


def _status_patch(pod: Pod, fields: Mapping[str, Any]) -> Request:
    return _patch(f"{_pod_path(pod)}/status", {"metadata": {"uid": pod.uid}, "status": fields})


def _pod_path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _condition(status: str, reason: str, message: str, at: Millis) -> dict[str, str]:
    return {
        "type": keys.CONDITION,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": timestamp(at),
    }


# -- placement ----------------------------------------------------------------------------------------------------


def _placement(pod: Pod, pool: CapacityPool) -> dict[str, Any]:
    """What ties the pod to the pool's nodes: exact labels as nodeSelector, the rest as required node affinity."""
    exact = {r.key: r.values[0] for r in pool.selector.requirements if r.operator == "In" and len(r.values) == 1}
    own = {r.key: r.values[0] for r in pod.constraints.selector.requirements}
    rest = tuple(
        r for r in pool.selector.requirements if not (r.operator == "In" and len(r.values) == 1 and r.key in exact)
    )
    # A key that the pod selects otherwise cannot be selected again: then both stand, and no node matches.
    clashing = {key for key in exact.keys() & own.keys() if exact[key] != own[key]}
    rest += tuple(Requirement(key, "In", (exact[key],)) for key in sorted(clashing))
    added = {key: value for key, value in exact.items() if key not in own}
    spec: dict[str, Any] = {}
    if added:
        spec["nodeSelector"] = added
    if rest:
        terms = pod.constraints.terms or (NodeTerm(),)
        required = {"nodeSelectorTerms": [_term(term, rest) for term in terms]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    missing = [t for t in pool.tolerations if t not in pod.constraints.tolerations]
    if missing:  # an atomic list: it is written whole
        spec["tolerations"] = [_toleration(t) for t in (*pod.constraints.tolerations, *missing)]
    return spec


def _term(term: NodeTerm, more: tuple[Requirement, ...]) -> dict[str, Any]:
    written: dict[str, Any] = {"matchExpressions": [_expression(r) for r in (*term.expressions, *more)]}
    if term.fields:
        written["matchFields"] = [_expression(r) for r in term.fields]
    return written


def _expression(requirement: Requirement) -> dict[str, Any]:
    written: dict[str, Any] = {"key": requirement.key, "operator": requirement.operator}
    if requirement.values:
        written["values"] = list(requirement.values)
    return written


def _toleration(toleration: Toleration) -> dict[str, Any]:
    written: dict[str, Any] = {"operator": toleration.operator}
    if toleration.key:
        written["key"] = toleration.key
    if toleration.value:
        written["value"] = toleration.value
    if toleration.effect:
        written["effect"] = toleration.effect
    if toleration.seconds is not None:
        written["tolerationSeconds"] = toleration.seconds
    return written
