"""The page's pictures: who held the cluster, against what would have been fair, and who waited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from fairberth.simulator.figures import Report
from fairberth.simulator.history import History
from fairberth.simulator.page import charts
from fairberth.simulator.page.charts import Series
from fairberth.simulator.page.svg import el, section, short


def shares(history: History, report: Report) -> str:
    """Who held the cluster over time, all tenants on top of each other."""
    series = charts.held_series(history, report)
    title = f"Part of {report.scarcest} that each tenant's pods hold over time"
    drawing = charts.stacked(history, series, title, "{:.0%}", 1.0, 300)
    figure = _figure("held", drawing, series, charts.hover_data(history, series, "%"))
    return section(
        "Who held the cluster",
        f"Part of {escape(short(report.scarcest))}, the scarcest resource, that each tenant’s running pods hold."
        + _kept(history),
        figure,
    )


def _kept(history: History) -> str:
    kept = [sla for sla in history.scenario.setup.slas.values() if sla.guarantee and not sla.lend_guarantee]
    return "".join(
        f" {sla.guarantee} % are guaranteed to P{sla.level} and never lent: where no P{sla.level} asks, they stay free."
        for sla in kept
    )


def panels(history: History, report: Report) -> str:
    """Each tenant's share against its fair share."""
    top, colour = charts.panels_top(history, report), charts.colours(report)
    drawn = []
    for tenant in report.tenants:
        caption = el("b", escape(tenant.name)) + el("span", f"weight {tenant.weight}")
        below = el("span", f"held {tenant.share:.1%}, fair {tenant.fair:.1%}")
        below += el("span", f"off by {tenant.error:.1%}")
        picture = charts.panel(history, tenant, colour[tenant.name], top)
        drawn.append(el("figure", el("figcaption", caption), picture, el("figcaption", below)))
    return section(
        "Held against fair share",
        'The area is what a tenant holds of the resource that it has most of, the line <span class="dash"></span> its'
        " fair share: what weights and guarantees entitle it to, as far as it asks for it.",
        el("div", *drawn, class_="panels"),
    )


def queue(history: History, report: Report) -> str:
    """Who waited over time."""
    series = charts.waiting_series(history, report)
    drawing = charts.stacked(history, series, "Waiting pods of each tenant over time", "{:,.0f}", None, 220)
    figure = _figure("waiting", drawing, series, charts.hover_data(history, series, ""))
    return section("Who waited", "Pods that wait for their turn.", figure)


def _figure(name: str, drawing: str, series: Sequence[Series], data: object) -> str:
    chips = "".join(el("li", el("i", style=f"background:{s.colour}"), escape(s.name)) for s in series)
    encoded = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # no name can end the element early
    embedded = f'<script type="application/json" id="data-{name}">{encoded}</script>'
    legend = el("ul", chips, class_="legend")
    return el("figure", legend, drawing, el("div", class_="tip"), embedded, data_hover=f"data-{name}")
