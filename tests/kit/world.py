"""A small cluster in memory: the production state and engine, and pods that run at once where they were sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from fairberth.model.objects import CapacityPool, FairnessPolicy, PrioritySLA, Tenant
from fairberth.model.workload import Grant, Node, Pod
from fairberth.policy.engine import Turn, admit
from fairberth.policy.snapshot import Setup
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import NamespaceSeen, NodeSeen, PodGone, PodSeen, SetupChanged
from tests.kit import builders

UNBOUNDED = FairnessPolicy(per_tenant_window=None, per_team_window=None)


class World:
    """Tenants, nodes, pods; `turn()` decides once and performs it."""

    def __init__(
        self,
        tenants: Iterable[Tenant],
        nodes: Iterable[Node],
        *,
        policy: FairnessPolicy | None = None,
        slas: dict[int, PrioritySLA] | None = None,
        pools: Iterable[CapacityPool] | None = None,
    ) -> None:
        self.now = builders.T0
        self.state = ClusterState()
        self.policy = policy or FairnessPolicy()
        self.slas = builders.slas() if slas is None else slas
        self.pools = {p.name: p for p in (pools or [builders.pool()])}
        self.set_tenants(tenants)
        for node in nodes:
            self.state.apply(NodeSeen(node))

    def set_tenants(self, tenants: Iterable[Tenant]) -> None:
        """Other tenants are in force; their namespaces get their labels."""
        by_name = {tenant.name: tenant for tenant in tenants}
        self.state.apply(SetupChanged(Setup.of(by_name, self.slas, self.policy, self.pools)))
        for tenant in by_name.values():
            for name in tenant.namespaces:
                self.state.apply(NamespaceSeen(builders.namespace(name, tenant.name)))

    def add(self, *pods: Pod) -> None:
        """Pods arrive."""
        for pod in pods:
            self.state.apply(PodSeen(pod))

    def turn(self) -> Turn:
        """Decide at `now`, and let the admitted run on their nodes."""
        turn = admit(self.state.snapshot(self.now))
        for index, admission in enumerate(turn.admissions):
            pod = admission.candidate.pod
            level = admission.candidate.classified.level
            grant = Grant(self.now, admission.pool, level, f"t{self.now}-{index}", admission.node)
            self.state.apply(PodSeen(dataclasses.replace(pod, gated=False, grant=grant, node=admission.node)))
        return turn

    def end(self, *names: str) -> None:
        """Pods end, by ``namespace/name``, and are gone."""
        for pod in [pod for pod in self.state.pods.values() if pod.key in names]:
            self.state.apply(PodGone(pod.uid))

    def running(self, tenant: str) -> list[str]:
        """The admitted pods of a tenant's namespaces, by ``namespace/name``, sorted."""
        pods = self.state.pods.values()
        return sorted(p.key for p in pods if p.admitted and self.state.tenant_of(p.namespace) == tenant)


def admitted(turn: Turn) -> list[str]:
    """Who was admitted, in order, by ``namespace/name``."""
    return [admission.candidate.pod.key for admission in turn.admissions]


def reasons(turn: Turn) -> dict[str, str]:
    """Why everybody else waits: ``namespace/name`` → reason code."""
    return {
        candidate.pod.key: str(refused.verdict.reason)
        for refused in turn.refusals
        for candidate in refused.lane.candidates[refused.first :]
    }
