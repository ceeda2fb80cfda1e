"""The page's tables: how long pods waited, as a heat map, and the numbers per tenant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from fairberth.model.workload import Millis
from fairberth.simulator.figures import Count, Report, TenantReport
from fairberth.simulator.history import History, Life
from fairberth.simulator.page import charts
from fairberth.simulator.page.svg import el, section
from fairberth.simulator.times import DAY, HOUR, MINUTE, SECOND, brief


def _buckets(report: Report) -> tuple[list[Millis], list[str]]:
    """Where one column ends and the next begins, and the columns' names (one more); no empty ones at the end."""
    edges = sorted({SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, report.starvation, HOUR, 4 * HOUR, DAY})
    names = ["at once", *(f"to {brief(edge)}" for edge in edges[1:]), f"over {brief(edges[-1])}"]
    reached = max(1, sum(edge <= report.count.waits.longest for edge in edges))
    return edges[:reached], names[: reached + 1]


def waits(history: History, report: Report) -> str:
    """How long they waited, by level and by tenant."""
    edges, names = _buckets(report)
    late = [0, *edges]
    heads = "".join(
        el("th", name, scope="col", class_="late" if start >= report.starvation else None)
        for name, start in zip(names, late, strict=True)
    )
    lives = list(history.lives.values())
    rows = []
    if len(report.levels) > 1:
        rows.append(_group("by level", len(names)))
        rows += [
            _heat(f"P{level}", (life for life in lives if life.level == level), history.scenario.end, edges, report)
            for level, _ in report.levels
        ]
        rows.append(_group("by tenant", len(names)))
    colour = charts.colours(report)
    for tenant in report.tenants:
        chip = el("i", style=f"background:{colour[tenant.name]}") + escape(tenant.name)
        rows.append(_heat(chip, history.of(tenant.name), history.scenario.end, edges, report))
    table = el("table", el("thead", el("tr", "<th></th>", heads)), el("tbody", *rows), class_="heat")
    return section(
        "How long they waited",
        "Percent of the pods by how long they waited for admission (or have waited so far). From"
        f" {brief(report.starvation)} on a pod is starving and may be put first.",
        el("div", table, class_="table"),
    )


def _group(name: str, columns: int) -> str:
    return el("tr", el("th", name, colspan=columns + 1, scope="rowgroup"), class_="group")


def _heat(name: str, lives: Iterable[Life], end: Millis, edges: Sequence[Millis], report: Report) -> str:
    counts = [0] * (len(edges) + 1)
    for life in lives:
        counts[sum(life.wait(end) >= edge for edge in edges)] += 1
    total, cells = max(1, sum(counts)), []
    for count, start in zip(counts, [0, *edges], strict=True):
        part = count / total
        hue = "var(--hot)" if start >= report.starvation else "var(--heat)"
        style = f"background:rgba({hue},{0.08 + 0.6 * part:.2f})" if count else None
        text = "" if not count else f"{part:.0%}" if part >= 0.01 else "<1%"
        cells.append(el("td", escape(text), style=style, title=f"{count:,} pods"))
    return el("tr", el("th", name, scope="row"), *cells)


_COLUMNS = ("pods", "left waiting", "p50", "p99", "longest", "starved")


def _numbers(count: Count) -> tuple[str, ...]:
    waits = count.waits
    whole = (count.arrived, count.waiting)
    return (*(f"{n:,}" for n in whole), *(brief(w) for w in (waits.p50, waits.p99, waits.longest)))


def numbers(report: Report) -> str:
    """The numbers of each tenant."""
    colour = charts.colours(report)
    heads = ("weight", *_COLUMNS, "share", "fair", "off by", "waited mostly for")
    head = el("tr", "<th></th>", *(el("th", name, scope="col") for name in heads))
    rows = [_tenant(tenant, colour[tenant.name]) for tenant in report.tenants]
    rows.append(el("tr", el("th", "all", scope="row"), el("td"), *_cells(report.count), *(el("td"),) * 4))
    table = el("table", el("thead", head), el("tbody", *rows))
    return section("The numbers", "Waits are until admission.", el("div", table, class_="table"))


def _tenant(tenant: TenantReport, colour: str) -> str:
    name = el("i", style=f"background:{colour}") + escape(tenant.name)
    shares = (el("td", f"{value:.1%}") for value in (tenant.share, tenant.fair, tenant.error))
    reason = tenant.reasons[0][0] if tenant.reasons else ""
    last = el("td", escape(reason))
    weight = el("td", str(tenant.weight))
    return el("tr", el("th", name, scope="row"), weight, *_cells(tenant.count), *shares, last)


def _cells(count: Count) -> list[str]:
    starved = count.waits.starved
    plain = [el("td", text) for text in _numbers(count)]
    return [*plain, el("td", f"{starved:,}", class_="bad" if starved else None)]
