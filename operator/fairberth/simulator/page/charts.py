"""The pictures of a run: who held what, who waited, and how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from fairberth.model.workload import Millis
from fairberth.simulator.figures import Report, TenantReport
from fairberth.simulator.history import History
from fairberth.simulator.page.svg import Frame, el, nice
from fairberth.simulator.report import dominant, part
from fairberth.simulator.scenario import Moment

COLOURS: Final = 10  # as many as page.css names
_WIDTH: Final = 1080.0
_OTHERS: Final = "others"
_GREY: Final = "var(--grey)"


@dataclass(frozen=True, slots=True)
class Series:
    """One tenant's values over time (or those of several, as `others`)."""

    name: str
    colour: str
    values: tuple[float, ...]


def colours(report: Report) -> Mapping[str, str]:
    """A colour per tenant: those that held most have one of their own, the rest share a grey."""
    ordered = sorted(report.tenants, key=lambda t: (-t.share, t.name))
    chosen = {t.name for t in ordered[:COLOURS]}
    own = [t.name for t in report.tenants if t.name in chosen]
    return {t.name: f"var(--c{own.index(t.name)})" if t.name in chosen else _GREY for t in report.tenants}


def held_series(history: History, report: Report) -> list[Series]:
    """What each tenant's own pods hold of the scarcest resource."""
    by_name = {
        t.name: [part(sample.own[t.name], history.capacity, report.scarcest) for sample in history.samples]
        for t in report.tenants
    }
    return _gathered(by_name, colours(report))


def waiting_series(history: History, report: Report) -> list[Series]:
    """How many pods of each tenant wait."""
    by_name = {t.name: [0.0] * len(history.samples) for t in report.tenants}
    for index, sample in enumerate(history.samples):
        for (tenant, _), pods in sample.waiting.items():
            by_name[tenant][index] += pods
    return _gathered(by_name, colours(report))


def _gathered(by_name: Mapping[str, Sequence[float]], colour: Mapping[str, str]) -> list[Series]:
    series = [Series(name, colour[name], tuple(v)) for name, v in by_name.items() if colour[name] != _GREY]
    rest = {name: values for name, values in by_name.items() if colour[name] == _GREY}
    if rest:
        name = next(iter(rest)) if len(rest) == 1 else _OTHERS
        series.append(Series(name, _GREY, tuple(sum(column) for column in zip(*rest.values(), strict=True))))
    return series


def stacked(history: History, series: Sequence[Series], title: str, label: str, top: float | None, height: int) -> str:
    """Areas on top of each other, with the named moments."""
    moments = [sample.at for sample in history.samples]
    totals = [sum(column) for column in zip(*(s.values for s in series), strict=True)]
    scenario = history.scenario
    above = 34.0 if scenario.moments else 12.0
    frame = Frame(
        _WIDTH, height, scenario.start, scenario.end, nice(max(totals, default=0)) if top is None else top, above=above
    )
    low, areas = [0.0] * len(moments), []
    for one in series:
        high = [a + b for a, b in zip(low, one.values, strict=True)]
        areas.append(frame.area(moments, low, high, one.colour))
        low = high
    cursor = el("line", x1=0, x2=0, y1=above, y2=frame.floor, class_="cursor")
    return frame.svg(title, frame.grid(label), *areas, _flags(frame, scenario.moments), cursor)


def _flags(frame: Frame, moments: Sequence[Moment]) -> str:
    parts, row_ends = [], [0.0, 0.0]
    for moment in moments:
        x = frame.x(moment.at)
        row = 0 if x >= row_ends[0] else 1
        row_ends[row] = x + 7.0 * len(moment.name) + 14
        y = 11.0 + 13.0 * row
        parts.append(el("line", x1=x, x2=x, y1=y - 8, y2=frame.floor, class_="flag"))
        parts.append(el("text", escape(moment.name), x=x + 4, y=y, class_="flag-name"))
    return "".join(parts)


def panel(history: History, tenant: TenantReport, colour: str, top: float) -> str:
    """One tenant's share over time (the area) against its fair share (the line)."""
    moments = [sample.at for sample in history.samples]
    held = [dominant(sample.held[tenant.name], history.capacity) for sample in history.samples]
    fair = [dominant(sample.fair[tenant.name], history.capacity) for sample in history.samples]
    scenario = history.scenario
    frame = Frame(340.0, 132.0, scenario.start, scenario.end, top, left=38.0, above=8.0)
    flags = [
        el("line", x1=frame.x(m.at), x2=frame.x(m.at), y1=8, y2=frame.floor, class_="flag") for m in scenario.moments
    ]
    return frame.svg(
        f"{tenant.name}: share held and fair share over time",
        frame.grid("{:.0%}", lines=2),
        *flags,
        frame.area(moments, [0.0] * len(moments), held, colour),
        frame.line(moments, fair, "halo"),
        frame.line(moments, fair, "fair"),
        class_="chart small",
    )


def panels_top(history: History, report: Report) -> float:
    """One scale for all panels."""
    shares = [
        dominant(of[tenant.name], history.capacity)
        for sample in history.samples
        for of in (sample.held, sample.fair)
        for tenant in report.tenants
    ]
    return min(1.0, nice(max(shares, default=0.0)))


def hover_data(history: History, series: Sequence[Series], unit: str) -> dict[str, Any]:
    """What the page's script shows under the pointer."""
    step: Millis = history.samples[1].at - history.samples[0].at if len(history.samples) > 1 else 1
    digits = 3 if unit == "%" else 0
    return {
        "start": history.scenario.start,
        "end": history.scenario.end,
        "step": step,
        "unit": unit,
        "series": [
            {"name": s.name, "colour": s.colour, "values": [round(v, digits) for v in s.values]} for s in series
        ],
    }
