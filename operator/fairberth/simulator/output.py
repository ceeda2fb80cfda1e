"""A report for machines (JSON) and for terminals (tables)."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from fairberth.simulator.figures import Count, Report, TenantReport
from fairberth.simulator.history import Peak
from fairberth.simulator.times import DAY, SECOND, brief, clock

_DIGITS = 4


def as_json(report: Report) -> str:
    """The report as JSON: waits in seconds, shares as parts of 1, moments as clock times."""
    days = report.end > 2 * DAY
    body = {
        "scenario": report.name,
        "start": clock(report.start, days=days),
        "end": clock(report.end, days=days),
        **_count(report.count),
        "jainIndex": round(report.jain, _DIGITS),
        "shareError": round(report.error, _DIGITS),
        "utilisation": {name: round(part, _DIGITS) for name, part in report.used},
        "scarcest": report.scarcest,
        "starvingAfterSeconds": report.starvation / SECOND,
        "maxDebt": _peak(report.debt, days=days),
        "maxTenantDeviation": _peak(report.deviation, days=days),
        "backlog": _peak(report.backlog, days=days),
        "turns": report.turns,
        "rounds": report.rounds,
        "forced": report.forced,
        "tenants": [_tenant(tenant) for tenant in report.tenants],
        "levels": [{"level": f"P{level}", **_count(count)} for level, count in report.levels],
        "phases": [
            {
                "name": phase.name,
                "start": clock(phase.start, days=days),
                "end": clock(phase.end, days=days),
                **_count(phase.count),
                "used": round(phase.used, _DIGITS),
            }
            for phase in report.phases
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


def _tenant(tenant: TenantReport) -> dict[str, Any]:
    return {
        "tenant": tenant.name,
        "weight": tenant.weight,
        **_count(tenant.count),
        "share": round(tenant.share, _DIGITS),
        "fairShare": round(tenant.fair, _DIGITS),
        "shareError": round(tenant.error, _DIGITS),
        "waitedFor": {reason: round(pods, _DIGITS) for reason, pods in tenant.reasons},
    }


def _count(count: Count) -> dict[str, Any]:
    waits = count.waits
    return {
        "arrived": count.arrived,
        "admitted": count.admitted,
        "finished": count.finished,
        "waiting": count.waiting,
        "waitSeconds": {"p50": waits.p50 / SECOND, "p99": waits.p99 / SECOND, "longest": waits.longest / SECOND},
        "starved": waits.starved,
    }


def _peak(peak: Peak, *, days: bool) -> dict[str, Any]:
    at = None if peak.at is None else clock(peak.at, days=days)
    return {"peak": round(peak.value, _DIGITS), "at": at}


def print_tables(report: Report, notes: tuple[str, ...], console: Console) -> None:
    """The report for people."""
    days = report.end > 2 * DAY
    span = f"{clock(report.start, days=days)} to {clock(report.end, days=days)}"
    console.print(f"[bold]{report.name}[/bold], {span}: {report.count.arrived:,} pods, {report.turns:,} turns")
    for note in notes:
        console.print(f"[dim]{note}[/dim]")
    console.print(_tenants(report))
    if len(report.levels) > 1:
        console.print(_counts("level", [(f"P{level}", count) for level, count in report.levels]))
    if report.phases:
        rows = [(f"{clock(phase.start, days=days)} {phase.name}", phase.count) for phase in report.phases]
        console.print(_counts("from", rows))
    console.print(_overall(report))


_COLUMNS = ("pods", "left", "p50", "p99", "longest", "starved")  # left: waiting at the end; then the waits


def _cells(count: Count) -> tuple[str, ...]:
    waits = count.waits
    numbers = (count.arrived, count.waiting)
    return (
        *(f"{n:,}" for n in numbers),
        *(brief(wait) for wait in (waits.p50, waits.p99, waits.longest)),
        f"{waits.starved:,}",
    )


def _counts(title: str, rows: list[tuple[str, Count]]) -> Table:
    table = _table(title, *_COLUMNS)
    for name, count in rows:
        table.add_row(name, *_cells(count))
    return table


def _tenants(report: Report) -> Table:
    table = _table("tenant", "weight", *_COLUMNS, "held", "fair", "off")
    for tenant in report.tenants:
        shares = (f"{part:.1%}" for part in (tenant.share, tenant.fair, tenant.error))
        table.add_row(tenant.name, str(tenant.weight), *_cells(tenant.count), *shares)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _overall(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    used = ", ".join(f"{name} {part:.0%}" for name, part in report.used)
    table.add_row("in use", used)
    table.add_row("Jain index of held ÷ fair share", f"{report.jain:.3f} (1 is perfectly fair)")
    table.add_row("share error", f"{report.error:.2%} of the cluster, on average")
    table.add_row("MaxDebt", _told(report.debt))
    table.add_row("maxTenantDeviation", f"{_told(report.deviation)} (pods within a round)")
    table.add_row("most waiting", _told(report.backlog))
    starved = f"{report.count.waits.starved:,} pods waited {brief(report.starvation)} or longer"
    table.add_row("starvation", f"{starved}; {report.forced:,} were put first for it")
    return table


def _told(peak: Peak) -> str:
    at = "" if peak.at is None else f" at {clock(peak.at)}"
    return f"{peak.value:,.3g}{at}"
