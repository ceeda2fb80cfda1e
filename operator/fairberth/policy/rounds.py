"""One pool's turn: rounds until one admits nothing (design §5.2 and §5.3).

In each step of a round every tenant offers its first candidate whose window is open; the picker says whose goes; it
is checked (§5.4) and either goes or its whole lane is refused, and then the next step follows. Within a turn room
only shrinks, so a refused lane stays refused, except for `BorrowingDenied`: it is asked again in the next round where
others gave up their claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairberth.model.amounts import NOTHING
from fairberth.model.objects import CapacityPool
from fairberth.model.reasons import Reason
from fairberth.policy.borrowing import Claims
from fairberth.policy.eligibility import PoolState, first_refusal
from fairberth.policy.guarantees import LevelGuarantees
from fairberth.policy.ledger import Ledger
from fairberth.policy.nodes import Room
from fairberth.policy.picker import Debt, Offer, best_of, contenders, debt, least_indebted
from fairberth.policy.progress import Progress, asked_by
from fairberth.policy.scoring import Score, score
from fairberth.policy.snapshot import Candidate, Lane, Snapshot
from fairberth.policy.verdict import Verdict
from fairberth.policy.windows import Windows


@dataclass(frozen=True, slots=True)
class Admission:
    """One pod goes: to which pool, onto which node ("" where kube-scheduler is to find one), and how it came first."""

    candidate: Candidate
    tenant: str
    pool: str
    node: str
    score: Score
    forced: bool


@dataclass(frozen=True, slots=True)
class PoolReport:
    """How fair a pool's turn was. `max_debt` is the largest minus the smallest debt of the tenants with candidates;
    `max_tenant_deviation` the worst round's distance (in pods) between a tenant's admissions and its weight's part."""

    rounds: int
    max_debt: float
    max_tenant_deviation: float


Lanes = Mapping[str, Sequence[Progress]]
_Offers = dict[str, tuple[Offer, Progress]]

# Whoever waits for one of these waits for room that others must not borrow meanwhile.
_KEEPS_CLAIM = (Reason.NO_ROOM, Reason.BORROWING_DENIED)


class PoolTurn:
    """The rounds of one pool. `admit` is told of each admission, in order."""

    def __init__(
        self, snapshot: Snapshot, pool: CapacityPool, ledger: Ledger, admit: Callable[[Admission], None]
    ) -> None:
        self._snapshot = snapshot
        self._pool = pool
        self._admit = admit
        capacity = snapshot.capacity.get(pool.name, NOTHING)
        setup = snapshot.setup
        room = Room(snapshot.nodes, pool.name, pool.tolerations)
        room.take_anywhere(snapshot.unplaced.get(pool.name, NOTHING))
        self._state = PoolState(
            pool=pool,
            setup=setup,
            capacity=capacity,
            ledger=ledger,
            room=room,
            levels=LevelGuarantees.of(pool.name, capacity, setup.slas),
            claims=Claims(pool.name, setup.tenants, setup.hierarchy, ledger, {}),
        )
        self._debts: dict[str, Debt] = {}
        self._rounds = 0
        self._deviation = 0.0

    def run(self, lanes: Lanes) -> PoolReport:
        """Run rounds for the lanes (by tenant) that ask in this pool."""
        setup, state = self._snapshot.setup, self._state
        waiting = {tenant: asked_by(mine) for tenant, mine in lanes.items()}
        state.claims = Claims(self._pool.name, setup.tenants, setup.hierarchy, state.ledger, waiting)
        while True:
            before = state.claims.changes
            if not self._round(lanes) and state.claims.changes == before:
                break
        debts = sorted(d.numerator / d.denominator for d in map(self._debt, lanes))
        return PoolReport(self._rounds, debts[-1] - debts[0], self._deviation)

    def _round(self, lanes: Lanes) -> int:
        self._rounds += 1
        claims = self._state.claims
        for progress in (p for mine in lanes.values() for p in mine):
            progress.ask_again(claims.changes)
        tenants = self._snapshot.setup.tenants
        weights = {name: tenants[name].weight for name, mine in lanes.items() if any(p.waits for p in mine)}
        windows = Windows(self._snapshot.setup.policy, weights)
        offers: _Offers = {}
        for tenant in weights:
            self._offer(tenant, lanes[tenant], windows, offers)
        admitted = 0
        while offers:
            offer, progress = self._pick(offers)
            went = self._try(offer, progress)
            for candidate in went:
                windows.count(offer.tenant, candidate.team, forced=offer.forced)
            admitted += len(went)
            self._offer(offer.tenant, lanes[offer.tenant], windows, offers)
        self._deviation = max(self._deviation, windows.deviation())
        return admitted

    # -- whose turn -----------------------------------------------------------------------------------------------

    def _offer(self, tenant: str, lanes: Sequence[Progress], windows: Windows, offers: _Offers) -> None:
        """Put forward the tenant's highest-ranked lane whose window is open, or nothing."""
        offers.pop(tenant, None)
        may_force = windows.may_force(tenant)
        for progress in lanes:
            if not progress.waits or not windows.open(tenant, progress.lane.key.team):
                continue
            key, head = progress.lane.key, progress.head
            standing = self._score(progress.lane, head)
            forced = standing.starving and may_force
            total = standing.forced if forced else standing.total
            rank = (-total, head.classified.raw, *head.order)
            if tenant not in offers or rank < offers[tenant][0].rank:
                offers[tenant] = (Offer(tenant, rank, key.value, key.level, total, forced), progress)

    def _score(self, lane: Lane, candidate: Candidate) -> Score:
        scoring = self._snapshot.setup.policy.scoring
        return score(lane.key.value, candidate.base_priority, candidate.pod.created, self._snapshot.now, scoring)

    def _pick(self, offers: _Offers) -> tuple[Offer, Progress]:
        """Whose offer is tried now."""
        everybody = [offer for offer, _ in offers.values()]
        best = best_of(everybody)
        rivals = contenders(best, everybody, self._snapshot.setup.policy.fair_band)
        chosen = least_indebted(rivals, self._path, self._debt) if len(rivals) > 1 else best
        # An offer that cannot go must not set the band for the others: then it is tried itself, and refused.
        if chosen is not best and self._refusal(offers[best.tenant][1]) is not None:
            chosen = best
        return chosen, offers[chosen.tenant][1]

    def _path(self, tenant: str) -> tuple[str, ...]:
        return self._snapshot.setup.hierarchy.paths[tenant][::-1]

    def _debt(self, tenant: str) -> Debt:
        known = self._debts.get(tenant)
        if known is None:
            of, state = self._snapshot.setup.tenants[tenant], self._state
            held, quota = state.ledger.held(self._pool.name, tenant), of.quota(self._pool.name)
            known = self._debts[tenant] = debt(held, quota.guaranteed, state.capacity, of.weight)
        return known

    # -- one admission --------------------------------------------------------------------------------------------

    def _refusal(self, progress: Progress) -> Verdict | None:
        refusal = first_refusal(self._state, progress.lane, progress.head)
        if refusal is None and isinstance(found := self._state.find_node(progress.head), Verdict):
            return found
        return refusal

    def _try(self, offer: Offer, progress: Progress) -> tuple[Candidate, ...]:
        """Admit the lane's head, or its whole group, and say who went; or refuse the lane."""
        state, lane = self._state, progress.lane
        done: list[tuple[Candidate, str]] = []
        together = progress.together()
        for candidate in together:
            refusal = first_refusal(state, lane, candidate)
            found = refusal or state.find_node(candidate)
            if isinstance(found, Verdict):
                self._refuse(offer.tenant, progress, found, done)
                return ()
            done.append((candidate, state.take(lane, candidate, found)))
            self._forget_debts(offer.tenant)
        for candidate, node in done:
            standing = self._score(lane, candidate)
            self._admit(Admission(candidate, offer.tenant, self._pool.name, node, standing, offer.forced))
            state.claims.settle(offer.tenant, candidate.pod.requests)
        progress.next += len(done)
        return together

    def _refuse(
        self, tenant: str, progress: Progress, verdict: Verdict, done: Sequence[tuple[Candidate, str]]
    ) -> None:
        claims = self._state.claims
        for candidate, node in reversed(done):
            self._state.give_back(candidate, node)
        self._forget_debts(tenant)
        if verdict.reason not in _KEEPS_CLAIM:
            claims.withdraw(tenant, progress.asked())
        progress.refuse(verdict, claims.changes)

    def _forget_debts(self, tenant: str) -> None:
        for name in self._snapshot.setup.hierarchy.paths[tenant]:
            self._debts.pop(name, None)
