"""One pool's turn: rounds until one admits nothing (design §5.2 and §5.3).

In each step of a round every tenant offers its first candidate whose window is open; the picker says whose goes; it
is checked (§5.4) and either goes or its whole lane is refused, and then the next step follows. A round also ends
where it would pass over a tenant that owes less and only waits behind its full window (docs/decisions/001-windows.md).
Within a turn room only shrinks, so a refused lane stays refused, except for `BorrowingDenied`: it is asked again in the
next round where others gave up their claims.
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
from fairberth.policy.picker import Debts, Market, Offer
from fairberth.policy.progress import Progress
from fairberth.policy.scoring import Score, score
from fairberth.policy.shares import guarantees_in_force
from fairberth.policy.snapshot import Candidate, Snapshot
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
        levels = LevelGuarantees.of(pool.name, capacity, setup.slas)
        entitled = capacity.minus(levels.unlent())
        guaranteed = guarantees_in_force(pool.name, entitled, setup.tenants, setup.hierarchy)
        self._state = PoolState(
            pool=pool,
            setup=setup,
            capacity=capacity,
            ledger=ledger,
            room=room,
            levels=levels,
            claims=Claims(pool.name, setup.tenants, setup.hierarchy, ledger, guaranteed),
        )
        self._debts = Debts(capacity, setup.tenants, guaranteed)
        self._offered: dict[str, Progress] = {}
        self._claimed: dict[Progress, int] = {}  # whose pods' waiting is counted as a claim, from which one on
        self._rounds = 0
        self._deviation = 0.0

    def run(self, lanes: Lanes) -> PoolReport:
        """Run rounds for the lanes (by tenant) that ask in this pool."""
        self._claim(lanes)
        self._sieve(lanes)
        claims = self._state.claims
        while True:
            before = claims.changes
            if not self._round(lanes) and claims.changes == before:
                break
        debts = [self._debt(tenant) for tenant in lanes]
        spread = (max(debts) - min(debts)) / self._debts.denominator
        return PoolReport(self._rounds, spread, self._deviation)

    def _claim(self, lanes: Lanes) -> None:
        """What the lanes wait for is claimed, as far as it is guaranteed; lanes that were here before and went on to
        another pool of their route keep their claim, but for those of their pods that went there."""
        claims = self._state.claims
        if not claims.kept:
            return
        for progress in self._claimed:
            if progress.next > self._claimed[progress]:
                claims.settle(id(progress), progress.went_since(self._claimed[progress]))
                self._claimed[progress] = progress.next
        for mine in lanes.values():
            for progress in mine:
                self._wait(progress)

    def _wait(self, progress: Progress) -> None:
        claims = self._state.claims
        if claims.kept:
            if progress.waits and not claims.holds(id(progress)):
                claims.wait(id(progress), progress.lane.key.tenant, progress.unit(), progress.asked())
            self._claimed[progress] = progress.next

    def _sieve(self, lanes: Lanes) -> None:
        """Refuse at once whoever could not go even as the first: rounds then only see those who may."""
        for tenant, mine in lanes.items():
            for progress in mine:
                refusal = self._refusal(progress)
                if refusal is not None and refusal.reason is not Reason.BORROWING_DENIED:
                    self._refuse(tenant, progress, refusal, ())

    def _round(self, lanes: Lanes) -> int:
        self._rounds += 1
        claims, setup = self._state.claims, self._snapshot.setup
        weights = {}
        for tenant, mine in lanes.items():
            for progress in mine:
                progress.ask_again(claims.changes)
            if any(progress.waits for progress in mine):
                weights[tenant] = setup.tenants[tenant].weight
        windows = Windows(setup.policy, weights)
        market = Market(setup.hierarchy, setup.policy.fair_band, self._debt)
        for tenant in weights:
            self._offer(tenant, lanes[tenant], windows, market)
        admitted = 0
        while market.offers:
            offer, progress = self._pick(market)
            if self._unhide(market, offer, lanes, windows):
                continue
            if market.passes_over_a_poorer(offer) and self._refusal(progress) is None:
                break
            went = self._try(offer, progress)
            for candidate in went:
                windows.count(offer.tenant, candidate.team, forced=offer.forced)
            admitted += len(went)
            self._offer(offer.tenant, lanes[offer.tenant], windows, market)
        self._deviation = max(self._deviation, windows.deviation())
        return admitted

    # -- whose turn -----------------------------------------------------------------------------------------------

    def _offer(self, tenant: str, lanes: Sequence[Progress], windows: Windows, market: Market) -> None:
        """Put forward the tenant's highest-ranked lane whose window is open; or say what waits behind a full window."""
        best: tuple[Offer, Progress] | None = None
        behind: tuple[Offer, Progress] | None = None
        may_force = windows.may_force(tenant)
        for progress in lanes:
            if not progress.waits:
                continue
            if self._state.closed(progress.head) is not None and (refusal := self._refusal(progress)) is not None:
                self._refuse(tenant, progress, refusal, ())
                continue
            offer = self._standing(tenant, progress, may_force=may_force)
            if not windows.open(tenant, progress.lane.key.team):
                behind = (offer, progress) if behind is None or offer.rank < behind[0].rank else behind
            elif best is None or offer.rank < best[0].rank:
                best = (offer, progress)
        if best is not None:
            self._offered[tenant] = best[1]
            market.put(best[0])
        elif behind is not None:
            self._offered[tenant] = behind[1]
            market.drop(tenant, behind[0])
        else:
            market.drop(tenant)

    def _standing(self, tenant: str, progress: Progress, *, may_force: bool) -> Offer:
        standing = progress.standing(self._snapshot.now, self._snapshot.setup.policy.scoring)
        key, head = progress.lane.key, progress.head
        forced = standing.starving and may_force
        total = standing.forced if forced else standing.total
        rank = (-total, head.classified.raw, *head.order)
        return Offer(tenant, rank, key.value, key.level, total, forced)

    def _pick(self, market: Market) -> tuple[Offer, Progress]:
        """Whose offer is tried now."""
        best, chosen = market.pick()
        # An offer that cannot go must not set the band for the others: then it is tried itself, and refused.
        if chosen is not best and self._refusal(self._offered[best.tenant]) is not None:
            chosen = best
        return chosen, self._offered[chosen.tenant]

    def _unhide(self, market: Market, chosen: Offer, lanes: Lanes, windows: Windows) -> bool:
        """Refuse the offers that cannot go and behind which better contenders than the chosen one may hide; whether
        there was any, so that it must be picked anew."""
        best, _ = market.pick()
        found = False
        for tenant in market.hiding(best, chosen):
            refusal = self._refusal(self._offered[tenant])
            if refusal is not None:
                self._refuse(tenant, self._offered[tenant], refusal, ())
                self._offer(tenant, lanes[tenant], windows, market)
                found = True
        return found

    def _debt(self, tenant: str) -> int:
        return self._debts.of(tenant, self._state.ledger.held(self._pool.name, tenant))

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
        for candidate, node in done:
            key, created = lane.key, candidate.pod.created
            policy, now = self._snapshot.setup.policy, self._snapshot.now
            standing = score(key.value, candidate.base_priority, created, now, policy.scoring)
            self._admit(Admission(candidate, offer.tenant, self._pool.name, node, standing, offer.forced))
            state.claims.settle(id(progress), candidate.pod.requests)
        progress.next += len(done)
        # A lane that gave up its claim and then went after all claims again what the rest of it waits for.
        self._wait(progress)
        return together

    def _refuse(self, tenant: str, progress: Progress, verdict: Verdict, done: Sequence[tuple[Candidate, str]]) -> None:
        claims = self._state.claims
        for candidate, node in reversed(done):
            self._state.give_back(candidate, node)
        if verdict.reason is not Reason.NO_ROOM:  # who waits for room waits for what others must not borrow meanwhile
            claims.withdraw(id(progress))
        progress.refuse(verdict, claims.changes)
