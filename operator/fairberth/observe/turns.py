"""Turns as metrics and as one log line per turn that admitted anything."""

from __future__ import annotations

import logging
from collections import Counter

from fairberth.model.outcomes import Done, Outcome
from fairberth.model.workload import Millis
from fairberth.observe.metrics import Metrics
from fairberth.policy.engine import Turn
from fairberth.policy.snapshot import Snapshot

_log = logging.getLogger("fairberth.turn")
_GAUGES_EVERY: Millis = 1_000
_DRIFT_EVERY: Millis = 60_000  # adding up every pod takes a moment


class TurnMetrics:
    """The wheel's observer."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._gauged: Millis = 0
        self._added_up: Millis = 0
        self._waiting: set[tuple[str, str]] = set()
        self._shares: set[tuple[str, str]] = set()

    def turned(self, snapshot: Snapshot, turn: Turn, seconds: float) -> None:
        """A turn was decided."""
        self._metrics.histogram("fairberth_turn_seconds").observe(seconds)
        admitted = self._metrics.counter("fairberth_admissions_total")
        waits = self._metrics.histogram("fairberth_wait_seconds")
        for admission in turn.admissions:
            level = f"P{admission.candidate.classified.level}"
            admitted.labels(self._metrics.tenant(admission.tenant), level).inc()
            waits.labels(level).observe(max(0, snapshot.now - admission.candidate.pod.created) / 1000)
        if turn.admissions:
            pools = {name: report.rounds for name, report in turn.pools.items()}
            _log.info("admitted %d pods in %.1f ms, rounds %s", len(turn.admissions), seconds * 1000, pools)
        if snapshot.now - self._gauged >= _GAUGES_EVERY:
            self._gauged = snapshot.now
            self._gauge(snapshot, turn)

    def _gauge(self, snapshot: Snapshot, turn: Turn) -> None:
        if snapshot.now - self._added_up >= _DRIFT_EVERY:
            self._added_up = snapshot.now
            drift = snapshot.ledger.drift()
            self._metrics.gauge("fairberth_ledger_drift").set(len(drift))
            for place in drift:
                _log.error("ledger drift: %s", place)
        self._gauge_waiting(turn)
        self._gauge_shares(snapshot, turn)
        for pool, report in turn.pools.items():
            self._metrics.gauge("fairberth_max_debt_ratio").labels(pool).set(report.max_debt)
            self._metrics.gauge("fairberth_max_tenant_deviation_pods").labels(pool).set(report.max_tenant_deviation)

    def _gauge_waiting(self, turn: Turn) -> None:
        gauge = self._metrics.gauge("fairberth_waiting_pods")
        counts: Counter[tuple[str, str]] = Counter()
        for refused in turn.refusals:
            tenant = self._metrics.tenant(refused.lane.key.tenant)
            counts[tenant, str(refused.verdict.reason)] += len(refused.lane.candidates) - refused.first
        for labels, n in counts.items():
            gauge.labels(*labels).set(n)
        for labels in self._waiting - counts.keys():
            gauge.remove(*labels)
        self._waiting = set(counts)

    def _gauge_shares(self, snapshot: Snapshot, turn: Turn) -> None:
        gauge = self._metrics.gauge("fairberth_dominant_share_ratio")
        current = set()
        for pool, capacity in snapshot.capacity.items():
            for tenant in snapshot.setup.tenants:
                held = turn.ledger.held(pool, tenant)
                share = max((held[name] / n for name, n in capacity.items() if n > 0), default=0.0)
                labels = (self._metrics.tenant(tenant), pool)
                gauge.labels(*labels).set(share)
                current.add(labels)
        for labels in self._shares - current:
            gauge.remove(*labels)
        self._shares = current

    def wrote(self, what: str, outcome: Outcome, seconds: float) -> None:
        """A command was performed, or given up."""
        self._metrics.wrote(what, outcome, seconds)
        if not isinstance(outcome, Done):
            _log.warning("%s was not written: %s: %s", what, type(outcome).__name__, outcome.message)
