"""Builders of what tests put into the control plane: valid, small, every detail optional. All return plain dicts."""

from collections.abc import Mapping, Sequence

from tests.cluster.plane.api import Object

RUN_FOR = "sim.fairberth.io/run-for"
EXIT_CODE = "sim.fairberth.io/exit-code"
STOP_AFTER = "sim.fairberth.io/stop-after"


def namespace(name: str, labels: Mapping[str, str] | None = None) -> Object:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels or {})}}


def node(
    name: str,
    cpu: str = "8",
    memory: str = "32Gi",
    pods: int = 110,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
    extended: Mapping[str, str] | None = None,
) -> Object:
    """A node that is Ready from the start; `extended` adds resources such as GPUs to its allocatable."""
    resources = {"cpu": cpu, "memory": memory, "pods": str(pods), **(extended or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": list(taints)},
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Object:
    """A taint for `node`."""
    return {"key": key, "value": value, "effect": effect}


def pod(
    name: str,
    namespace: str,
    *,
    cpu: str = "100m",
    memory: str = "64Mi",
    run_for: str | None = None,
    exit_code: int = 0,
    stop_after: str | None = None,
    grace: int = 30,
    gates: Sequence[str] = (),
    scheduler: str | None = None,
    priority_class: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    extended: Mapping[str, str] | None = None,
    **spec: object,
) -> Object:
    """A bare pod that never restarts. It runs `run_for` ("3s"; for ever if None) and then exits with `exit_code`.

    Deleted, it stops after `stop_after` ("1s"), or the whole `grace` seconds. `extended` adds resources to its
    requests and limits; what is in `spec` goes into the pod's spec as it is.
    """
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": dict(labels or {}),
            "annotations": {**behaviour(run_for, exit_code, stop_after), **(annotations or {})},
        },
        "spec": {
            **pod_spec(cpu, memory, extended),
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": grace,
            "schedulingGates": [{"name": gate} for gate in gates],
            **({"schedulerName": scheduler} if scheduler else {}),
            **({"priorityClassName": priority_class} if priority_class else {}),
            **spec,
        },
    }


def pod_spec(cpu: str = "100m", memory: str = "64Mi", extended: Mapping[str, str] | None = None) -> Object:
    """The part of a pod's spec that says what it needs: one container and its requests."""
    more = dict(extended or {})
    resources = {"requests": {"cpu": cpu, "memory": memory, **more}, "limits": more}
    return {"containers": [{"name": "main", "image": "simulated", "resources": resources}]}


def behaviour(run_for: str | None = None, exit_code: int = 0, stop_after: str | None = None) -> dict[str, str]:
    """The annotations that tell the fake kubelet what a pod does."""
    told = {RUN_FOR: run_for, EXIT_CODE: str(exit_code) if exit_code else None, STOP_AFTER: stop_after}
    return {key: value for key, value in told.items() if value is not None}


def workload(
    kind: str,
    name: str,
    namespace: str,
    *,
    cpu: str = "100m",
    memory: str = "64Mi",
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    pod: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """A DaemonSet, Deployment, ReplicaSet or StatefulSet; `annotations`, `labels` and `pod` go into its template.

    `spec` goes into the workload's spec as it is: `replicas=3`.
    """
    template = {
        "metadata": {"labels": {"app": name, **(labels or {})}, "annotations": dict(annotations or {})},
        "spec": {**pod_spec(cpu, memory), **(pod or {})},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


def job(
    name: str,
    namespace: str,
    *,
    run_for: str | None = None,
    exit_code: int = 0,
    cpu: str = "100m",
    memory: str = "64Mi",
    pod: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """A Job whose pods run `run_for`; `pod` goes into the pods' spec, `spec` into the Job's: `completions=6`."""
    template = {
        "metadata": {"labels": {"app": name}, "annotations": behaviour(run_for, exit_code)},
        "spec": {**pod_spec(cpu, memory), "restartPolicy": "Never", **(pod or {})},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template, **spec},
    }


def disruption_budget(name: str, namespace: str, labels: Mapping[str, str], min_available: int) -> Object:
    """A PodDisruptionBudget over the pods with these labels."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": dict(labels)}},
    }
