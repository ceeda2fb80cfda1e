"""Of every admission, in the order in which they go: it passes every bound of design §3 and §5.4–§5.6, counted by us.

Trees of tenants, teams, two pools (one may grow), groups, levels with guarantees. Only what must never happen is asked
here, not who goes first (`test_turns.py`) nor that anybody goes (`test_guarantees.py`).
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from fairberth.model import keys
from fairberth.model.amounts import NOTHING, PODS, Amounts
from fairberth.model.objects import Backpressure, CapacityPool, FairnessPolicy, PoolRole, Tenant
from fairberth.model.selectors import Constraints, Selector, Taint, Toleration
from fairberth.model.workload import Node, Pod
from fairberth.policy.engine import Turn, admit
from fairberth.policy.rounds import Admission
from fairberth.policy.shares import guarantees_in_force
from fairberth.policy.snapshot import Snapshot
from tests.kit.builders import T0, amounts, limits, node, pod, quota, slas, tenant
from tests.kit.world import World

NAMES = ("a", "b", "c", "d")
TREES = (("", "", "", ""), ("", "a", "b", ""), ("", "a", "a", ""))


def drawn_world(draws: random.Random) -> World:
    parents = draws.choice(TREES)
    tenants = [_tenant(draws, name, parent) for name, parent in zip(NAMES, parents, strict=True)]
    grows = amounts(cpu=draws.randint(0, 12), memory="64Gi", pods=50) if draws.random() < 0.3 else None
    pools = [
        CapacityPool("own", role=PoolRole.DEDICATED, selector=Selector.of(pool="own"), levels=frozenset({0, 3, 4})),
        CapacityPool(
            "main",
            created=1,
            tolerations=(Toleration("main", "Exists"),) if draws.random() < 0.3 else (),
            max_capacity=grows,
        ),
    ]
    nodes = [_node(draws, index) for index in range(draws.randint(1, 4))]
    policy = FairnessPolicy(per_tenant_window=draws.choice((None, 2)), fair_band=draws.choice((0, 500)))
    levels = slas(p0=draws.choice((0, 25)), p3=draws.choice((0, 25)), p5=draws.choice((0, 25)))
    world = World(tenants, nodes, policy=policy, slas=levels, pools=pools)
    for index in range(draws.randint(0, 6)):
        bound = _pod(draws, f"r{index}", draws.choice((*NAMES, "kube-system")))
        world.add(dataclasses.replace(bound, gated=False, labels={}, node=draws.choice(nodes).name))
    world.add(*(_pod(draws, f"p{index}", draws.choice(NAMES)) for index in range(draws.randint(1, 16))))
    return world


def _tenant(draws: random.Random, name: str, parent: str) -> Tenant:
    quotas = {}
    for where in ("own", "main"):
        cpu = draws.choice((0, 0, 1, 2, 4))
        quotas[where] = quota(
            amounts(cpu=cpu, memory=f"{2 * cpu}Gi" if draws.random() < 0.5 else "0"),
            limits(cpu=draws.randint(cpu, 8)) if draws.random() < 0.4 else limits(),
            borrow=draws.random() < 0.8,
            borrow_limit=limits(cpu=draws.randint(0, 3)) if draws.random() < 0.3 else limits(),
            lend=draws.random() < 0.8,
            lend_limit=limits(cpu=draws.randint(0, 2)) if draws.random() < 0.3 else limits(),
        )
    return tenant(
        name,
        draws.randint(1, 3),
        quotas=quotas,
        parent=parent,
        most_urgent=draws.choice((0, 3)),
        cordoned=draws.random() < 0.05,
        backpressure=Backpressure(max_in_flight=draws.choice((None, None, 3, 6))),
    )


def _node(draws: random.Random, index: int) -> Node:
    made = node(f"n{index}", cpu=draws.randint(1, 8), memory=f"{draws.randint(2, 16)}Gi", pods=draws.randint(2, 9))
    return dataclasses.replace(
        made,
        labels={"pool": draws.choice(("own", "main"))},
        taints=(Taint("main"),) if draws.random() < 0.2 else (),
        ready=draws.random() < 0.9,
    )


def _pod(draws: random.Random, name: str, owner: str) -> Pod:
    group = draws.random() < 0.25
    labels = {keys.GROUP: draws.choice("gh"), keys.GROUP_SIZE: str(draws.randint(1, 3))} if group else {}
    made = pod(
        name,
        owner,
        T0 - draws.choice((0, 3, 12)) * 60_000,
        labels=labels,
        constraints=Constraints(unmodelled=("volumes",) if draws.random() < 0.1 else ()),
        priority_class=f"fairberth-p{draws.choice((0, 1, 3, 4, 4, 5, 6))}",
        cpu=draws.choice(("500m", "1", "2")),
        memory=draws.choice(("0", "1Gi", "4Gi")),
    )
    return dataclasses.replace(made, foreign_gates=("x/y",) if draws.random() < 0.04 else ())


class Books:
    """Our own count, from the pods alone."""

    def __init__(self, world: World, snapshot: Snapshot) -> None:
        self.setup = world.state.setup
        self.snapshot = snapshot
        self.nodes = dict(world.state.usage.nodes)
        self.held: Counter[tuple[str, str, str]] = Counter()  # pool, tenant (with all below it), resource
        self.by_level: Counter[tuple[str, int, str]] = Counter()
        self._in_force: dict[str, dict[str, Amounts]] = {}
        self.flying: Counter[str] = Counter()
        self.used: dict[str, Amounts] = dict.fromkeys(self.nodes, NOTHING)
        self.beside: dict[str, Amounts] = dict.fromkeys(self.setup.pools, NOTHING)  # taken of a pool on no known node
        for one in world.state.pods.values():
            if one.node:
                self.used[one.node] = self.used[one.node].plus(one.requests)
                owner = world.state.tenant_of(one.namespace)
                if owner:
                    level = world.state.candidate(one, self.setup.tenants[owner]).classified.level
                    self._hold(self.setup.pool_of(self.nodes[one.node]), owner, level, one.requests)

    def _hold(self, where: str, owner: str, level: int, asked: Amounts) -> None:
        for name in self.setup.hierarchy.paths[owner]:
            self.flying[name] += 1
            for resource, n in asked.items():
                self.held[where, name, resource] += n
        for resource, n in asked.items():
            self.by_level[where, level, resource] += n

    def take(self, admission: Admission) -> None:
        asked = admission.candidate.pod.requests
        if admission.node:
            self.used[admission.node] = self.used[admission.node].plus(asked)
        else:
            self.beside[admission.pool] = self.beside[admission.pool].plus(asked)
        self._hold(admission.pool, admission.tenant, admission.candidate.classified.level, asked)

    def free(self, where: str, resource: str) -> int:
        """What is left of a pool, what it can still grow by included."""
        here = [n for n in self.nodes.values() if self.setup.pool_of(n) == where and n.counts]
        left = sum(max(0, n.allocatable[resource] - self.used[n.name][resource]) for n in here)
        growth = self.setup.pools[where].max_capacity
        if growth is not None:
            foreign = self.snapshot.nodes.capacity(where)
            left += max(0, growth[resource] - foreign[resource])
        return left - self.beside[where][resource]

    def guaranteed(self, where: str, name: str) -> Amounts:
        """A tenant's guarantee as it is in force: scaled where all together are more than there is for them."""
        if where not in self._in_force:
            capacity = self.snapshot.capacity[where]
            unlent = NOTHING
            for sla in self.setup.slas.values():
                unlent = unlent if sla.lend_guarantee else unlent.plus(capacity.share(sla.guarantee))
            self._in_force[where] = guarantees_in_force(
                where, capacity.minus(unlent), self.setup.tenants, self.setup.hierarchy
            )
        return self._in_force[where].get(name, NOTHING)

    # -- the bounds -----------------------------------------------------------------------------------------------

    def check(self, admission: Admission) -> None:
        candidate, where = admission.candidate, admission.pool
        one, path = candidate.pod, self.setup.hierarchy.paths[admission.tenant]
        assert one.gated
        assert not one.foreign_gates
        assert where in self.setup.route(candidate.classified.level)
        for name in path:
            of = self.setup.tenants[name]
            assert not of.cordoned, name
            bound = of.backpressure.max_in_flight
            assert bound is None or self.flying[name] < bound, f"{name} has {bound} in flight"
            for resource, most in of.quota(where).limit.items():
                held = self.held[where, name, resource]
                assert not one.requests[resource] or held + one.requests[resource] <= most, f"{name}: limit {resource}"
        for resource, asked in one.requests.items():
            self._check_borrowing(admission, path, resource, asked)
            self._check_levels(admission, resource, asked)
        self._check_room(admission)

    def _check_borrowing(self, admission: Admission, path: tuple[str, ...], resource: str, asked: int) -> None:
        where = admission.pool
        borrows = []
        for name in path:
            of, held = self.setup.tenants[name].quota(where), self.held[where, name, resource]
            if resource == PODS and PODS not in of.guaranteed:
                return  # docs/decisions/002
            if held + asked <= self.guaranteed(where, name)[resource]:
                break
            borrows.append(name)
            if held + asked <= of.guaranteed[resource]:
                continue  # its guarantee is scaled, which is no reason to refuse what its spec allows it
            assert of.borrowing.enabled, f"{name} may not borrow {resource}"
            most = of.borrowing.limit.get(resource)
            assert most is None or held + asked <= of.guaranteed[resource] + most, f"{name} borrows too much {resource}"
        if len(borrows) < len(path):
            return
        level = admission.candidate.classified.level
        inside = resource == PODS or self._inside(admission, level, resource)
        assert self.setup.slas[level].preemptible or inside, f"{path[0]} cannot give back its {resource}"
        kept = sum(self._unlendable(where, name, resource) for name in self.setup.hierarchy.children[""])
        kept -= self._unlendable(where, path[-1], resource)
        assert kept <= 0 or self.free(where, resource) - asked >= kept, f"{resource} is not lent"

    def _unlendable(self, where: str, name: str, resource: str) -> int:
        of = self.setup.tenants[name].quota(where)
        unmet = max(0, self.guaranteed(where, name)[resource] - self.held[where, name, resource])
        if not of.lending.enabled:
            return unmet
        most = of.lending.limit.get(resource)
        return 0 if most is None else max(0, unmet - most)

    def _inside(self, admission: Admission, level: int, resource: str) -> bool:
        guaranteed = self.snapshot.capacity[admission.pool][resource] * self.setup.slas[level].guarantee // 100
        asked = admission.candidate.pod.requests[resource]
        return self.by_level[admission.pool, level, resource] + asked <= guaranteed

    def _check_levels(self, admission: Admission, resource: str, asked: int) -> None:
        level, where = admission.candidate.classified.level, admission.pool
        if not asked or self._inside(admission, level, resource):
            return
        kept = 0
        for other, sla in self.setup.slas.items():
            if other != level and not (sla.lend_guarantee and self.setup.slas[level].preemptible):
                guaranteed = self.snapshot.capacity[where][resource] * sla.guarantee // 100
                kept += max(0, guaranteed - self.by_level[where, other, resource])
        assert not kept or asked <= self.free(where, resource) - kept, f"{resource} is reserved for another level"

    def _check_room(self, admission: Admission) -> None:
        one, where = admission.candidate.pod, admission.pool
        assert all(asked <= self.free(where, resource) for resource, asked in one.requests.items()), "no room"
        if admission.node:
            of = self.nodes[admission.node]
            assert not one.constraints.unmodelled
            assert of.counts
            assert self.setup.pool_of(of) == where
            tolerating = one.constraints.tolerating(self.setup.pools[where].tolerations)
            assert tolerating.allow(of.name, of.labels, of.taints)
            assert self.used[of.name].plus(one.requests).within(of.allocatable.most(self.used[of.name]))
        else:
            assert one.constraints.unmodelled or self.setup.pools[where].grows


def check_groups(world: World, turn: Turn) -> None:
    """Of a group that starts, as many go as it needs; of another, nobody."""
    went = Counter(_group(a.candidate.pod) for a in turn.admissions)
    waits = {c.pod.uid for r in turn.refusals for c in r.lane.candidates[r.first :]}
    for group, count in went.items():
        if group:
            members = [p for p in world.state.pods.values() if _group(p) == group and p.gated]
            oldest = min(members, key=lambda p: (p.created, p.key))
            assert count >= int(oldest.labels[keys.GROUP_SIZE]) or not waits & {p.uid for p in members}


def _group(one: Pod) -> str:
    name = one.labels.get(keys.GROUP, "")
    return f"{one.namespace}/{name}" if name else ""


def check(world: World) -> Turn:
    snapshot = world.state.snapshot(world.now)
    books = Books(world, snapshot)
    turn = admit(snapshot)
    for index, admission in enumerate(turn.admissions):
        try:
            books.check(admission)
        except AssertionError as error:
            raise AssertionError(f"admission {index}, {admission.candidate.pod.key}: {error}") from error
        books.take(admission)
    check_groups(world, turn)
    waiting = {c.pod.uid for c in world.state.waiting_pods()}
    assert waiting == _all(a.candidate.pod.uid for a in turn.admissions) | _all(
        c.pod.uid for r in turn.refusals for c in r.lane.candidates[r.first :]
    )
    return turn


def _all(uids: Iterable[str]) -> set[str]:
    """A set of them, each there once."""
    listed = list(uids)
    assert len(listed) == len(set(listed))
    return set(listed)


@given(st.integers(0, 2**32))
def test_no_admission_passes_a_bound(seed: int) -> None:
    check(drawn_world(random.Random(seed)))
