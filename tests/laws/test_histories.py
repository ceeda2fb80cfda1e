"""Random histories: after each step the books are right, nothing is overcommitted or admitted twice, and what the state
knows does not depend on the order in which it learnt it."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fairberth.model import keys
from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.objects import Backpressure, FairnessPolicy, Tenant
from fairberth.model.selectors import Constraints, Selector, Taint
from fairberth.model.workload import Grant, Namespace, Node, Pod
from fairberth.policy.engine import Turn, admit
from fairberth.policy.snapshot import Setup
from fairberth.state.cluster import ClusterState
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
from tests.kit.builders import T0, amounts, limits, namespace, node, pool, quota, slas, tenant
from tests.laws.conftest import HISTORIES

NAMES = ("a", "b", "c", "d")
MINUTE = 60_000


class History:
    """A cluster whose events are drawn; the engine decides, and its decisions come true, late or never."""

    def __init__(self, draws: random.Random) -> None:
        self.draws = draws
        self.now = T0
        self.state = ClusterState()
        self.setup = Setup()
        self.nodes: dict[str, Node] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.pods: dict[str, Pod] = {}
        self.assumed: dict[str, Grant] = {}
        self.count = 0
        self.change_setup()
        for name in NAMES:
            self.see(NamespaceSeen(namespace(name, name)))

    def see(self, *facts: Fact) -> None:
        for fact in facts:
            self.state.apply(fact)
            match fact:
                case PodSeen(pod):
                    self.pods[pod.uid] = pod
                    if pod.admitted or pod.terminal:
                        self.assumed.pop(pod.uid, None)
                case PodGone(uid):
                    self.pods.pop(uid, None)
                    self.assumed.pop(uid, None)
                case NodeSeen(node):
                    self.nodes[node.name] = node
                case NodeGone(name):
                    self.nodes.pop(name, None)
                case NamespaceSeen(namespace):
                    self.namespaces[namespace.name] = namespace
                case NamespaceGone(name):
                    self.namespaces.pop(name, None)
                case SetupChanged(setup):
                    self.setup = setup
                case Assumed(uid, grant):
                    self.assumed[uid] = grant
                case Withdrawn(uid):
                    self.assumed.pop(uid, None)

    # -- events ---------------------------------------------------------------------------------------------------

    def change_setup(self) -> None:
        draws = self.draws
        guaranteed = [draws.choice((0, 0, 1, 2)) for _ in NAMES]
        parent = draws.choice(("", "", "a"))
        tenants: dict[str, Tenant] = {}
        for name, mine in zip(NAMES, guaranteed, strict=True):
            of = quota(
                amounts(cpu=mine),
                limits(cpu=draws.randint(mine, 8)) if draws.random() < 0.5 else limits(),
                borrow=draws.random() < 0.8,
                lend=draws.random() < 0.8,
            )
            tenants[name] = tenant(
                name,
                draws.randint(1, 4),
                of,
                parent=parent if name in ("b", "c") else "",
                cordoned=draws.random() < 0.1,
                most_urgent=draws.choice((0, 3)),
                backpressure=Backpressure(max_in_flight=draws.choice((None, None, 3))),
            )
        policy = FairnessPolicy(
            fair_band=draws.choice((0, 500)),
            per_tenant_window=draws.choice((None, 1, 2)),
            max_forced=draws.choice((0, 1)),
        )
        pools = {"main": pool("main", selector=Selector.of(pool="main")), "spare": pool("spare", created=1)}
        levels = slas(p0=draws.choice((0, 20)), p4=draws.choice((0, 10)))
        self.see(SetupChanged(Setup.of(tenants, levels, policy, pools)))

    def add_node(self) -> None:
        name = f"n{self.draws.randint(0, 4)}"
        made = node(name, cpu=self.draws.randint(1, 6), memory="8Gi", pods=self.draws.randint(1, 8))
        labels = {"pool": self.draws.choice(("main", "main", "other"))}
        taints = (Taint("dirty"),) if self.draws.random() < 0.1 else ()
        ready = self.draws.random() < 0.9
        self.see(NodeSeen(dataclasses.replace(made, labels=labels, taints=taints, ready=ready)))

    def drop_node(self) -> None:
        if self.nodes:
            self.see(NodeGone(self.draws.choice(sorted(self.nodes))))

    def add_pod(self) -> None:
        draws = self.draws
        self.count += 1
        labels = {}
        if draws.random() < 0.15:
            labels = {keys.GROUP: draws.choice(("g", "h")), keys.GROUP_SIZE: str(draws.randint(1, 3))}
        selector = Selector.of(pool="main") if draws.random() < 0.2 else Selector()
        unmodelled = ("volumes",) if draws.random() < 0.1 else ()
        asked = Amounts({"cpu": draws.choice((500, 1000, 2000)), "memory": draws.choice((0, 2**30)), "pods": 1})
        self.see(
            PodSeen(
                Pod(
                    uid=f"u{self.count}",
                    namespace=draws.choice((*NAMES, "free")),
                    name=f"p{self.count}",
                    created=self.now - draws.choice((0, 5, 13)) * MINUTE,
                    requests=asked,
                    constraints=Constraints(selector, unmodelled=unmodelled),
                    labels=labels,
                    priority_class=f"fairberth-p{draws.randint(0, 6)}",
                    gated=draws.random() < 0.95,
                    foreign_gates=("x/y",) if draws.random() < 0.05 else (),
                )
            )
        )

    def add_foreign_pod(self) -> None:
        if self.nodes:
            self.count += 1
            where = self.draws.choice(sorted(self.nodes))
            asked = Amounts({"cpu": 500, "pods": 1})
            self.see(PodSeen(Pod(f"u{self.count}", "kube-system", f"p{self.count}", self.now, asked, node=where)))

    def end_pod(self) -> None:
        if self.pods:
            uid = self.draws.choice(sorted(self.pods))
            pod = self.pods[uid]
            what = self.draws.random()
            if what < 0.3:
                self.see(PodSeen(dataclasses.replace(pod, deleted_at=self.now + MINUTE)))
            elif what < 0.5:
                self.see(PodSeen(dataclasses.replace(pod, terminal=True)))
            else:
                self.see(PodGone(uid))

    def relabel(self) -> None:
        name = self.draws.choice(NAMES)
        if self.draws.random() < 0.2:
            self.see(NamespaceGone(name))
        else:
            self.see(NamespaceSeen(namespace(name, self.draws.choice((name, "", *NAMES)))))

    def settle(self) -> None:
        """Some of what was decided comes true, or does not."""
        for uid, grant in sorted(self.assumed.items()):
            what = self.draws.random()
            if what < 0.7:
                pod = dataclasses.replace(self.pods[uid], gated=False, grant=grant)
                if self.draws.random() < 0.7:
                    pod = dataclasses.replace(pod, node=grant.node or self._anywhere())
                self.see(PodSeen(pod))
            elif what < 0.8:
                self.see(Withdrawn(uid))

    def _anywhere(self) -> str:
        return self.draws.choice(sorted(self.nodes)) if self.nodes else ""

    def pass_time(self) -> None:
        self.now += self.draws.choice((1, 6, 13)) * MINUTE

    def step(self) -> None:
        """One event."""
        events = (self.add_pod,) * 6 + (self.settle, self.end_pod) * 2 + (self.add_node,) * 2
        events += (self.add_foreign_pod, self.drop_node, self.relabel, self.change_setup, self.pass_time)
        self.draws.choice(events)()

    # -- what must hold -------------------------------------------------------------------------------------------

    def turn(self) -> Turn:
        """Decide, check the decision against rules of our own, and assume it."""
        snapshot = self.state.snapshot(self.now)
        turn = admit(snapshot)
        self.check_admissions(turn)
        for index, admission in enumerate(turn.admissions):
            level = admission.candidate.classified.level
            grant = Grant(self.now, admission.pool, level, f"{self.count}-{index}", admission.node)
            self.see(Assumed(admission.candidate.pod.uid, grant))
        return turn

    def check_admissions(self, turn: Turn) -> None:
        uids = [admission.candidate.pod.uid for admission in turn.admissions]
        assert len(uids) == len(set(uids))
        assert not set(uids) & {uid for uid, p in self.pods.items() if p.admitted or p.terminal}
        assert not set(uids) & set(self.assumed)
        self._check_limits(turn)
        self._check_nodes(turn)

    def _check_limits(self, turn: Turn) -> None:
        grown: Counter[str] = Counter()
        for admission in turn.admissions:
            for name in self.setup.hierarchy.paths[admission.tenant]:
                grown[name] += admission.candidate.pod.requests["cpu"] if admission.pool == "main" else 0
        for name, more in grown.items():
            limit = self.setup.tenants[name].quota("main").limit.get("cpu")
            if more and limit is not None:
                assert self.held(name) + more <= limit, name

    def held(self, name: str) -> int:
        """Our own count of what a tenant's subtree holds of the main pool's cpu."""
        charges = (charge for _, charge in self.state.ledger.charges())
        return sum(
            charge.amounts["cpu"]
            for charge in charges
            if charge.pool == "main" and name in self.setup.hierarchy.paths.get(charge.tenant, ())
        )

    def _check_nodes(self, turn: Turn) -> None:
        taken: dict[str, Amounts] = {}
        for admission in turn.admissions:
            if admission.node:
                asked = admission.candidate.pod.requests
                taken[admission.node] = taken.get(admission.node, NOTHING).plus(asked)
        for name, more in taken.items():
            used = NOTHING
            for pod in self.pods.values():
                grant = self.assumed.get(pod.uid) or pod.grant
                where = pod.node or (grant.node if grant and (pod.uid in self.assumed or not pod.gated) else "")
                if where == name and not pod.terminal and (pod.node or self.owner(pod)):
                    used = used.plus(pod.requests)
            assert more.plus(used).within(self.nodes[name].allocatable), name

    def owner(self, pod: Pod) -> str:
        known = self.namespaces.get(pod.namespace)
        label = known.labels.get(keys.TENANT_LABEL, "") if known else ""
        return label if label in self.setup.tenants else ""

    def facts(self) -> list[Fact]:
        """All that is true now, as facts."""
        facts: list[Fact] = [SetupChanged(self.setup)]
        facts += [NodeSeen(node) for node in self.nodes.values()]
        facts += [NamespaceSeen(namespace) for namespace in self.namespaces.values()]
        facts += [PodSeen(pod) for pod in self.pods.values()]
        return facts


def said(turn: Turn) -> Any:
    """A turn in plain values, to compare."""
    admissions = [(a.candidate.pod.uid, a.pool, a.node, a.score, a.forced) for a in turn.admissions]
    waiting = {c.pod.uid: r.verdict for r in turn.refusals for c in r.lane.candidates[r.first :]}
    return admissions, waiting, turn.pools


def learnt(facts: Iterable[Fact], assumed: dict[str, Grant]) -> ClusterState:
    state = ClusterState()
    for fact in facts:
        state.apply(fact)
    for uid, grant in assumed.items():
        state.apply(Assumed(uid, grant))
    return state


@settings(max_examples=HISTORIES)
@given(st.integers(0, 2**32), st.integers(5, 40))
def test_the_books_are_right_after_each_step_and_no_bound_is_ever_passed(seed: int, steps: int) -> None:
    history = History(random.Random(seed))
    for _ in range(steps):
        history.step()
        assert history.state.drift() == ()
        if history.draws.random() < 0.5:
            history.turn()
            assert history.state.drift() == ()
    assert history.state.over_releases == 0


@settings(max_examples=HISTORIES)
@given(st.integers(0, 2**32), st.integers(5, 40))
def test_the_order_of_facts_and_a_restart_change_nothing(seed: int, steps: int) -> None:
    history = History(random.Random(seed))
    for _ in range(steps):
        history.step()
        if history.draws.random() < 0.5:
            history.turn()
    facts = history.facts()
    expected = said(admit(history.state.snapshot(history.now)))
    for _ in range(2):
        history.draws.shuffle(facts)
        state = learnt(facts, history.assumed)
        state.snapshot(history.now)
        assert said(admit(state.snapshot(history.now))) == expected


@given(st.integers(0, 2**32), st.integers(5, 30))
def test_turns_come_to_rest(seed: int, steps: int) -> None:
    """After a turn that admits nobody, the next one admits nobody."""
    history = History(random.Random(seed))
    for _ in range(steps):
        history.step()
    for _ in range(60):
        if not history.turn().admissions:
            break
    else:
        raise AssertionError("turns do not come to rest")
    assert history.turn().admissions == ()


_PROGRAM = """
import random
from tests.laws.test_histories import History, said
out = []
for seed in range(25):
    history = History(random.Random(seed))
    for _ in range(30):
        history.step()
        out.append(repr(said(history.turn())[0]))
print(hash_free := len(out), *out, sep="\\n")
"""


def test_the_seed_of_hashing_changes_nothing() -> None:
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root / 'operator'}:{root}", "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000
