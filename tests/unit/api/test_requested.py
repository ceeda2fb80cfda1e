"""What a pod asks for, by kube-scheduler's rule."""

from __future__ import annotations

from typing import Any

import pytest

from fairberth.api import decode
from fairberth.api.requested import MOST
from fairberth.model.amounts import Amounts


def container(name: str = "c", restart: str | None = None, **requests: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "resources": {"requests": requests}}
    return {**made, "restartPolicy": restart} if restart else made


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any) -> dict[str, Any]:
    status = spec.pop("status", {})
    body = {"containers": list(containers), "initContainers": list(init), **spec}
    return {"metadata": {"uid": "u", "name": "p", "namespace": "n"}, "spec": body, "status": status}


RULES = {
    "containers add up": (
        pod(container(cpu="1"), container("d", cpu="500m", memory="1Gi")),
        {"cpu": 1500, "memory": 2**30},
    ),
    "an init step counts where it is hungrier": (
        pod(container(cpu="1"), init=(container("i", cpu="3"),)),
        {"cpu": 3000},
    ),
    "init steps run one after another": (
        pod(container(cpu="1"), init=(container("i", cpu="2"), container("j", cpu="2"))),
        {"cpu": 2000},
    ),
    "a sidecar runs beside the containers": (
        pod(container(cpu="1"), init=(container("s", "Always", cpu="1"),)),
        {"cpu": 2000},
    ),
    "an init step after a sidecar runs beside it": (
        pod(container(cpu="1"), init=(container("s", "Always", cpu="1"), container("i", cpu="4"))),
        {"cpu": 5000},
    ),
    "an init step before a sidecar does not": (
        pod(container(cpu="1"), init=(container("i", cpu="4"), container("s", "Always", cpu="1"))),
        {"cpu": 4000},
    ),
    "pod-level requests replace cpu and memory": (
        pod(container(cpu="1", memory="1Gi"), resources={"requests": {"cpu": "3"}}),
        {"cpu": 3000, "memory": 2**30},
    ),
    "pod-level requests leave devices alone": (
        pod(container(**{"x.y/gpu": 1}), resources={"requests": {"x.y/gpu": 5}}),
        {"x.y/gpu": 1},
    ),
    "overhead is added last": (
        pod(container(cpu="1"), resources={"requests": {"cpu": "3"}}, overhead={"cpu": "250m"}),
        {"cpu": 3250},
    ),
    "cpu is rounded up to milli, the rest to whole units": (
        pod(container(cpu="0.5m", memory="100m")),
        {"cpu": 1, "memory": 1},
    ),
    "a bound pod in resize counts the most": (
        pod(
            container(cpu="1"),
            nodeName="n",
            status={
                "containerStatuses": [
                    {"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "1500m"}}}
                ]
            },
        ),
        {"cpu": 2000},
    ),
    "an unbound pod counts its spec": (
        pod(container(cpu="1"), status={"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}]}),
        {"cpu": 1000},
    ),
    "what an infeasible resize asks for no longer counts": (
        pod(
            container(cpu="8"),
            nodeName="n",
            status={
                "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
                "containerStatuses": [
                    {"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "1"}}}
                ],
            },
        ),
        {"cpu": 2000},
    ),
    "what a deferred resize asks for does": (
        pod(
            container(cpu="8"),
            nodeName="n",
            status={
                "conditions": [{"type": "PodResizePending", "reason": "Deferred"}],
                "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}],
            },
        ),
        {"cpu": 8000},
    ),
    "an infeasible resize of a container without a status counts its spec": (
        pod(
            container(cpu="1"),
            container("d", cpu="8"),
            nodeName="n",
            status={
                "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
                "containerStatuses": [{"name": "d", "allocatedResources": {"cpu": "2"}}],
            },
        ),
        {"cpu": 3000},
    ),
    "a sidecar in resize counts the most": (
        pod(
            container(cpu="1"),
            init=(container("s", "Always", cpu="1"),),
            nodeName="n",
            status={"initContainerStatuses": [{"name": "s", "allocatedResources": {"cpu": "2"}}]},
        ),
        {"cpu": 3000},
    ),
    "an init step counts its spec, whatever its status says": (
        pod(
            container(cpu="1"),
            init=(container("i", cpu="2"),),
            nodeName="n",
            status={"initContainerStatuses": [{"name": "i", "allocatedResources": {"cpu": "9"}}]},
        ),
        {"cpu": 2000},
    ),
    "a pod-level resize counts the most": (
        pod(
            container(cpu="1"),
            resources={"requests": {"cpu": "3"}},
            nodeName="n",
            status={"resources": {"requests": {"cpu": "4"}}, "allocatedResources": {"cpu": "5", "x.y/gpu": "1"}},
        ),
        {"cpu": 5000},
    ),
    "an infeasible pod-level resize counts what is granted": (
        pod(
            container(cpu="1"),
            resources={"requests": {"cpu": "9"}},
            nodeName="n",
            status={
                "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
                "resources": {"requests": {"cpu": "4"}},
            },
        ),
        {"cpu": 4000},
    ),
    "huge pages of the whole pod": (
        pod(container(), resources={"requests": {"hugepages-2Mi": "4Mi"}}),
        {"hugepages-2Mi": 4 * 2**20},
    ),
    "each kind of suffix and exponent": (
        pod(container(cpu="1e-1", memory="1.5Ki", **{"ephemeral-storage": "1P"})),
        {"cpu": 100, "memory": 1536, "ephemeral-storage": 10**15},
    ),
    "numbers as YAML gives them": (pod(container(cpu=0.5, memory=1024)), {"cpu": 500, "memory": 1024}),
    "more than any node could have is bounded, so that sums stay within 64 bits": (
        pod(container(cpu="9E", memory="8E"), container("d", memory="8E")),
        {"cpu": MOST, "memory": MOST},
    ),
    "nothing asked is one pod": (pod(container()), {}),
}


@pytest.mark.parametrize(("manifest", "expected"), RULES.values(), ids=RULES.keys())
def test_requests(manifest: dict[str, Any], expected: dict[str, int]) -> None:
    assert decode.pod_of(manifest).requests == Amounts({**expected, "pods": 1})


def test_equal_requests_are_one_object() -> None:
    first, second = (decode.pod_of(pod(container(cpu="1"))) for _ in range(2))
    assert first.requests is second.requests
    assert first.constraints is second.constraints
