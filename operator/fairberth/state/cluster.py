"""`ClusterState`: all that we know, changed by facts alone, seen through snapshots alone.

`apply(fact)` is the one mutator. Facts may come in any order (a pod before its node, its namespace or its tenant):
what they mean together does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.keys import TENANT_LABEL
from fairberth.model.objects import Team, Tenant
from fairberth.model.workload import Grant, Millis, Namespace, Pod
from fairberth.policy.classification import base_priority, classify
from fairberth.policy.ledger import Charge, Ledger, OverRelease
from fairberth.policy.snapshot import Candidate, Setup, Snapshot
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
from fairberth.state.lanes import WaitingLanes, group_of
from fairberth.state.usage import NodeUsage


class ClusterState:
    """The memory. Not thread-safe: one event loop owns it."""

    def __init__(self, setup: Setup | None = None) -> None:
        self.setup = setup or Setup()
        self.pods: dict[str, Pod] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.assumed: dict[str, Grant] = {}
        self.ledger = Ledger(self.setup.tenants, self.setup.hierarchy)
        self.lanes = WaitingLanes()
        self.usage = NodeUsage()
        self._by_namespace: dict[str, set[str]] = {}
        self._on_node: dict[str, tuple[str, Amounts, bool]] = {}
        self._placed_on: dict[str, set[str]] = {}
        self._unplaced: dict[str, Amounts] = {}
        self._unplaced_pods: dict[str, tuple[str, Amounts]] = {}
        self._grouped: dict[str, tuple[str, str]] = {}
        self._ending: dict[str, Millis] = {}
        self._lost: set[str] = set()
        self.orphans: dict[str, Pod] = {}  # gated by us, in a namespace of no tenant in force
        self.ownership_changes = 0  # counts changes of who owns which namespace
        self.over_releases = 0  # counts repairs of the ledger; anything but 0 is a bug or a lost event

    # -- facts ----------------------------------------------------------------------------------------------------

    def apply(self, fact: Fact) -> None:
        """Take in one fact."""
        match fact:
            case PodSeen(pod):
                self._see_pod(pod)
            case PodGone(uid):
                self._forget_pod(uid)
            case NodeSeen(node):
                if self.usage.set_node(node, self.setup.pool_of(node)):
                    self._renew(self._placed_on.get(node.name, ()))
            case NodeGone(name):
                self.usage.drop_node(name)
            case NamespaceSeen(namespace):
                self._see_namespace(namespace)
            case NamespaceGone(name):
                self.namespaces.pop(name, None)
                self.ownership_changes += 1
                self._renew(self._by_namespace.get(name, ()))
            case SetupChanged(setup):
                self._change_setup(setup)
            case Assumed(uid, grant):
                self.assumed[uid] = grant
                self._renew((uid,))
            case Withdrawn(uid):
                self.assumed.pop(uid, None)
                self._renew((uid,))

    def _see_pod(self, pod: Pod) -> None:
        self.pods[pod.uid] = pod
        self._by_namespace.setdefault(pod.namespace, set()).add(pod.uid)
        self._lost.discard(pod.uid)
        if pod.deleted_at is not None:
            self._ending[pod.uid] = pod.deleted_at
        if pod.admitted or pod.terminal:
            self.assumed.pop(pod.uid, None)
        self._place(pod)

    def _forget_pod(self, uid: str) -> None:
        pod = self.pods.pop(uid, None)
        if pod is None:
            return
        self._by_namespace[pod.namespace].discard(uid)
        if not self._by_namespace[pod.namespace]:
            del self._by_namespace[pod.namespace]
        self._ending.pop(uid, None)
        self._lost.discard(uid)
        self.orphans.pop(uid, None)
        self.assumed.pop(uid, None)
        self._unplace(uid)

    def _see_namespace(self, namespace: Namespace) -> None:
        known = self.namespaces.get(namespace.name)
        self.namespaces[namespace.name] = namespace
        self.ownership_changes += 1
        if known is None or known.labels.get(TENANT_LABEL) != namespace.labels.get(TENANT_LABEL):
            self._renew(self._by_namespace.get(namespace.name, ()))

    def _change_setup(self, setup: Setup) -> None:
        self.setup = setup
        self.ownership_changes += 1
        for node in list(self.usage.nodes.values()):
            self.usage.set_node(node, setup.pool_of(node))
        self.ledger = self.ledger.replaced(setup.tenants, setup.hierarchy)
        self._renew(tuple(self.pods))

    def _renew(self, uids: object) -> None:
        for uid in sorted(uids):  # type: ignore[call-overload]
            if uid in self.pods:
                self._place(self.pods[uid])

    # -- one pod's place ------------------------------------------------------------------------------------------

    def tenant_of(self, namespace: str) -> str:
        """The tenant that the namespace's label names, "" for none or one that is not in force."""
        known = self.namespaces.get(namespace)
        tenant = known.labels.get(TENANT_LABEL, "") if known else ""
        return tenant if tenant in self.setup.tenants else ""

    def candidate(self, pod: Pod, tenant: Tenant) -> Candidate:
        """A pod, classified."""
        policy = self.setup.policy
        classified = classify(pod.labels, pod.priority_class, tenant, policy, self.setup.slas)
        priority = base_priority(pod.labels, classified.level, policy.scoring)
        return Candidate(pod, team_of(pod, tenant), classified, priority)

    def _place(self, pod: Pod) -> None:
        """Put a pod where it belongs now: waiting, charged, foreign, or nowhere."""
        tenant = self.setup.tenants.get(self.tenant_of(pod.namespace))
        over = pod.terminal or pod.uid in self._lost
        if tenant is None and pod.gated and not over:
            self.orphans[pod.uid] = pod
        else:
            self.orphans.pop(pod.uid, None)
        if over or (tenant is None and not pod.node):
            self._unplace(pod.uid)
            return
        grant = self.assumed.get(pod.uid) or pod.grant
        placed = bool(pod.node) or pod.admitted or pod.uid in self.assumed
        candidate = self.candidate(pod, tenant) if tenant else None
        if candidate is None:
            self._unplace(pod.uid)
            self._use_node(pod.uid, pod.node, pod.requests, foreign=True)
        elif placed:
            self.lanes.drop(pod.uid)
            self._hold(candidate, tenant.name if tenant else "", grant)
        else:
            self._unplace(pod.uid, keep_lane=True)
            if pod.deleted_at is None and not pod.exempt:
                self.lanes.put(tenant.name if tenant else "", candidate, self.setup)
            else:
                self.lanes.drop(pod.uid)

    def _hold(self, candidate: Candidate, tenant: str, grant: Grant | None) -> None:
        pod = candidate.pod
        node = pod.node or (grant.node if grant else "")
        pool = grant.pool if grant else self.usage.pool_of(pod.node)
        level = grant.level if grant else candidate.classified.level
        self.ledger.charge(pod.uid, Charge(pool, tenant, candidate.team, level, pod.requests))
        self._use_node(pod.uid, node, pod.requests, foreign=False)
        self._await_node(pod.uid, "" if node else pool, pod.requests)
        self._run_in_group(pod.uid, (tenant, group) if (group := group_of(candidate)) else None)

    def _unplace(self, uid: str, *, keep_lane: bool = False) -> None:
        self._release(uid)
        self._use_node(uid, "", NOTHING, foreign=False)
        self._await_node(uid, "", NOTHING)
        self._run_in_group(uid, None)
        if not keep_lane:
            self.lanes.drop(uid)

    def _release(self, uid: str) -> None:
        if self.ledger.charge_of(uid) is None:
            return
        try:
            self.ledger.release(uid)
        except OverRelease:
            # The sums are wrong, so no sum is to be trusted: add up anew what the API server shows.
            self.over_releases += 1
            fresh = Ledger(self.setup.tenants, self.setup.hierarchy)
            for other, charge in self.ledger.charges():
                if other != uid:
                    fresh.charge(other, charge)
            self.ledger = fresh

    def _run_in_group(self, uid: str, group: tuple[str, str] | None) -> None:
        old = self._grouped.pop(uid, None)
        if old is not None and old != group:
            self.lanes.group_runs(*old, uid, runs=False)
        if group is not None:
            self._grouped[uid] = group
            self.lanes.group_runs(*group, uid, runs=True)

    def _use_node(self, uid: str, node: str, amounts: Amounts, *, foreign: bool) -> None:
        new = (node, amounts, foreign) if node else None
        old = self._on_node.get(uid)
        if old == new:
            return
        if old is not None:
            del self._on_node[uid]
            self._placed_on[old[0]].discard(uid)
            self.usage.add(old[0], old[1].times(-1), foreign=old[2])
        if new is not None:
            self._on_node[uid] = new
            self._placed_on.setdefault(node, set()).add(uid)
            self.usage.add(node, amounts, foreign=foreign)

    def _await_node(self, uid: str, pool: str, amounts: Amounts) -> None:
        old = self._unplaced_pods.pop(uid, None)
        if old is not None:
            self._unplaced[old[0]] = self._unplaced[old[0]].minus(old[1])
        if pool:
            self._unplaced_pods[uid] = (pool, amounts)
            self._unplaced[pool] = self._unplaced.get(pool, NOTHING).plus(amounts)

    # -- looking --------------------------------------------------------------------------------------------------

    def snapshot(self, now: Millis) -> Snapshot:
        """What a turn at `now` decides on."""
        self._let_go_of_lost(now)
        table = self.usage.table()
        return Snapshot(
            now=now,
            setup=self.setup,
            lanes=self.lanes.lanes(self.setup),
            ledger=self.ledger.fork(),
            nodes=table,
            capacity={p.name: p.max_capacity or table.capacity(p.name) for p in self.setup.pools.values()},
            unplaced=dict(self._unplaced),
        )

    def _let_go_of_lost(self, now: Millis) -> None:
        """Terminating pods hold their charge until they end; on a lost node, until grace and a timeout are over."""
        timeout = self.setup.policy.lost_node_timeout
        for uid, ends in sorted(self._ending.items()):
            pod = self.pods[uid]
            node = self.usage.nodes.get(pod.node)
            lost = bool(pod.node) and ends + timeout <= now and (node is None or not node.ready)
            if lost != (uid in self._lost):
                (self._lost.add if lost else self._lost.discard)(uid)
                self._place(pod)

    def drift(self) -> tuple[str, ...]:
        """Where the ledger's sums disagree with each other (`Ledger.drift`)."""
        return self.ledger.drift()

    def waiting_pods(self) -> Iterator[Candidate]:
        """Every waiting pod, lane by lane."""
        for lanes in self.lanes.lanes(self.setup).values():
            for lane in lanes:
                yield from lane.candidates


def team_of(pod: Pod, tenant: Tenant) -> str:
    """The first team (in the tenant's order) whose namespaces or selector take the pod; "" for none."""
    return next((team.name for team in tenant.teams if _takes(team, pod)), "")


def _takes(team: Team, pod: Pod) -> bool:
    if pod.namespace in team.namespaces:
        return True
    return team.selector is not None and team.selector.matches(pod.labels)
