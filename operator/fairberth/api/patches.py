"""Every write of ours to the API server, as a `Request`. Pure: the same arguments give the same bytes.

Each patch of a pod carries its uid, so that a pod that was deleted and made anew under its name is never touched
(the server refuses the patch: a uid is immutable).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

from fairberth.api import grants
from fairberth.api.requests import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Request
from fairberth.api.times import timestamp
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

_GOES = frozenset({str(Reason.ADMITTED), str(Reason.EXEMPT)})  # with these our condition is True


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
    said = _condition(pod, "True", str(Reason.ADMITTED), Reason.ADMITTED.sentence, at)
    fields: dict[str, Any] = {"conditions": [said]}
    if node:
        fields["nominatedNodeName"] = node
    return _status_patch(pod, fields)


def condition(pod: Pod, status: str, reason: str, message: str, *, at: Millis) -> Request:
    """Write our condition on a pod. `status` is ``True`` or ``False``; `at` when it changed.

    Another reason alone is no transition: then the time on the pod stays, and says since when it waits.
    """
    fields: dict[str, Any] = {"conditions": [_condition(pod, status, reason, message, at)]}
    if pod.gated and pod.nominated:
        fields["nominatedNodeName"] = None  # left from an admission that was never written
    return _status_patch(pod, fields)


def namespace_label(name: str, tenant: str | None) -> Request:
    """Write whose namespace it is; None takes the label away."""
    body = {"metadata": {"labels": {keys.TENANT_LABEL: tenant}}}
    return Request("PATCH", f"/api/v1/namespaces/{name}", msgspec.json.encode(body), MERGE_PATCH)


def object_status(kind: str, name: str, uid: str, status: Mapping[str, Any]) -> Request:
    """Write fields of an object's status, each as a whole; fields that are left out stay as they are.

    A JSON patch: a merge patch would leave in a map what was there before, and the API server does not look at the
    uid in a patch of a custom resource's status. That there is a status to add to, the schema's default sees to.
    """
    body: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": uid}]
    body += [{"op": "add", "path": f"/status/{field}", "value": value} for field, value in status.items()]
    path = f"{GROUP_PATH}/{PLURALS[kind]}/{name}/status"
    return Request("PATCH", path, msgspec.json.encode(body), JSON_PATCH)


def _patch(path: str, body: Mapping[str, Any]) -> Request:
    return Request("PATCH", path, msgspec.json.encode(body), STRATEGIC_PATCH)


def _status_patch(pod: Pod, fields: Mapping[str, Any]) -> Request:
    return _patch(f"{_pod_path(pod)}/status", {"metadata": {"uid": pod.uid}, "status": fields})


def _pod_path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _condition(pod: Pod, status: str, reason: str, message: str, at: Millis) -> dict[str, str]:
    written = {"type": keys.CONDITION, "status": status, "reason": reason, "message": message}
    before = "True" if pod.condition in _GOES else "False"
    if not pod.condition or before != status:
        written["lastTransitionTime"] = timestamp(at)
    return written


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
    there = {_in_full(t) for t in pod.constraints.tolerations}
    missing = [t for t in pool.tolerations if _in_full(t) not in there]
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


def _in_full(toleration: Toleration) -> Toleration:
    """The same with nothing left unsaid: no operator means Equal."""
    return toleration if toleration.operator else dataclasses.replace(toleration, operator="Equal")


def _toleration(toleration: Toleration) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if toleration.key:
        written["key"] = toleration.key
    if toleration.operator:
        written["operator"] = toleration.operator
    if toleration.value:
        written["value"] = toleration.value
    if toleration.effect:
        written["effect"] = toleration.effect
    if toleration.seconds is not None:
        written["tolerationSeconds"] = toleration.seconds
    return written
