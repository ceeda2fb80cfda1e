"""From the models that users write to the values that decisions see: quantities parsed, durations in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping

from fairberth.api.v1alpha1 import capacitypool, fairnesspolicy, prioritysla, selectors, shared, tenant
from fairberth.model import objects
from fairberth.model.amounts import NOTHING, Amounts, Limits, parse_quantity
from fairberth.model.selectors import EVERYTHING, Requirement, Selector, Toleration
from fairberth.model.workload import Millis

Value = objects.Tenant | objects.PrioritySLA | objects.FairnessPolicy | objects.CapacityPool


def value(read: shared.Model, name: str, created: Millis) -> Value:
    """What a spec without faults means."""
    if isinstance(read, tenant.Tenant):
        return _tenant(read.spec, name, created)
    if isinstance(read, prioritysla.PrioritySLA):
        return _sla(read.spec, name)
    if isinstance(read, fairnesspolicy.FairnessPolicy):
        return _policy(read.spec, name)
    assert isinstance(read, capacitypool.CapacityPool)
    return _pool(read.spec, name, created)


def _tenant(spec: tenant.TenantSpec, name: str, created: int) -> objects.Tenant:
    return objects.Tenant(
        name=name,
        created=created,
        weight=spec.weight,
        tier=objects.Tier[spec.tier.name],
        parent=spec.parent,
        namespaces=tuple(spec.namespaces.names),
        namespace_selector=_selector(spec.namespaces.selector),
        teams=tuple(objects.Team(t.name, tuple(t.namespaces), _selector(t.selector)) for t in spec.teams),
        quotas={quota.pool: _quota(quota) for quota in spec.quotas},
        backpressure=objects.Backpressure(
            spec.backpressure.max_queue,
            spec.backpressure.max_in_flight,
            spec.backpressure.on_full is tenant.OnFull.REJECT,
        ),
        cordoned=spec.cordoned,
        most_urgent=spec.levels.most_urgent,
        default_level=spec.levels.default,
        allowed_contexts=frozenset(context.value for context in spec.allowed_contexts),
    )


def _quota(quota: tenant.Quota) -> objects.Quota:
    return objects.Quota(
        guaranteed=_amounts(quota.guaranteed),
        limit=_limits(quota.limit),
        borrowing=objects.Borrowing(quota.borrowing.enabled, _limits(quota.borrowing.limit)),
        lending=objects.Lending(quota.lending.enabled, _limits(quota.lending.limit)),
    )


def _sla(spec: prioritysla.PrioritySLASpec, name: str) -> objects.PrioritySLA:
    best_effort = spec.max_latency == prioritysla.BEST_EFFORT
    whole, _, part = spec.objective.removesuffix("%").partition(".")
    return objects.PrioritySLA(
        name=name,
        level=spec.level,
        value=objects.ValueClass[spec.value_class.name],
        guarantee=spec.guarantee,
        lend_guarantee=spec.lend_guarantee,
        preemptible=spec.preemptible,
        max_latency=None if best_effort else shared.millis(spec.max_latency),
        objective=int(whole) * 100 + int(f"{part:0<2}"),
        priority_class=spec.priority_class_name,
    )


def _policy(spec: fairnesspolicy.FairnessPolicySpec, name: str) -> objects.FairnessPolicy:
    scoring, windows = spec.scoring, spec.windows
    return objects.FairnessPolicy(
        name=name,
        scoring=objects.Scoring(
            critical=scoring.value_weights.critical,
            standard=scoring.value_weights.standard,
            batch=scoring.value_weights.batch,
            base_priority=tuple(scoring.base_priority),
            aging_per_tick=scoring.aging_per_tick,
            max_aging_ticks=scoring.max_aging_ticks,
            starvation_ticks=scoring.starvation_ticks,
            aging_tick=shared.millis(scoring.aging_tick),
        ),
        fair_band=spec.fair_band,
        per_tenant_window=_window(windows.per_tenant),
        per_team_window=_window(windows.per_team),
        max_forced=spec.max_forced,
        round_interval=shared.millis(spec.round_interval),
        max_context_boost=fairnesspolicy.hundredths(spec.max_context_boost),
        types={kind.name: kind.level for kind in spec.types},
        lost_node_timeout=shared.millis(spec.lost_node_timeout),
    )


def _pool(spec: capacitypool.CapacityPoolSpec, name: str, created: int) -> objects.CapacityPool:
    return objects.CapacityPool(
        name=name,
        created=created,
        role=objects.PoolRole[spec.role.name],
        selector=_selector(spec.node_selector) or EVERYTHING,
        tolerations=tuple(
            Toleration(t.key, t.operator, t.value, t.effect, t.toleration_seconds) for t in spec.tolerations
        ),
        levels=frozenset(spec.levels),
        max_capacity=_amounts(spec.autoscaling.max_capacity) if spec.autoscaling else None,
    )


def _window(window: int | str) -> int | None:
    return window if isinstance(window, int) else None


def _amounts(quantities: Mapping[str, int | str]) -> Amounts:
    return Amounts.parse(quantities) if quantities else NOTHING


def _limits(quantities: Mapping[str, int | str]) -> Limits:
    return Limits({name: parse_quantity(name, text) for name, text in quantities.items()})


def _selector(written: selectors.LabelSelector | None) -> Selector | None:
    if written is None:
        return None
    exact = Selector.exact(written.match_labels).requirements
    more = tuple(Requirement(e.key, e.operator, tuple(e.values)) for e in written.match_expressions)
    return Selector((*exact, *more))
