"""The report as one self-contained page: pictures first, then the numbers. Nothing is loaded from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from fairberth.model.amounts import PODS, format_quantity
from fairberth.model.workload import Millis
from fairberth.simulator import charts
from fairberth.simulator.charts import Series
from fairberth.simulator.history import History, Life
from fairberth.simulator.report import Count, Report, TenantReport
from fairberth.simulator.svg import el
from fairberth.simulator.times import DAY, HOUR, MINUTE, SECOND, brief, clock


def page(history: History, report: Report) -> str:
    """The whole page. Its only scripts and styles are its own."""
    folder = resources.files("fairberth.simulator") / "page"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    body = "".join(
        (
            _head(history, report),
            _tiles(report),
            _moments(report),
            _shares(history, report),
            _queue(history, report),
            _waits(history, report),
            _tenants(report),
            _words(report),
        )
    )
    title = escape(f"{report.name} · Fairberth simulation")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{title}</title><style>{style}</style>'
    )
    foot = el("footer", "Made by the Fairberth simulator: the production engine under a virtual clock.")
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>{body}{foot}</main>'
        f"<script>{script}</script></body></html>\n"
    )


def _head(history: History, report: Report) -> str:
    scenario, days = history.scenario, report.end > 2 * DAY
    amounts = history.capacity
    room = ", ".join(f"{format_quantity(n, amounts[n])} {n}" for n in sorted(amounts) if n != PODS)
    facts = (
        f"<b>{clock(report.start, days=days)}</b> to <b>{clock(report.end, days=days)}</b>",
        f"<b>{len(scenario.nodes):,}</b> nodes: {escape(room)}",
        f"<b>{len(report.tenants)}</b> tenants",
        f"<b>{report.count.arrived:,}</b> pods",
        f"<b>{report.turns:,}</b> turns",
    )
    notes = "".join(el("p", escape(note)) for note in scenario.notes)
    spans = "".join(el("span", fact) for fact in facts)
    lines = (el("h1", escape(report.name)), el("p", escape(scenario.text)), el("p", spans, class_="facts"), notes)
    return el("header", *lines)


def _tiles(report: Report) -> str:
    waits, days = report.count.waits, report.end > 2 * DAY
    used = dict(report.used)
    batch = sum(count.waits.starved for level, count in report.levels if level in report.batch)

    def peak_at(at: Millis | None) -> str:
        return "" if at is None else f" at {clock(at, days=days)}"

    tiles = (
        ("Fairness", f"{report.jain:.3f}", "Jain’s index of held ÷ fair share; 1 is perfect", False),
        ("Distance from fair", f"{report.error:.1%}", "of the cluster, per tenant, on average", False),
        (
            f"{report.scarcest} in use",
            f"{used.get(report.scarcest, 0):.0%}",
            "on average, the scarcest resource",
            False,
        ),
        ("Median wait", brief(waits.p50), f"99 of 100 waited {brief(waits.p99)} or less", False),
        ("Most waiting", f"{report.backlog.value:,.0f}", f"pods{peak_at(report.backlog.at)}", False),
        (
            "Starving",
            f"{waits.starved:,}",
            f"pods waited {brief(report.starvation)} or longer, {batch:,} of them batch",
            waits.starved > batch,
        ),
    )
    return el("dl", *(_tile(*tile) for tile in tiles), class_="tiles")


def _tile(name: str, value: str, note: str, warn: bool) -> str:
    inner = (el("dt", escape(name)), el("dd", escape(value)), el("dd", escape(note), class_="note"))
    return el("div", *inner, class_="tile warn" if warn else "tile")


def _section(title: str, text: str, *inner: str) -> str:
    return el("section", el("h2", escape(title)), el("p", text), *inner)


def _moments(report: Report) -> str:
    if not report.phases:
        return ""
    items = []
    for phase in report.phases:
        count, waits = phase.count, phase.count.waits
        median = f"half waited {brief(waits.p50)} or less" if waits.p50 else "most went at once"
        numbers = f"{count.arrived:,} pods arrived; {median}, the longest wait was {brief(waits.longest)}"
        used = f"{phase.used:.0%} of {report.scarcest} in use"
        head = el("time", clock(phase.start)) + " " + el("h3", escape(phase.name))
        small = (el("small", escape(numbers)), el("small", escape(used)))
        items.append(el("li", head, el("p", escape(phase.text)), *small))
    return _section("The moments", "What happened, and how the cluster took it.", el("ul", *items, class_="moments"))


def _shares(history: History, report: Report) -> str:
    series = charts.held_series(history, report)
    title = f"Part of {report.scarcest} that each tenant's pods hold over time"
    drawing = charts.stacked(history, series, title, "{:.0%}", 1.0, 300)
    figure = _figure("held", drawing, series, charts.hover_data(history, series, "%"))
    top, colour = charts.panels_top(history, report), charts.colours(report)
    panels = []
    for tenant in report.tenants:
        caption = el("b", escape(tenant.name)) + el("span", f"weight {tenant.weight}")
        drawn = charts.panel(history, tenant, colour[tenant.name], top)
        below = el("span", f"held {tenant.share:.1%}, fair {tenant.fair:.1%}") + el(
            "span", f"off by {tenant.error:.1%}"
        )
        panels.append(el("figure", el("figcaption", caption), drawn, el("figcaption", below)))
    dash = '<span class="dash"></span>'
    return _section(
        "Who held the cluster",
        f"Part of {escape(report.scarcest)}, the scarcest resource, that each tenant’s running pods hold.",
        figure,
    ) + _section(
        "Held against fair share",
        f"The area is what a tenant holds of the resource that it has most of, the line {dash} its fair share: what"
        " weights and guarantees entitle it to, as far as it asks for it.",
        el("div", *panels, class_="panels"),
    )


def _queue(history: History, report: Report) -> str:
    series = charts.waiting_series(history, report)
    drawing = charts.stacked(history, series, "Waiting pods of each tenant over time", "{:,.0f}", None, 220)
    figure = _figure("waiting", drawing, series, charts.hover_data(history, series, ""))
    return _section("Who waited", "Pods that wait for their turn.", figure)


def _figure(name: str, drawing: str, series: Sequence[Series], data: object) -> str:
    chips = "".join(el("li", el("i", style=f"background:{s.colour}"), escape(s.name)) for s in series)
    # Within a script element only `</` could end it early.
    encoded = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    embedded = f'<script type="application/json" id="data-{name}">{encoded}</script>'
    legend = el("ul", chips, class_="legend")
    return el("figure", legend, drawing, el("div", class_="tip"), embedded, data_hover=f"data-{name}")


def _waits(history: History, report: Report) -> str:
    edges = sorted({SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, report.starvation, HOUR, 4 * HOUR, DAY})
    edges = edges[: 1 + sum(edge <= report.count.waits.longest for edge in edges)]
    names = ["at once", *(f"to {brief(edge)}" for edge in edges[1:]), f"over {brief(edges[-1])}"]
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
    return _section(
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


def _tenants(report: Report) -> str:
    colour = charts.colours(report)
    heads = ("weight", *_COLUMNS, "share", "fair", "off by", "waited mostly for")
    head = el("tr", "<th></th>", *(el("th", name, scope="col") for name in heads))
    rows = [_tenant(tenant, colour[tenant.name]) for tenant in report.tenants]
    rows.append(el("tr", el("th", "all", scope="row"), el("td"), *_cells(report.count), *(el("td"),) * 4))
    table = el("table", el("thead", head), el("tbody", *rows))
    return _section("The numbers", "Waits are until admission.", el("div", table, class_="table"))


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


def _words(report: Report) -> str:
    days = report.end > 2 * DAY

    def peak(value: float, at: Millis | None) -> str:
        return f"{value:.3g}" + ("" if at is None else f" (at {clock(at, days=days)})")

    used = ", ".join(f"{name} {part:.0%}" for name, part in report.used)
    words = (
        ("Fair share", "Guarantees first, then the rest by weight, to nobody more than it asks for (water-filling)."),
        ("Jain’s index", "Of held ÷ fair share over the tenants with pods, averaged over time: 1 if all are alike."),
        (
            "Off by",
            "Average distance between held and fair share. Pods are whole and are not moved: it is never quite 0.",
        ),
        (
            "MaxDebt",
            f"Largest minus smallest debt among those who wait, at worst: {peak(report.debt.value, report.debt.at)}.",
        ),
        (
            "maxTenantDeviation",
            "Pods by which a tenant’s admissions within one round were off its weight’s part, at worst: "
            f"{peak(report.deviation.value, report.deviation.at)}.",
        ),
        ("In use", f"Average part of each resource: {used}."),
        ("Forced", f"{report.forced:,} pods were put first because they had waited too long."),
    )
    inner = "".join(el("dt", escape(word)) + el("dd", escape(text)) for word, text in words)
    return _section("What the words mean", "", el("div", el("dl", inner, class_="words"), class_="table"))
