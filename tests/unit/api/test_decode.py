"""Pods, nodes and namespaces: from the API server's JSON to the values that decisions see."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairberth.api import decode
from fairberth.model.amounts import Amounts
from fairberth.model.selectors import (
    ANYWHERE,
    EVERYTHING,
    Constraints,
    NodeTerm,
    Requirement,
    Selector,
    Taint,
    Toleration,
)
from fairberth.model.workload import Grant, Namespace, Node, Pod


def pod(metadata: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    """A pod through the JSON decoder; its container asks for nothing."""
    names = {"name": "p", "namespace": "n", "uid": "u", **(metadata or {})}
    body = {"metadata": names, "spec": {"containers": [{"name": "c"}], **spec}, "status": status or {}}
    return decode.pod(json.dumps(body).encode())


def test_a_pod_that_says_little_decodes_to_defaults() -> None:
    assert pod() == Pod(uid="u", namespace="n", name="p", created=0, requests=Amounts({"pods": 1}))


def test_a_pod_that_says_everything_decodes_exactly() -> None:
    grant = '{"time":5,"pool":"default","level":2,"decision":"t-1"}'
    decoded = pod(
        {
            "creationTimestamp": "2026-01-01T00:00:01Z",
            "deletionTimestamp": "2026-01-01T00:00:31Z",
            "labels": {
                "app": "x",
                "granted.fairberth.io/tenant": "risk",
                "granted.fairberth.io/level": "2",
                "granted.fairberth.io/exempt": "daemonset",
            },
            "annotations": {"granted.fairberth.io/admission": grant, "note": "y"},
            "ownerReferences": [{"uid": "a"}, {"uid": "b", "controller": True}],
        },
        {
            "phase": "Failed",
            "nominatedNodeName": "n2",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "reason": "x"},
                {"type": "fairberth.io/Admitted", "status": "False", "reason": "NoRoom"},
            ],
        },
        nodeName="n1",
        schedulerName="fairberth-scheduler",
        priorityClassName="mine",
        schedulingGates=[{"name": "fairberth.io/turn"}, {"name": "kueue.x-k8s.io/admission"}],
    )
    assert decoded == Pod(
        uid="u",
        namespace="n",
        name="p",
        created=1_767_225_601_000,
        deleted_at=1_767_225_631_000,
        requests=Amounts({"pods": 1}),
        labels=decoded.labels,
        scheduler="fairberth-scheduler",
        priority_class="mine",
        gated=True,
        foreign_gates=("kueue.x-k8s.io/admission",),
        grant=Grant(5, "default", 2, "t-1"),
        exempt="daemonset",
        node="n1",
        nominated="n2",
        terminal=True,
        condition="NoRoom",
        granted_tenant="risk",
        granted_level=2,
        owner="b",
    )
    assert decoded.labels["app"] == "x"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, "now"),
        ({"granted.fairberth.io/submitted-class": "then"}, "then"),
        ({"granted.fairberth.io/submitted-class": ""}, ""),
    ],
    ids=["as it is", "as submitted", "none was submitted"],
)
def test_the_priority_class_is_the_one_that_was_submitted(annotations: dict[str, str], expected: str) -> None:
    assert pod({"annotations": annotations}, priorityClassName="now").priority_class == expected


@pytest.mark.parametrize("level", ["", "x", "-1", "2.5", "²"])
def test_a_level_label_that_is_no_number_is_none(level: str) -> None:
    assert pod({"labels": {"granted.fairberth.io/level": level}}).granted_level is None


def test_a_malformed_grant_is_none() -> None:
    assert pod({"annotations": {"granted.fairberth.io/admission": "yes please"}}).grant is None


def test_null_is_as_good_as_absent() -> None:
    fields = (
        "nodeSelector",
        "affinity",
        "tolerations",
        "volumes",
        "schedulingGates",
        "overhead",
        "resources",
        "nodeName",
    )
    named = {"labels": None, "annotations": None, "creationTimestamp": None, "ownerReferences": None}
    assert pod(named, {"conditions": None}, **dict.fromkeys(fields)) == pod()


# -- constraints --------------------------------------------------------------------------------------------------

IN_A = {"key": "zone", "operator": "In", "values": ["a", "b"]}
NAMED = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


def node_affinity(*terms: dict[str, Any], **more: Any) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}} if terms else {}
    return {"affinity": {"nodeAffinity": {**required, **more}}}


CONSTRAINTS: dict[str, tuple[dict[str, Any], Constraints]] = {
    "nothing": ({}, ANYWHERE),
    "a node selector, in any order": (
        {"nodeSelector": {"b": "2", "a": "1"}},
        Constraints(Selector((Requirement("a", "In", ("1",)), Requirement("b", "In", ("2",))))),
    ),
    "terms of required node affinity, in their order": (
        node_affinity({"matchExpressions": [IN_A]}, {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}),
        Constraints(
            EVERYTHING,
            (NodeTerm((Requirement("zone", "In", ("a", "b")),)), NodeTerm((Requirement("gpu", "Exists"),))),
        ),
    ),
    "a term on the node's name": (
        node_affinity({"matchExpressions": [IN_A], "matchFields": [NAMED]}),
        Constraints(
            EVERYTHING,
            (NodeTerm((Requirement("zone", "In", ("a", "b")),), (Requirement("metadata.name", "In", ("n1",)),)),),
        ),
    ),
    "an empty term stays: it matches nothing": (node_affinity({}), Constraints(EVERYTHING, (NodeTerm(),))),
    "preferred node affinity only scores": (
        node_affinity(preferredDuringSchedulingIgnoredDuringExecution=[{"weight": 1, "preference": {}}]),
        ANYWHERE,
    ),
    "tolerations in their own words": (
        {
            "tolerations": [
                {"key": "a", "value": "b"},
                {"operator": "Exists"},
                {"key": "c", "operator": "Equal", "effect": "NoExecute", "tolerationSeconds": 0},
            ]
        },
        Constraints(
            tolerations=(
                Toleration("a", "", "b"),
                Toleration("", "Exists"),
                Toleration("c", "Equal", "", "NoExecute", 0),
            )
        ),
    ),
}


@pytest.mark.parametrize(("spec", "expected"), CONSTRAINTS.values(), ids=CONSTRAINTS.keys())
def test_constraints(spec: dict[str, Any], expected: Constraints) -> None:
    assert pod(**spec).constraints == expected
    assert pod(**spec).constraints is pod(**spec).constraints, "equal ones are one value"


def volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


def affinity(**kinds: Any) -> dict[str, Any]:
    return {"affinity": kinds}


PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {}}]}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}
UNMODELLED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "required pod affinity": (affinity(podAffinity=REQUIRED), ("podAffinity",)),
    "preferred pod affinity": (affinity(podAffinity=PREFERRED), ("podAffinity",)),
    "pod anti-affinity": (affinity(podAntiAffinity=REQUIRED), ("podAntiAffinity",)),
    "pod affinity that says nothing": (affinity(podAffinity={}), ()),
    "topology spread": ({"topologySpreadConstraints": [{"maxSkew": 1}]}, ("topologySpreadConstraints",)),
    "a resource claim": ({"resourceClaims": [{"name": "gpu"}]}, ("resourceClaims",)),
    "a pod group": ({"schedulingGroup": {"podGroupName": "g"}}, ("schedulingGroup",)),
    "a pod group by its older name": ({"workloadRef": {"name": "g"}}, ("schedulingGroup",)),
    "a host port": ({"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}, ("hostPort",)),
    "a host port of a sidecar": ({"initContainers": [{"name": "c", "ports": [{"hostPort": 80}]}]}, ("hostPort",)),
    "a port of its own": ({"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}, ()),
    "a claimed volume": (volume(persistentVolumeClaim={"claimName": "x"}), ("volumes",)),
    "an ephemeral volume": (volume(ephemeral={}), ("volumes",)),
    "a volume by driver": (volume(csi={"driver": "x"}), ("volumes",)),
    "a disk": (volume(awsElasticBlockStore={"volumeID": "x"}), ("volumes",)),
    "two things": ({**volume(csi={}), "resourceClaims": [{"name": "x"}]}, ("resourceClaims", "volumes")),
    **{
        f"a volume that any node can give: {kind}": (volume(**{kind: {}}), ())
        for kind in ("emptyDir", "configMap", "secret", "projected", "downwardAPI", "hostPath", "image")
    },
}


@pytest.mark.parametrize(("spec", "expected"), UNMODELLED.values(), ids=UNMODELLED.keys())
def test_what_node_fit_knows_nothing_of_is_named(spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert pod(**spec).constraints.unmodelled == expected


def test_equal_labels_are_shared() -> None:
    assert pod({"labels": {"a": "b"}}).labels is pod({"labels": {"a": "b"}}).labels


# -- nodes and namespaces -----------------------------------------------------------------------------------------


def node(status: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None, **spec: Any) -> Node:
    """A node through the JSON decoder."""
    body = {"metadata": {"name": "n", **(metadata or {})}, "spec": spec, "status": status or {}}
    return decode.node(json.dumps(body).encode())


def test_a_node_decodes_exactly() -> None:
    decoded = node(
        {
            "allocatable": {"cpu": "7910m", "memory": "32Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
        {"creationTimestamp": "2026-01-01T00:00:01Z", "labels": {"zone": "a"}},
        taints=[{"key": "gpu", "effect": "NoSchedule"}, {"key": "old", "value": "yes", "effect": "NoExecute"}],
    )
    assert decoded == Node(
        name="n",
        created=1_767_225_601_000,
        allocatable=Amounts({"cpu": 7910, "memory": 32 * 2**30, "pods": 110}),
        labels={"zone": "a"},
        taints=(Taint("gpu", "", "NoSchedule"), Taint("old", "yes", "NoExecute")),
    )
    assert decoded.labels == {"zone": "a"}
    assert decoded.counts


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
NOT_COUNTED: dict[str, Node] = {
    "one that says nothing of itself": node(),
    "one that is not Ready": node({"conditions": [{"type": "Ready", "status": "False"}]}),
    "one that is lost": node({"conditions": [{"type": "Ready", "status": "Unknown"}]}),
    "a cordoned one": node(READY, unschedulable=True),
    "one that is being deleted": node(READY, {"deletionTimestamp": "2026-01-01T00:00:01Z"}),
    "one that the autoscaler removes": node(READY, taints=[{"key": "ToBeDeletedByClusterAutoscaler"}]),
    "one that Karpenter disrupts": node(READY, taints=[{"key": "karpenter.sh/disrupted"}]),
}


@pytest.mark.parametrize("decoded", NOT_COUNTED.values(), ids=NOT_COUNTED.keys())
def test_room_on_such_a_node_is_no_capacity(decoded: Node) -> None:
    assert not decoded.counts


def test_a_candidate_for_removal_still_counts() -> None:
    taint = {"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"}
    assert node(READY, taints=[taint]).counts


def test_a_namespace_decodes() -> None:
    body = {"metadata": {"name": "a", "labels": {"x": "y"}, "creationTimestamp": "2026-01-01T00:00:01Z"}}
    expected = Namespace("a", {"x": "y"}, 1_767_225_601_000)
    assert decode.namespace(json.dumps(body).encode()) == decode.namespace_of(body) == expected
    assert decode.namespace_of(body).labels == {"x": "y"}


def test_a_priority_class_decodes() -> None:
    assert decode.priority_class(b'{"metadata":{"name":"p0"},"value":70000000}') == ("p0", 70_000_000)


@pytest.mark.parametrize(
    "raw",
    [b"", b"nonsense", b"[]", b"{}", b'{"metadata":5}', b'{"metadata":{"creationTimestamp":"soon"}}'],
    ids=lambda raw: raw.decode() or "nothing",
)
def test_what_is_no_object_is_a_value_error(raw: bytes) -> None:
    for decoder in (decode.pod, decode.node, decode.namespace):
        with pytest.raises(ValueError, match=r"."):
            decoder(raw)


def test_a_quantity_that_is_none_is_a_value_error_that_names_the_resource() -> None:
    with pytest.raises(ValueError, match="cpu: 'two' is not a quantity"):
        pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "two"}}}])
