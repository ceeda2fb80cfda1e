"""The report as one self-contained page: pictures first, then the numbers. Nothing is loaded from anywhere."""

from __future__ import annotations

from html import escape
from importlib import resources

from fairberth.model.amounts import CPU, MEMORY, PODS
from fairberth.model.workload import Millis
from fairberth.simulator.figures import Report
from fairberth.simulator.history import History
from fairberth.simulator.page import grids, pictures
from fairberth.simulator.page.svg import el, section, short
from fairberth.simulator.times import DAY, brief, clock


def page(history: History, report: Report) -> str:
    """The whole page. Its only scripts and styles are its own."""
    folder = resources.files("fairberth.simulator.page")
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    body = "".join(
        (
            _head(history, report),
            _tiles(report),
            _moments(report),
            pictures.shares(history, report),
            pictures.panels(history, report),
            pictures.queue(history, report),
            grids.waits(history, report),
            grids.numbers(report),
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
    room = ", ".join(rough(n, amounts[n]) for n in sorted(amounts) if n != PODS)
    facts = (
        f"<b>{clock(report.start, days=days)}</b> to <b>{clock(report.end, days=days)}</b>",
        f"<b>{len(scenario.nodes):,}</b> nodes: {escape(room)}",
        f"<b>{len(report.tenants)}</b> tenants",
        f"<b>{report.count.arrived:,}</b> pods",
        f"<b>{report.turns:,}</b> turns",
    )
    notes = el("ul", *(el("li", escape(note)) for note in scenario.notes), class_="notes") if scenario.notes else ""
    spans = "".join(el("span", fact) for fact in facts)
    lines = (el("h1", escape(report.name)), el("p", escape(scenario.text)), el("p", spans, class_="facts"), notes)
    return el("header", *lines)


def rough(resource: str, amount: int) -> str:
    """An amount for a glance: ``125,514 cpu``, ``584 Ti memory``."""
    if resource == CPU:
        return f"{amount / 1000:,.0f} cpu"
    if resource == MEMORY:
        size, unit = next(
            (s, u) for s, u in ((1 << 40, "Ti"), (1 << 30, "Gi"), (1, "bytes")) if amount >= 10 * s or s == 1
        )
        return f"{amount / size:,.0f} {unit} memory"
    return f"{amount:,} {short(resource)}"


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


def _moments(report: Report) -> str:
    if not report.phases:
        return ""
    items = []
    for phase in report.phases:
        count, waits = phase.count, phase.count.waits
        median = f"half waited {brief(waits.p50)} or less" if waits.p50 else "most went at once"
        numbers = f"{count.arrived:,} pods arrived; {median}, the longest wait was {brief(waits.longest)}"
        used = f"{phase.used:.0%} of {short(report.scarcest)} in use"
        head = el("time", clock(phase.start)) + " " + el("h3", escape(phase.name))
        small = (el("small", escape(numbers)), el("small", escape(used)))
        items.append(el("li", head, el("p", escape(phase.text)), *small))
    return section("The moments", "What happened, and how the cluster took it.", el("ul", *items, class_="moments"))


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
    return section("What the words mean", "", el("div", el("dl", inner, class_="words"), class_="table"))
