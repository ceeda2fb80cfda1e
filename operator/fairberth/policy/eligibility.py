"""§5.4: may a candidate go? The checks in their order, then the pool (level guarantees, room, nodes); the first
refusal wins.

A new refusal: add its `Reason`, write one function here that returns a `Verdict` or None, and give it its place in
`CHECKS`. `PoolState` is what the checks look at: one pool within one turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fairberth.model.amounts import Amounts
from fairberth.model.objects import NO_QUOTA, CapacityPool
from fairberth.model.reasons import Reason
from fairberth.model.selectors import Constraints
from fairberth.policy import backpressure
from fairberth.policy.borrowing import Claims
from fairberth.policy.guarantees import LevelGuarantees
from fairberth.policy.ledger import Charge, Ledger
from fairberth.policy.nodes import Room
from fairberth.policy.snapshot import Candidate, Lane, Setup
from fairberth.policy.verdict import Verdict

_Ask = tuple[Amounts, Constraints, int]  # what is asked for, where, at which level
_MOST_LOOKED_AT = 64


def _ask(candidate: Candidate) -> _Ask:
    return candidate.pod.requests, candidate.pod.constraints, candidate.classified.level


@dataclass(slots=True)
class PoolState:
    """One pool as a turn has left it so far. `taken` and `given_back` keep room, books and claims together."""

    pool: CapacityPool
    setup: Setup
    capacity: Amounts
    ledger: Ledger
    room: Room
    levels: LevelGuarantees
    claims: Claims
    _closed: dict[_Ask, Verdict] = field(default_factory=dict)
    _open: dict[_Ask, None] = field(default_factory=dict)
    _found: dict[_Ask, str] = field(default_factory=dict)  # since anything was last taken or given back
    _unbounded: dict[str, bool] = field(default_factory=dict)

    def free(self) -> Amounts:
        """Room left in the pool, what it can still grow by included."""
        if self.pool.max_capacity is None:
            return self.room.free
        return self.room.free.plus(self.pool.max_capacity.above(self.room.present))

    def charge(self, lane: Lane, candidate: Candidate) -> Charge:
        """What admitting the candidate would book."""
        pod, level = candidate.pod, candidate.classified.level
        return Charge(self.pool.name, lane.key.tenant, candidate.team, level, pod.requests)

    def unbounded(self, tenant: str) -> bool:
        """Whether nothing that a tenant's spec says, or that of one above it, can refuse a pod in this pool."""
        known = self._unbounded.get(tenant)
        if known is None:
            above = [self.setup.tenants[name] for name in self.setup.hierarchy.paths[tenant]]
            known = self._unbounded[tenant] = not self.claims.kept and all(
                t.quota(self.pool.name) == NO_QUOTA and not t.cordoned and t.backpressure.max_in_flight is None
                for t in above
            )
        return known

    def find_node(self, candidate: Candidate) -> str | Verdict:
        """The node that the candidate would get ("" where the pool has to grow for it), or why the pool has no room
        for it. A refusal is remembered for all that ask alike: within a turn room only shrinks."""
        key = _ask(candidate)
        if (known := self._closed.get(key)) is not None:
            return known
        if (node := self._found.get(key)) is not None:
            return node
        found = self._look(key)
        if isinstance(found, Verdict) and len(self._open) <= _MOST_LOOKED_AT:
            # The pool is filling up: see at once who else finds no room any more.
            for other in list(self._open):
                self._look(other)
        return found

    def closed(self, candidate: Candidate) -> Verdict | None:
        """The pool's refusal of one that asked alike before, if there is one."""
        return self._closed.get(_ask(candidate))

    def _look(self, key: _Ask) -> str | Verdict:
        asked, constraints, level = key
        found = self.levels.refusal(level, asked, self.free(), self.ledger) or self._node(asked, constraints, level)
        if isinstance(found, Verdict):
            self._closed[key] = found
            self._open.pop(key, None)
        else:
            self._open[key] = None
            self._found[key] = found
        return found

    def _node(self, asked: Amounts, constraints: Constraints, level: int) -> str | Verdict:
        found = self.room.find(asked, constraints, pack=self.levels.preemptible(level))
        if isinstance(found, str):
            if asked.within(self.room.free):
                return found
            found = Reason.NO_ROOM  # admitted pods whose node nobody knows yet will take it
        if self.pool.grows and asked.within(self.free()):
            return ""
        free = self.room.free
        short = next((name for name in sorted(asked) if asked[name] > free[name]), "")
        return Verdict(found, self.pool.name, "", short, free[short], 0, asked[short])

    def take(self, lane: Lane, candidate: Candidate, node: str) -> str:
        """Book quota and room. Returns the node to nominate: "" where the engine does not model the pod wholly."""
        pod = candidate.pod
        nominated = "" if pod.constraints.unmodelled else node
        if nominated:
            self.room.take(nominated, pod.requests)
        else:
            self.room.take_anywhere(pod.requests)
        self.ledger.charge(pod.uid, self.charge(lane, candidate))
        self._found.clear()
        return nominated

    def give_back(self, candidate: Candidate, nominated: str) -> None:
        """Undo `take`: a member of a group could not go, so nobody of it does."""
        back = candidate.pod.requests.times(-1)
        if nominated:
            self.room.take(nominated, back)
        else:
            self.room.take_anywhere(back)
        self.ledger.release(candidate.pod.uid)
        self._closed.clear()
        self._found.clear()


def cordoned(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """Its tenant, or one above it, is cordoned."""
    for name in state.setup.hierarchy.paths[lane.key.tenant]:
        if state.setup.tenants[name].cordoned:
            return Verdict(Reason.CORDONED, tenant=name)
    return None


def group_incomplete(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """Its group has fewer members than it needs."""
    size, here = lane.key.group_size, lane.running + len(lane.candidates)
    if size <= here:
        return None
    return Verdict(Reason.GROUP_INCOMPLETE, "", lane.key.tenant, "pods", size, here, 0, lane.key.group)


def foreign_gate(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """Another controller's gate holds it."""
    gates = candidate.pod.foreign_gates
    return Verdict(Reason.FOREIGN_GATE, detail=", ".join(gates)) if gates else None


def in_flight_full(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """Its tenant, or one above it, has as many pods in flight as it may."""
    path = state.setup.hierarchy.paths[lane.key.tenant]
    return backpressure.in_flight_refusal(path, state.setup.tenants, state.ledger.in_flight)


def over_limit(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """A limit on the path to the root forbids it."""
    return state.ledger.refusal(state.pool.name, lane.key.tenant, candidate.pod.requests)


def borrowing_denied(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """It would borrow what it may not."""
    asked, level = candidate.pod.requests, candidate.classified.level
    firm = frozenset() if state.levels.preemptible(level) else state.levels.beyond(level, asked, state.ledger)
    return state.claims.refusal(lane.key.tenant, asked, state.free(), firm)


Check = Callable[[PoolState, Lane, Candidate], Verdict | None]

CHECKS: tuple[Check, ...] = (
    cordoned,
    group_incomplete,
    foreign_gate,
    in_flight_full,
    over_limit,
    borrowing_denied,
)


def first_refusal(state: PoolState, lane: Lane, candidate: Candidate) -> Verdict | None:
    """The first check that refuses, or None. What the pool itself has to say comes after: `PoolState.find_node`."""
    key = lane.key
    if not key.group and not key.foreign_gates and state.levels.preemptible(key.level) and state.unbounded(key.tenant):
        return None  # the same answer as all the checks would give, for most pods of most clusters
    for check in CHECKS:
        if (refusal := check(state, lane, candidate)) is not None:
            return refusal
    return None
