"""What the extender answers from: whose namespaces and nodes are, and how full each node is.

Changed by facts alone, in constant time per pod. The grant is read from the pod that kube-scheduler sends (it is newer
than any cache of ours; nobody but us can write it), so a call looks up its namespace, its node's pool and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.keys import TENANT_LABEL
from fairberth.model.workload import Namespace, Node, Pod
from fairberth.policy.snapshot import Setup
from fairberth.state.facts import (
    Assumed,
    Fact,
    NamespaceGone,
    NamespaceSeen,
    NodeGone,
    NodeSeen,
    PodGone,
    PodSeen,
    SetupChanged,
    Withdrawn,
)

HIGHEST = 10  # kube-scheduler's MaxExtenderPriority


class Answers:
    """The extender's memory. One event loop owns it."""

    def __init__(self) -> None:
        self.setup = Setup()
        self._tenants: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}
        self._pools: dict[str, str] = {}
        self._used: dict[str, Amounts] = {}
        self._where: dict[str, tuple[str, Amounts, bool]] = {}
        self._nominated: dict[str, int] = {}
        self._scores: dict[bool, dict[str, bytes]] = {True: {}, False: {}}
        self.generation = 0  # counts changes of what scores depend on

    def apply(self, fact: Fact) -> None:
        """Take in a fact."""
        match fact:
            case PodSeen(pod):
                self._see_pod(pod)
            case PodGone(uid):
                self._move(uid, None)
            case NodeSeen(node):
                self._see_node(node)
            case NodeGone(name):
                self._nodes.pop(name, None)
                self._pools.pop(name, None)
                self._forget_scores(name)
            case NamespaceSeen(namespace):
                self._see_namespace(namespace)
            case NamespaceGone(name):
                self._tenants.pop(name, None)
            case SetupChanged(setup):
                self.setup = setup
                for node in self._nodes.values():
                    self._pools[node.name] = setup.pool_of(node)
            case Assumed() | Withdrawn():
                pass  # the operator's own; here only what the API server shows counts

    def _see_namespace(self, namespace: Namespace) -> None:
        tenant = namespace.labels.get(TENANT_LABEL, "")
        if tenant:
            self._tenants[namespace.name] = tenant
        else:
            self._tenants.pop(namespace.name, None)

    def _see_node(self, node: Node) -> None:
        self._nodes[node.name] = node
        self._pools[node.name] = self.setup.pool_of(node)
        self._forget_scores(node.name)

    def _see_pod(self, pod: Pod) -> None:
        if pod.terminal:
            self._move(pod.uid, None)
        elif pod.node:
            self._move(pod.uid, (pod.node, pod.requests, False))
        else:
            self._move(pod.uid, (pod.nominated, pod.requests, True) if pod.nominated else None)

    def _move(self, uid: str, new: tuple[str, Amounts, bool] | None) -> None:
        old = self._where.pop(uid, None)
        if old == new:
            if new is not None:
                self._where[uid] = new
            return
        for place, sign in ((old, -1), (new, 1)):
            if place is None:
                continue
            node, amounts, nominated = place
            self._used[node] = self._used.get(node, NOTHING).plus(amounts.times(sign))
            if nominated:
                self._nominated[node] = self._nominated.get(node, 0) + sign
            self._forget_scores(node)
        if new is not None:
            self._where[uid] = new

    def _forget_scores(self, node: str) -> None:
        self.generation += 1
        for scores in self._scores.values():
            scores.pop(node, None)

    # -- questions ------------------------------------------------------------------------------------------------

    def tenant_of(self, namespace: str) -> str:
        """The tenant that a namespace is labelled with, "" for none."""
        return self._tenants.get(namespace, "")

    def outside(self, node: str, pool: str) -> bool:
        """Whether a node is certainly not of the pool. A node or pool that we do not know (yet) is given the benefit
        of the doubt: the pod's own affinity keeps it in its pool."""
        return self._pools.get(node, pool) != pool and pool in self.setup.pools

    def packs(self, level: int) -> bool:
        """Whether a level's pods are packed (nodes empty out) rather than spread."""
        return self.setup.slas[level].preemptible

    def fragments(self, nodes: Iterable[str], *, pack: bool) -> bytes:
        """The scores of these nodes as a HostPriorityList, joined from encoded pieces that are kept per node."""
        known = self._scores[pack]
        return b"[" + b",".join([known.get(name) or self._fragment(name, known, pack) for name in nodes]) + b"]"

    def _fragment(self, name: str, known: dict[str, bytes], pack: bool) -> bytes:
        host = name.replace("\\", "\\\\").replace('"', '\\"')
        fragment = f'{{"Host":"{host}","Score":{self._score(name, pack)}}}'.encode()
        if name in self._nodes:
            known[name] = fragment
        return fragment

    def _score(self, name: str, pack: bool) -> int:
        """0 to 10: how full the node is where pods are packed, how empty where they are spread; last are nodes that
        are leaving or that a nomination waits for."""
        node = self._nodes.get(name)
        if node is None or node.leaving or self._nominated.get(name):
            return 0
        full = _fullness(self._used.get(name, NOTHING), node.allocatable)
        return full if pack else HIGHEST - full


def _fullness(used: Amounts, allocatable: Mapping[str, int]) -> int:
    parts = [min(used[name] * HIGHEST // n, HIGHEST) for name, n in allocatable.items() if n > 0 and name != "pods"]
    return sum(parts) // len(parts) if parts else 0
