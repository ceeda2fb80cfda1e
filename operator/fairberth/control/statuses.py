"""Statuses of our own objects, kept by the leader: conditions at once, figures at a calm pace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from fairberth.api import patches, status
from fairberth.api.requests import Request
from fairberth.control.perform import Performer
from fairberth.control.ports import Clock, Leadership
from fairberth.control.registry import Registry, SeenObject
from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.faults import ObjectKey
from fairberth.model.outcomes import Done
from fairberth.model.reasons import Reason
from fairberth.policy.configuration import DEFAULT_POLICY
from fairberth.policy.engine import Turn
from fairberth.policy.shares import entitlements
from fairberth.policy.snapshot import Snapshot

EVERY = 2.0  # seconds between looks
FIGURES_EVERY = 5_000  # milliseconds between new figures of one object

Figures = Mapping[str, Any]


class LastTurn(Protocol):
    """Who knows the last turn."""

    last: tuple[Snapshot, Turn] | None


class Statuses:
    """Compares what each object's status should say with what was written, and writes the difference."""

    def __init__(
        self, registry: Registry, turns: LastTurn, performer: Performer, clock: Clock, leadership: Leadership
    ) -> None:
        self._registry = registry
        self._turns = turns
        self._performer = performer
        self._clock = clock
        self._leadership = leadership
        self._written: dict[ObjectKey, tuple[str, Figures]] = {}
        self._at: dict[ObjectKey, int] = {}

    async def run(self) -> None:
        """Keep statuses, for ever."""
        while True:
            if self._leadership.held:
                for key, uid, wanted, request in list(self._due()):
                    if isinstance(await self._performer.status(request), Done):
                        self._written[key] = (uid, wanted)
                        self._at[key] = self._clock.now()
            else:
                self._written.clear()
            await self._clock.sleep(EVERY)

    def _due(self) -> Iterator[tuple[ObjectKey, str, Figures, Request]]:
        now = self._clock.now()
        figures = self._figures()
        for seen in self._registry.objects():
            wanted = {**figures.get(seen.key, {}), **self._standing(seen)}
            uid, before = self._written.get(seen.key, ("", {}))
            if uid == seen.uid and (before == wanted or not self._worth_it(seen.key, before, wanted, now)):
                continue
            condition = status.ready(
                self._registry.faults(seen.key),
                seen.generation,
                now,
                seen.ready,
                in_force=seen.key.kind != "FairnessPolicy" or seen.key.name == DEFAULT_POLICY,
            )
            body = {**wanted, "conditions": [condition, *wanted.get("warnings", ())]}
            body.pop("warnings", None)
            del body["faults"]
            yield seen.key, seen.uid, wanted, patches.object_status(seen.key.kind, seen.key.name, seen.uid, body)

    def _worth_it(self, key: ObjectKey, before: Figures, wanted: Figures, now: int) -> bool:
        standing = ("faults", "inForce", "waiting", "warnings")
        urgent = any(before.get(name) != wanted.get(name) for name in standing)
        return urgent or now - self._at.get(key, 0) >= FIGURES_EVERY

    def _standing(self, seen: SeenObject) -> dict[str, Any]:
        faults = [str(fault) for fault in self._registry.faults(seen.key)]
        standing: dict[str, Any] = {"faults": faults}
        if not faults and seen.source is not None:
            standing["inForce"] = {"generation": seen.generation, "spec": seen.source}
        return standing

    def _figures(self) -> dict[ObjectKey, Figures]:
        if self._turns.last is None:
            return {}
        snapshot, turn = self._turns.last
        figures: dict[ObjectKey, Figures] = {}
        figures.update(_tenants(snapshot, turn))
        figures.update(_levels(snapshot, turn))
        figures.update(_pools(snapshot, turn))
        return figures


def _tenants(snapshot: Snapshot, turn: Turn) -> Iterator[tuple[ObjectKey, Figures]]:
    setup, ledger = snapshot.setup, turn.ledger
    waiting = waiting_by_tenant(snapshot, turn)
    entitled = {pool: entitled_to(snapshot, turn, pool) for pool in setup.pools}
    for name, tenant in setup.tenants.items():
        pools = []
        share = 0.0
        for pool in setup.pools:
            held = ledger.held(pool, name)
            guaranteed = tenant.quota(pool).guaranteed
            capacity = snapshot.capacity.get(pool, NOTHING)
            share = max([share, *(held[r] / n for r, n in capacity.items() if n > 0)])
            pools.append(
                {
                    "pool": pool,
                    "entitled": status.quantities(entitled[pool][name]),
                    "admitted": status.quantities(held),
                    "borrowed": status.quantities(held.above(guaranteed)),
                }
            )
        yield (
            ObjectKey("Tenant", name),
            {
                "pools": pools,
                "waiting": waiting.get(name, 0),
                "inFlight": ledger.in_flight(name),
                "dominantShare": f"{share:.3f}",
            },
        )


def _levels(snapshot: Snapshot, turn: Turn) -> Iterator[tuple[ObjectKey, Figures]]:
    waiting: dict[int, int] = {}
    for refused in turn.refusals:
        level = refused.lane.key.level
        waiting[level] = waiting.get(level, 0) + len(refused.lane.candidates) - refused.first
    running: dict[int, int] = {}
    for _, charge in turn.ledger.charges():
        running[charge.level] = running.get(charge.level, 0) + 1
    for level, sla in snapshot.setup.slas.items():
        key = ObjectKey("PrioritySLA", sla.name)
        yield key, {"waiting": waiting.get(level, 0), "running": running.get(level, 0)}


def _pools(snapshot: Snapshot, turn: Turn) -> Iterator[tuple[ObjectKey, Figures]]:
    roots = snapshot.setup.hierarchy.children[""]
    for pool in snapshot.setup.pools:
        used = NOTHING
        for root in roots:
            used = used.plus(turn.ledger.held(pool, root))
        nodes = snapshot.nodes.statics.in_pool(pool)
        figures = {
            "nodes": int(nodes.sum()),
            "allocatable": status.quantities(snapshot.capacity.get(pool, NOTHING)),
            "used": status.quantities(used),
            "warnings": _oversubscribed(snapshot, pool),
        }
        yield ObjectKey("CapacityPool", pool), figures


def _oversubscribed(snapshot: Snapshot, pool: str) -> list[dict[str, Any]]:
    """A condition where the tenants' guarantees are more than the pool has: they are scaled then."""
    capacity = snapshot.capacity.get(pool, NOTHING)
    guaranteed = NOTHING
    for root in snapshot.setup.hierarchy.children[""]:
        guaranteed = guaranteed.plus(snapshot.setup.tenants[root].quota(pool).guaranteed)
    if not guaranteed.above(capacity):
        return []
    reason = Reason.GUARANTEES_OVERSUBSCRIBED
    message = f"{reason.sentence}: guaranteed {guaranteed}; capacity {capacity}"
    since = snapshot.setup.pools[pool].created
    return [status.warning(reason, message, since)]


def waiting_by_tenant(snapshot: Snapshot, turn: Turn) -> dict[str, int]:
    """How many pods wait after a turn, per tenant, those of tenants below it included."""
    waiting: dict[str, int] = {}
    for refused in turn.refusals:
        for name in snapshot.setup.hierarchy.paths[refused.lane.key.tenant]:
            waiting[name] = waiting.get(name, 0) + len(refused.lane.candidates) - refused.first
    return waiting


def entitled_to(snapshot: Snapshot, turn: Turn, pool: str) -> dict[str, Amounts]:
    """What each tenant is entitled to of a pool, with what it holds and waits for as its demand (by level)."""
    paths = snapshot.setup.hierarchy.paths
    levels = len(snapshot.setup.slas)
    demand: dict[str, list[Amounts]] = {name: [NOTHING] * levels for name in snapshot.setup.tenants}

    def add(tenant: str, level: int, amounts: Amounts) -> None:
        for name in paths.get(tenant, ()):
            demand[name][level] = demand[name][level].plus(amounts)

    for _, charge in turn.ledger.charges():
        if charge.pool == pool:
            add(charge.tenant, charge.level, charge.amounts)
    for refused in turn.refusals:
        key = refused.lane.key
        if pool in snapshot.setup.route(key.level)[:1]:
            add(key.tenant, key.level, key.requests.times(len(refused.lane.candidates) - refused.first))
    capacity = snapshot.capacity.get(pool, NOTHING)
    by_level = {name: tuple(amounts) for name, amounts in demand.items()}
    return entitlements(pool, capacity, snapshot.setup.tenants, snapshot.setup.hierarchy, by_level)
