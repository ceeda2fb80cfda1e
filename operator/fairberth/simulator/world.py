"""A cluster in memory: the production state, and pods that run at once on the node that they were sent to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.workload import Grant, Millis, Pod
from fairberth.policy.engine import Turn, admit
from fairberth.policy.rounds import Admission
from fairberth.policy.snapshot import Snapshot
from fairberth.simulator.books import Books, Holding, InvariantBroken
from fairberth.simulator.scenario import Scenario
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import NamespaceSeen, NodeSeen, PodGone, PodSeen, SetupChanged

Decide = Callable[[Snapshot], Turn]


class World:
    """What a scenario's cluster is like now. `decide` is the engine, or whatever is compared with it."""

    def __init__(self, scenario: Scenario, decide: Decide = admit) -> None:
        self._decide = decide
        self._nodes = {node.name: node for node in scenario.nodes}
        self.setup = scenario.setup
        self.books = Books(scenario.setup, scenario.nodes)
        self.turns = 0
        self._pods: dict[str, Pod] = {}
        self._homeless: dict[str, Pod] = {}  # admitted, and no node yet
        self._state = ClusterState()
        self._state.apply(SetupChanged(scenario.setup))
        for namespace in scenario.namespaces:
            self._state.apply(NamespaceSeen(namespace))
        for node in scenario.nodes:
            self._state.apply(NodeSeen(node))

    def capacity(self, now: Millis) -> Mapping[str, Amounts]:
        """What each pool has (§5.5)."""
        return self._state.snapshot(now).capacity

    def arrive(self, pod: Pod) -> str:
        """A gated pod is created; returns whose it is."""
        self._state.apply(PodSeen(pod))
        return self._state.tenant_of(pod.namespace)

    def turn(self, now: Millis) -> Turn:
        """Decide, and let the admitted go. Raises InvariantBroken."""
        self.turns += 1
        turn = self._decide(self._state.snapshot(now))
        for index, admission in enumerate(turn.admissions):
            self._go(admission, now, f"turn-{self.turns}-{index}")
        return turn

    def _go(self, admission: Admission, now: Millis, decision: str) -> None:
        pod, level = admission.candidate.pod, admission.candidate.classified.level
        holding = Holding(admission.pool, admission.tenant, level, pod.requests, admission.node)
        self.books.admit(pod.uid, holding)
        grant = Grant(now, admission.pool, level, decision, admission.node)
        self._see(replace(pod, gated=False, grant=grant, node=admission.node))

    def _see(self, pod: Pod) -> None:
        self._pods[pod.uid] = pod
        self._state.apply(PodSeen(pod))
        if pod.node:
            self._homeless.pop(pod.uid, None)
        else:
            self._homeless[pod.uid] = pod

    def place(self) -> list[str]:
        """kube-scheduler's part, for pods that were admitted without a node: the first node that fits, by name.
        Returns the uids of those that got one."""
        placed = []
        for uid, pod in list(self._homeless.items()):
            node = self._first_fit(pod)
            if node:
                self.books.place(uid, node)
                self._see(replace(pod, node=node))
                placed.append(uid)
        return placed

    def _first_fit(self, pod: Pod) -> str:
        assert pod.grant is not None  # only admitted pods are homeless
        pool = self.setup.pools[pod.grant.pool]
        wanted = pod.constraints.tolerating(pool.tolerations)
        for name, node in self._nodes.items():
            if (
                node.counts
                and self.setup.pool_of(node) == pool.name
                and wanted.allow(name, node.labels, node.taints)
                and self.books.has_room(name, pod.requests)
            ):
                return name
        return ""

    def runs(self, uid: str) -> bool:
        """Whether a pod runs on a node."""
        return uid in self._pods and uid not in self._homeless

    def end(self, uid: str) -> None:
        """A pod is over and gone."""
        del self._pods[uid]
        self.books.end(uid)
        self._state.apply(PodGone(uid))

    def check(self) -> None:
        """The thorough check, for the end of a run. Raises InvariantBroken where books disagree."""
        for sentence in self._state.drift():
            raise InvariantBroken(f"the ledger does not add up: {sentence}")
        sums: dict[tuple[str, str], Amounts] = {}
        for (pool, tenant, _), amounts in self.books.held.items():
            for name in self.setup.hierarchy.paths[tenant]:
                sums[pool, name] = sums.get((pool, name), NOTHING).plus(amounts)
        for (pool, tenant), mine in sums.items():
            theirs = self._state.ledger.held(pool, tenant)
            if mine != theirs:
                raise InvariantBroken(f"{tenant} holds {mine} in pool {pool}; the ledger says {theirs}")
