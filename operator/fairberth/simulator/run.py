"""A run: a virtual clock that jumps from event to event, and turns as the production wheel takes them.

At one moment pods first end, then arrive, then a turn follows if anything changed, at most one per `roundInterval`.
Admissions are a change too, as long as somebody waits. Without a change there is no turn: ages only change the order
of those who may go, and after a turn that admitted nobody, nobody may (`tests/unit/simulator` holds the engine to it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

from fairberth.model.amounts import NOTHING
from fairberth.model.reasons import Reason
from fairberth.model.workload import Millis
from fairberth.policy.engine import Refused, admit
from fairberth.simulator.fair import asked_by, fair_holdings
from fairberth.simulator.history import History, Life, Sample
from fairberth.simulator.scenario import Scenario
from fairberth.simulator.times import SECOND
from fairberth.simulator.world import Decide, World

SAMPLES = 600  # a run is sampled about that often
_STEPS_BETWEEN_WORD = 200

Watch = Callable[[float], None]


def run(scenario: Scenario, decide: Decide = admit, watch: Watch = lambda done: None) -> History:
    """Run a scenario. `watch` is told now and then which part of the arrivals is done (0 to 1).

    Raises InvariantBroken where `decide` does what it must not.
    """
    return _Run(scenario, decide).all(watch)


class _Run:
    def __init__(self, scenario: Scenario, decide: Decide) -> None:
        self._scenario = scenario
        self._world = World(scenario, decide)
        self._arrived = 0
        self._ends: list[tuple[Millis, int, str]] = []
        self._started = count()  # those that end together end in the order of their start
        self._interval = scenario.setup.policy.round_interval
        self._last_turn = scenario.start - self._interval
        self._due: Millis | None = None
        self._refusals: tuple[Refused, ...] = ()
        self._step = max(SECOND, -(-(scenario.end - scenario.start) // SAMPLES))
        self._next_sample = scenario.start
        self._history = self._empty()

    def _empty(self) -> History:
        pools = self._world.capacity(self._scenario.start)
        total = NOTHING
        for amounts in pools.values():
            total = total.plus(amounts)
        return History(self._scenario, total, pools)

    def all(self, watch: Watch) -> History:
        """Every event until the end."""
        steps, end = 0, self._scenario.end
        while (now := self._next()) is not None and now <= end:
            self._sample_before(now)
            self._step_at(now)
            steps += 1
            if steps % _STEPS_BETWEEN_WORD == 0:
                watch(self._arrived / len(self._scenario.arrivals))
        self._sample_before(end)
        self._note_levels()
        self._world.check()
        watch(1.0)
        return self._history

    def _next(self) -> Millis | None:
        times = [self._due] if self._due is not None else []
        if self._arrived < len(self._scenario.arrivals):
            times.append(self._scenario.arrivals[self._arrived].at)
        if self._ends:
            times.append(self._ends[0][0])
        return min(times, default=None)

    def _step_at(self, now: Millis) -> None:
        changed = False
        while self._ends and self._ends[0][0] == now:
            self._end(heappop(self._ends)[2], now)
            changed = True
        for uid in self._world.place() if changed else ():
            self._start(uid, now)
        arrivals = self._scenario.arrivals
        while self._arrived < len(arrivals) and arrivals[self._arrived].at == now:
            arrival = arrivals[self._arrived]
            tenant = self._world.arrive(arrival.pod)
            self._history.lives[arrival.pod.uid] = Life(tenant, now, arrival.run_for)
            self._arrived += 1
            changed = True
        if changed and self._due is None:
            self._due = max(now, self._last_turn + self._interval)
        if self._due == now:
            self._turn(now)

    def _end(self, uid: str, now: Millis) -> None:
        self._world.end(uid)
        self._history.lives[uid].ended = now

    def _start(self, uid: str, now: Millis) -> None:
        run_for = self._history.lives[uid].run_for
        if run_for is not None:
            heappush(self._ends, (now + run_for, next(self._started), uid))

    def _turn(self, now: Millis) -> None:
        turn = self._world.turn(now)
        self._last_turn, self._refusals = now, turn.refusals
        self._due = now + self._interval if turn.admissions and turn.refusals else None
        history = self._history
        history.turns += 1
        for admission in turn.admissions:
            uid = admission.candidate.pod.uid
            life = history.lives[uid]
            life.admitted, life.level = now, admission.candidate.classified.level
            history.forced += admission.forced
            if self._world.runs(uid):
                self._start(uid, now)
        for uid in self._world.place():
            self._start(uid, now)
        for report in turn.pools.values():
            history.rounds += report.rounds
            history.debt.see(report.max_debt, now)
            history.deviation.see(report.max_tenant_deviation, now)
        history.backlog.see(sum(len(r.lane.candidates) - r.first for r in turn.refusals), now)

    def _note_levels(self) -> None:
        for refused in self._refusals:
            for candidate in refused.lane.candidates[refused.first :]:
                self._history.lives[candidate.pod.uid].level = candidate.classified.level

    # -- sampling -------------------------------------------------------------------------------------------------

    def _sample_before(self, now: Millis) -> None:
        """The samples that are due before `now` (each stands for the time until the next). Between events nothing
        changes, so they are all alike."""
        last: Sample | None = None
        while self._next_sample < now:
            last = self._sample() if last is None else replace(last, at=self._next_sample)
            self._history.samples.append(last)
            self._next_sample += self._step

    def _sample(self) -> Sample:
        setup, books = self._world.setup, self._world.books
        own = dict.fromkeys(setup.tenants, NOTHING)
        for (_, tenant, _), amounts in books.held.items():
            own[tenant] = own[tenant].plus(amounts)
        held = dict.fromkeys(setup.tenants, NOTHING)
        for tenant, amounts in own.items():
            for name in setup.hierarchy.paths[tenant]:
                held[name] = held[name].plus(amounts)
        waiting: dict[tuple[str, Reason], int] = {}
        for refused in self._refusals:
            key = (refused.lane.key.tenant, refused.verdict.reason)
            waiting[key] = waiting.get(key, 0) + len(refused.lane.candidates) - refused.first
        fair = fair_holdings(setup, self._history.pools, books.held, asked_by(self._refusals))
        return Sample(self._next_sample, held, fair, own, dict(books.pods), waiting)
