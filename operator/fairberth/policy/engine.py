"""The turn: who is admitted now, where, and why everybody else waits (design §5).

`admit(snapshot)` runs each pool's rounds (`rounds.PoolTurn`), pools by name; a lane that a pool refused goes on to
the next pool of its route, and the pools run again, until nobody goes on. It returns a `Turn`: nothing is performed
here. Pure: the same snapshot gives the same turn, whatever the order of its mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairberth.model.reasons import Reason
from fairberth.policy.ledger import Ledger
from fairberth.policy.progress import Progress
from fairberth.policy.rounds import Admission, PoolReport, PoolTurn
from fairberth.policy.snapshot import Lane, Snapshot
from fairberth.policy.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Refused:
    """All pods of a lane from index `first` on wait, for the same reason."""

    lane: Lane
    first: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn decided: admissions in the order in which they go, a refusal per waiting lane, a report per pool
    that anybody asked in, and the ledger as it will be once everything is performed."""

    admissions: tuple[Admission, ...]
    refusals: tuple[Refused, ...]
    pools: Mapping[str, PoolReport]
    ledger: Ledger


def admit(snapshot: Snapshot) -> Turn:
    """Decide a turn."""
    ledger = snapshot.ledger.fork()
    admissions: list[Admission] = []
    progress = _start(snapshot)
    turns: dict[str, PoolTurn] = {}
    reports: dict[str, PoolReport] = {}
    asking = True
    while asking:
        for pool in snapshot.setup.pools.values():
            lanes = _asking_in(pool.name, progress)
            if not lanes:
                continue
            if pool.name not in turns:
                turns[pool.name] = PoolTurn(snapshot, pool, ledger, admissions.append)
            reports[pool.name] = turns[pool.name].run(lanes)
        moved = [p.leave_pool() for lanes in progress.values() for p in lanes]
        asking = any(moved)
    refusals = [
        Refused(p.lane, p.next, verdict) for lanes in progress.values() for p in lanes if (verdict := p.verdict)
    ]
    return Turn(tuple(admissions), tuple(refusals), reports, ledger)


def _start(snapshot: Snapshot) -> dict[str, list[Progress]]:
    routes = {level: snapshot.setup.route(level) for level in snapshot.setup.slas}
    progress: dict[str, list[Progress]] = {}
    for tenant in snapshot.setup.tenants:
        lanes = [Progress(lane, _route(lane, routes)) for lane in snapshot.lanes.get(tenant, ())]
        for lane in lanes:
            if not lane.route:
                lane.refuse(Verdict(Reason.NO_POOL, tenant=tenant), 0)
        if lanes:
            progress[tenant] = lanes
    return progress


def _route(lane: Lane, routes: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    """The pools of its level; of a group, those where every member may go."""
    route = routes[lane.key.level]
    if lane.key.group:
        others = {candidate.classified.level for candidate in lane.candidates} - {lane.key.level}
        return tuple(pool for pool in route if all(pool in routes[level] for level in others))
    return route


def _asking_in(pool: str, progress: Mapping[str, list[Progress]]) -> dict[str, list[Progress]]:
    asking = {}
    for tenant, lanes in progress.items():
        here = [lane for lane in lanes if lane.waits and lane.pool == pool]
        if here:
            asking[tenant] = here
    return asking
