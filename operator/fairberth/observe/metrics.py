"""The one table of metrics. `docs/metrics.md` is generated from it; alerts and dashboards may use no other names.

Units are base units. No pod, node, uid or user is ever a label; tenants are bounded by `most_tenants`, the rest is
folded into ``other``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.registry import REGISTRY

from fairberth.model.outcomes import Done, Outcome
from fairberth.model.reasons import Reason

MOST_TENANTS = 500


@dataclass(frozen=True, slots=True)
class Metric:
    """One row: kind is counter, gauge or histogram; `buckets` in seconds for histograms."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_FAST = (0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.03, 0.1)
_TURN = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_WAIT = (1, 5, 15, 60, 300, 900, 3600, 14400, 86400)

TABLE = (
    Metric("fairberth_turn_seconds", "histogram", "Time to decide one turn", (), _TURN),
    Metric("fairberth_admissions_total", "counter", "Pods admitted", ("tenant", "level")),
    Metric("fairberth_waiting_pods", "gauge", "Pods that wait, by tenant and reason", ("tenant", "reason")),
    Metric("fairberth_wait_seconds", "histogram", "From a pod's creation to its admission", ("level",), _WAIT),
    Metric("fairberth_dominant_share_ratio", "gauge", "A tenant's dominant share of a pool", ("tenant", "pool")),
    Metric("fairberth_max_debt_ratio", "gauge", "Largest minus smallest debt of tenants with candidates", ("pool",)),
    Metric("fairberth_max_tenant_deviation_pods", "gauge", "Worst round's distance from the weights", ("pool",)),
    Metric("fairberth_ledger_drift", "gauge", "Places where the ledger's sums disagree; must be 0"),
    Metric("fairberth_over_releases", "gauge", "Releases of more than was held since the start, repaired; must be 0"),
    Metric("fairberth_writes_total", "counter", "Writes to the API server", ("what", "outcome")),
    Metric("fairberth_write_seconds", "histogram", "Time of a write, retries included", ("what",), _TURN),
    Metric("fairberth_leader", "gauge", "1 where this process leads"),
    Metric("fairberth_synced", "gauge", "1 where the cache of this kind is in sync", ("kind",)),
    Metric("fairberth_relists", "gauge", "Times since the start that a watch had to list anew", ("kind",)),
    Metric("fairberth_last_event_age_seconds", "gauge", "Age of the newest event or bookmark", ("kind",)),
    Metric("fairberth_undecodable_total", "counter", "Objects that could not be decoded", ("kind",)),
    Metric("fairberth_faulty_objects", "gauge", "Objects of ours that are not in force as written", ("kind",)),
    Metric("fairberth_reviews_total", "counter", "Admission reviews answered", ("answer",)),
    Metric("fairberth_extender_seconds", "histogram", "Time of one extender call", ("verb",), _FAST),
    Metric("fairberth_extender_verdicts_total", "counter", "What the extender answered", ("reason",)),
)


class Metrics:
    """The table's metrics, registered; `self[name]` gives one."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.registry = registry
        self._by_name = {metric.name: _make(metric, registry) for metric in TABLE}
        self._tenants: set[str] = set()

    def counter(self, name: str) -> Counter:
        """A counter of the table."""
        metric = self._by_name[name]
        assert isinstance(metric, Counter)
        return metric

    def gauge(self, name: str) -> Gauge:
        """A gauge of the table."""
        metric = self._by_name[name]
        assert isinstance(metric, Gauge)
        return metric

    def histogram(self, name: str) -> Histogram:
        """A histogram of the table."""
        metric = self._by_name[name]
        assert isinstance(metric, Histogram)
        return metric

    def tenant(self, name: str) -> str:
        """The label for a tenant: its name while there are few enough, else ``other``."""
        if name not in self._tenants and len(self._tenants) >= MOST_TENANTS:
            return "other"
        self._tenants.add(name)
        return name

    # -- the extender's and the webhook's side --------------------------------------------------------------------

    def observe(self, verb: str, seconds: float) -> None:
        """One extender call took so long."""
        self.histogram("fairberth_extender_seconds").labels(verb).observe(seconds)

    def verdict(self, reason: Reason) -> None:
        """The extender answered so."""
        self.counter("fairberth_extender_verdicts_total").labels(str(reason)).inc()

    def reviewed(self, answer: str) -> None:
        """The webhook answered so."""
        self.counter("fairberth_reviews_total").labels(answer).inc()

    def wrote(self, what: str, outcome: Outcome, seconds: float) -> None:
        """A command was performed, or given up."""
        name = "ok" if isinstance(outcome, Done) else type(outcome).__name__.lower()
        self.counter("fairberth_writes_total").labels(what, name).inc()
        self.histogram("fairberth_write_seconds").labels(what).observe(seconds)


def _make(metric: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    if metric.kind == "histogram":
        return Histogram(metric.name, metric.help, metric.labels, buckets=metric.buckets, registry=registry)
    kinds: dict[str, Callable[..., Counter | Gauge]] = {"counter": Counter, "gauge": Gauge}
    return kinds[metric.kind](metric.name, metric.help, metric.labels, registry=registry)
