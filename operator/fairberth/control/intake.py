"""What the admission webhook asks about a new pod, answered from the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairberth.api import decode
from fairberth.model import keys
from fairberth.observe.explain import sentence
from fairberth.policy import backpressure
from fairberth.state.cluster import ClusterState


@dataclass(frozen=True, slots=True)
class Classified:
    """Where a pod belongs, and the PriorityClass of its level with what that class stands for ("" and 0: there is no
    such class, so the pod gets none)."""

    team: str
    level: int
    priority_class: str
    priority: int


class Intake:
    """Answers for the webhook. `priorities` holds the cluster's PriorityClasses (name → value), kept by a watch."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self.priorities: dict[str, int] = {}

    def tenant_of(self, namespace: str) -> str:
        """The tenant of a namespace, "" for none."""
        return self._state.tenant_of(namespace)

    def classify(self, pod: Mapping[str, Any], namespace: str, tenant: str, submitted_class: str) -> Classified:
        """Where a pod of the tenant belongs. Raises ValueError for a pod that does not decode."""
        metadata = pod.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), keys.SUBMITTED_CLASS: submitted_class}
        # A new pod has no creation time yet, and may have no name (generateName).
        known = {**metadata, "namespace": namespace, "annotations": annotations, "creationTimestamp": None}
        candidate = self._state.candidate(decode.pod_of({**pod, "metadata": known}), self._state.setup.tenants[tenant])
        level = candidate.classified.level
        name = self._state.setup.slas[level].priority_class
        value = self.priorities.get(name)
        return Classified(candidate.team, level, name if value is not None else "", value or 0)

    def queue_full(self, tenant: str) -> str:
        """Why nothing more may queue, "" if it may."""
        full = backpressure.queue_refusal(self._state.setup.tenants[tenant], self._state.lanes.waiting(tenant))
        return sentence(full) if full is not None else ""

    # -- the watch of PriorityClasses -----------------------------------------------------------------------------

    def seen(self, value: tuple[str, int], /) -> None:
        """A PriorityClass was added or changed."""
        self.priorities[value[0]] = value[1]

    def gone(self, key: str, /) -> None:
        """A PriorityClass is gone."""
        self.priorities.pop(key, None)
