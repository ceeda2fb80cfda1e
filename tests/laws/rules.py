"""The rules of a turn (design §5.1–§5.4 and §5.6), said again slowly: every candidate is looked at in every step.

For one pool and tenants without parents or guarantees. `check` walks through a turn beside the engine: at each
admission it works out anew whose turn it is, and at the end that nobody who may go was left behind. The node is the
engine's choice; here it only has to fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from fairberth.model.amounts import NOTHING, PODS, Amounts
from fairberth.policy.engine import Turn
from fairberth.policy.snapshot import Candidate
from tests.kit.world import World

Rank = tuple[int, int, int, str]


@dataclass(frozen=True)
class Offered:
    """A tenant's first eligible candidate."""

    tenant: str
    candidate: Candidate
    score: int
    forced: bool

    @property
    def rank(self) -> Rank:
        return -self.score, self.candidate.classified.raw, self.candidate.pod.created, self.candidate.pod.key


class Walk:
    """A turn of a world, step by step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.setup = world.state.setup
        self.now = world.now
        self.waiting: dict[str, list[Candidate]] = {name: [] for name in self.setup.tenants}
        for candidate in world.state.waiting_pods():
            self.waiting[world.state.tenant_of(candidate.pod.namespace)].append(candidate)
        self.held: dict[str, Amounts] = dict.fromkeys(self.setup.tenants, NOTHING)
        self.by_level: dict[int, Amounts] = dict.fromkeys(range(7), NOTHING)
        self.in_flight: Counter[str] = Counter()
        self.nodes = {n.name: n for n in world.state.usage.nodes.values()}
        self.free = {name: node.allocatable for name, node in self.nodes.items()}
        self.capacity = _sum(node.allocatable for node in self.nodes.values())
        for pod in world.state.pods.values():
            if pod.node:
                tenant = world.state.tenant_of(pod.namespace)
                if tenant:
                    level = world.state.candidate(pod, self.setup.tenants[tenant]).classified.level
                    self._book(tenant, level, pod.requests)
                else:
                    self.capacity = self.capacity.minus(pod.requests)
                self.free[pod.node] = self.free[pod.node].minus(pod.requests)
        self._open_round()

    def _book(self, tenant: str, level: int, asked: Amounts) -> None:
        self.held[tenant] = self.held[tenant].plus(asked)
        self.by_level[level] = self.by_level[level].plus(asked)
        self.in_flight[tenant] += 1

    def _open_round(self) -> None:
        self.round: Counter[object] = Counter()
        self.forced: Counter[str] = Counter()
        self.least = min((self.setup.tenants[t].weight for t in self.waiting if self._eligible(t)), default=1)

    # -- may it go? -----------------------------------------------------------------------------------------------

    def _eligible(self, tenant: str) -> list[Candidate]:
        """Those who pass every check but the window."""
        return [c for c in self.waiting[tenant] if self._may_go(tenant, c)]

    def _may_go(self, tenant: str, candidate: Candidate) -> bool:
        of, pod, level = self.setup.tenants[tenant], candidate.pod, candidate.classified.level
        bound, limit = of.backpressure.max_in_flight, of.quota("main").limit
        beyond = self._beyond(level, pod.requests)
        if of.cordoned or pod.foreign_gates or (bound is not None and self.in_flight[tenant] >= bound):
            return False
        if any(pod.requests[r] and self.held[tenant][r] + pod.requests[r] > limit[r] for r in limit):
            return False
        if not self.setup.slas[level].preemptible and beyond - {PODS}:
            return False  # nobody here has a guarantee that it could stay in
        return self._beside_other_levels(level, pod.requests, beyond) and self._fits(candidate)

    def _beyond(self, level: int, asked: Amounts) -> set[str]:
        """The resources in which it goes beyond what its level is guaranteed."""
        percent = self.setup.slas[level].guarantee
        return {r for r, n in asked.items() if n and self.by_level[level][r] + n > self.capacity[r] * percent // 100}

    def _beside_other_levels(self, level: int, asked: Amounts, beyond: set[str]) -> bool:
        free = _sum(Amounts({r: max(n, 0) for r, n in left.items()}) for left in self.free.values())
        for resource, n in asked.items():
            kept = 0
            for other, sla in self.setup.slas.items():
                if other != level and not (sla.lend_guarantee and self.setup.slas[level].preemptible):
                    guaranteed = self.capacity[resource] * sla.guarantee // 100
                    kept += max(0, guaranteed - self.by_level[other][resource])
            if resource in beyond and kept and n > free[resource] - kept:
                return False
        return True

    def _fits(self, candidate: Candidate) -> bool:
        pod = candidate.pod
        return any(
            pod.requests.within(self.free[name]) and pod.constraints.allow(name, node.labels, node.taints)
            for name, node in self.nodes.items()
        )

    # -- whose turn is it? ----------------------------------------------------------------------------------------

    def _window_open(self, tenant: str) -> bool:
        window = self.setup.policy.per_tenant_window
        if window is None:
            return True
        return self.round[tenant] < max(1, window * self.setup.tenants[tenant].weight // self.least)

    def _first(self, tenant: str) -> Offered | None:
        eligible = [self._stand(tenant, c) for c in self._eligible(tenant)]
        return min(eligible, key=lambda offered: offered.rank, default=None)

    def _stand(self, tenant: str, candidate: Candidate) -> Offered:
        policy = self.setup.policy
        scoring = policy.scoring
        ticks = max(0, self.now - candidate.pod.created) // scoring.aging_tick
        value = scoring.weight_of(self.setup.slas[candidate.classified.level].value)
        total = value + candidate.base_priority + min(ticks, scoring.max_aging_ticks) * scoring.aging_per_tick
        forced = ticks >= scoring.starvation_ticks and self.forced[tenant] < policy.max_forced
        return Offered(tenant, candidate, total + (10_000 if forced else 0), forced)

    def _debt(self, tenant: str) -> Fraction:
        shares = [Fraction(n, self.capacity[r]) for r, n in self.held[tenant].items() if self.capacity[r] > 0]
        return max(shares, default=Fraction(0)) / self.setup.tenants[tenant].weight

    def _contends(self, one: Offered, best: Offered) -> bool:
        if one.score < best.score - self.setup.policy.fair_band:
            return False
        if best.forced or one.forced:
            return best.forced and one.forced
        return self._class_of(one) == self._class_of(best)

    def _class_of(self, one: Offered) -> object:
        level = one.candidate.classified.level
        return self.setup.slas[level].value, level

    def next(self) -> Offered | None:
        """Who goes next, a new round begun where need be; None where the turn is over."""
        while True:
            chosen = self._step()
            if chosen is not None or not self.round:
                return chosen
            self._open_round()

    def _step(self) -> Offered | None:
        firsts = [first for tenant in self.waiting if (first := self._first(tenant)) is not None]
        offers = [first for first in firsts if self._window_open(first.tenant)]
        if not offers:
            return None
        best = min(offers, key=lambda o: (o.rank, o.tenant))
        contenders = [o for o in offers if self._contends(o, best)]
        chosen = min(contenders, key=lambda o: (self._debt(o.tenant), o.rank, o.tenant))
        # docs/decisions/001: a full window passes nobody over who owes less.
        for other in firsts:
            if (
                other not in offers
                and self._contends_with(other, chosen)
                and self._debt(other.tenant) < self._debt(chosen.tenant)
            ):
                return None
        return chosen

    def _contends_with(self, other: Offered, chosen: Offered) -> bool:
        if other.score < chosen.score - self.setup.policy.fair_band or other.forced != chosen.forced:
            return False
        return chosen.forced or self._class_of(other) == self._class_of(chosen)

    def go(self, offered: Offered, node: str) -> None:
        """It goes, to a node that must hold it."""
        pod, of = offered.candidate.pod, self.nodes[node]
        assert pod.requests.within(self.free[node]), f"{node} has no room for {pod.key}"
        assert pod.constraints.allow(node, of.labels, of.taints), f"{pod.key} may not go to {node}"
        self.free[node] = self.free[node].minus(pod.requests)
        self.waiting[offered.tenant].remove(offered.candidate)
        self._book(offered.tenant, offered.candidate.classified.level, pod.requests)
        self.round[offered.tenant] += 1
        self.forced[offered.tenant] += offered.forced


def check(world: World, decide: Callable[[], Turn]) -> Turn:
    """Walk beside the turn that `decide` gives."""
    walk = Walk(world)
    turn = decide()
    for index, admission in enumerate(turn.admissions):
        expected = walk.next()
        said = expected and (expected.candidate.pod.key, expected.forced)
        assert (admission.candidate.pod.key, admission.forced) == said, f"admission {index}"
        assert expected is not None
        walk.go(expected, admission.node)
    left = walk.next()
    assert left is None, f"{left.candidate.pod.key} may go, and was left behind" if left else ""
    return turn


def _sum(of: Iterable[Amounts]) -> Amounts:
    total = NOTHING
    for one in of:
        total = total.plus(one)
    return total
