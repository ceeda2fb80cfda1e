"""From a history to numbers: per tenant, per level, between the named moments, and overall.

Shares are *dominant*: of the resource that a tenant has most of. A wait counts until admission; who still waits at
the end counts with the wait so far, so that nobody who was forgotten is missing. Averages are over time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairberth.model.amounts import PODS, Amounts
from fairberth.model.objects import ValueClass
from fairberth.model.workload import Millis
from fairberth.simulator.figures import Count, Phase, Report, TenantReport, Waits
from fairberth.simulator.history import History, Life, Sample


def report(history: History) -> Report:
    """Work it out."""
    scenario, scoring = history.scenario, history.scenario.setup.policy.scoring
    starvation = scoring.starvation_ticks * scoring.aging_tick
    lives = list(history.lives.values())

    def count(of: Iterable[Life]) -> Count:
        return _count(list(of), scenario.end, starvation)

    names = [name for name in scenario.setup.tenants if any(life.tenant == name for life in lives)]
    tenants = tuple(_tenant(history, name, count(history.of(name))) for name in names)
    used = usage(history)
    scarcest = max(used, key=lambda item: item[1], default=("", 0.0))[0]
    levels = sorted({life.level for life in lives if life.level is not None})
    return Report(
        name=scenario.name,
        start=scenario.start,
        end=scenario.end,
        count=count(lives),
        tenants=tenants,
        levels=tuple((level, count(life for life in lives if life.level == level)) for level in levels),
        phases=tuple(_phases(history, scarcest, count)),
        used=used,
        scarcest=scarcest,
        jain=_mean([_jain(history, sample, names) for sample in history.samples], 1.0),
        error=_mean([tenant.error for tenant in tenants]),
        starvation=starvation,
        debt=history.debt,
        deviation=history.deviation,
        backlog=history.backlog,
        turns=history.turns,
        rounds=history.rounds,
        forced=history.forced,
        batch=frozenset(n for n, sla in scenario.setup.slas.items() if sla.value is ValueClass.BATCH),
    )


def part(amounts: Amounts, capacity: Amounts, resource: str) -> float:
    """Which part of a resource the amounts are."""
    return amounts[resource] / capacity[resource] if capacity[resource] > 0 else 0.0


def dominant(amounts: Amounts, capacity: Amounts) -> float:
    """The largest part that the amounts are of any resource."""
    return max((part(amounts, capacity, resource) for resource in amounts), default=0.0)


def usage(history: History) -> tuple[tuple[str, float], ...]:
    """The average part in use of each resource that there is, by name; `pods` only where nothing else is."""
    resources = sorted(history.capacity)
    kept = [name for name in resources if name != PODS] or resources
    return tuple((name, _mean([used(history, sample, name) for sample in history.samples])) for name in kept)


def used(history: History, sample: Sample, resource: str) -> float:
    """The part of a resource that is in use."""
    return sum(part(amounts, history.capacity, resource) for amounts in sample.own.values())


def _count(lives: Sequence[Life], end: Millis, starvation: Millis) -> Count:
    waits = sorted(life.wait(end) for life in lives)
    return Count(
        arrived=len(lives),
        admitted=sum(life.admitted is not None for life in lives),
        finished=sum(life.ended is not None for life in lives),
        waits=Waits(
            pods=len(waits),
            p50=quantile(waits, 50),
            p99=quantile(waits, 99),
            longest=waits[-1] if waits else 0,
            starved=sum(wait >= starvation for wait in waits),
        ),
    )


def quantile(ordered: Sequence[Millis], percent: int) -> Millis:
    """The smallest value that so many percent of all do not exceed (0 of nothing)."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0


def _tenant(history: History, name: str, count: Count) -> TenantReport:
    capacity = history.capacity
    shares = [(dominant(s.held[name], capacity), dominant(s.fair[name], capacity)) for s in history.samples]
    reasons: dict[str, int] = {}
    for sample in history.samples:
        for (tenant, reason), pods in sample.waiting.items():
            if tenant == name:
                reasons[str(reason)] = reasons.get(str(reason), 0) + pods
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return TenantReport(
        name=name,
        weight=history.scenario.setup.tenants[name].weight,
        count=count,
        share=_mean([held for held, _ in shares]),
        fair=_mean([fair for _, fair in shares]),
        error=_mean([abs(held - fair) for held, fair in shares if held or fair]),
        reasons=tuple((reason, pods / len(history.samples)) for reason, pods in ordered),
    )


def _phases(history: History, resource: str, count: Callable[[Iterable[Life]], Count]) -> Iterable[Phase]:
    scenario = history.scenario
    moments = [m for m in scenario.moments if m.at < scenario.end]
    ends = [*(moment.at for moment in moments[1:]), scenario.end]
    for moment, end in zip(moments, ends, strict=False):  # without moments there is still an end
        within = [sample for sample in history.samples if moment.at <= sample.at < end]
        yield Phase(
            moment.name,
            moment.text,
            moment.at,
            end,
            count(life for life in history.lives.values() if moment.at <= life.created < end),
            _mean([used(history, sample, resource) for sample in within]),
        )


def _jain(history: History, sample: Sample, names: Sequence[str]) -> float | None:
    """Of one moment; None where nobody has pods."""
    parts = []
    for name in names:
        fair = dominant(sample.fair[name], history.capacity)
        if fair > 0:
            parts.append(dominant(sample.held[name], history.capacity) / fair)
    squares = sum(x * x for x in parts)
    return sum(parts) ** 2 / (len(parts) * squares) if squares else None


def _mean(values: Iterable[float | None], of_nothing: float = 0.0) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else of_nothing
