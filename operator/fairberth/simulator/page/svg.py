"""Small words for drawing: elements, scales, areas and lines, as SVG text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from fairberth.model.workload import Millis
from fairberth.simulator.times import DAY, HOUR, MINUTE, clock

_STEPS: Final = (
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 15, 30, 60, 90)),
)


def el(name: str, *children: str, **attributes: object) -> str:
    """An element. Children are markup (escape texts first); ``class_`` and ``font_size`` become ``class`` and
    ``font-size``; attributes that are None are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{''.join(children)}</{name}>"


def section(title: str, text: str, *inner: str) -> str:
    """A section of the page; `text` is markup."""
    return el("section", el("h2", escape(title)), el("p", text), *inner)


def short(resource: str) -> str:
    """A resource without its domain: ``gpu`` for ``nvidia.com/gpu``."""
    return resource.rpartition("/")[2]


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot: a rectangle within an SVG, time from left to right, values from the bottom up to `top`."""

    width: float
    height: float
    start: Millis
    end: Millis
    top: float
    left: float = 46.0
    right: float = 10.0
    above: float = 10.0
    below: float = 22.0

    @property
    def inner_width(self) -> float:
        """Of the rectangle."""
        return self.width - self.left - self.right

    @property
    def floor(self) -> float:
        """Where 0 is."""
        return self.height - self.below

    def x(self, moment: Millis) -> float:
        """Across."""
        return self.left + self.inner_width * (moment - self.start) / max(1, self.end - self.start)

    def y(self, value: float) -> float:
        """Down."""
        return self.floor - (self.floor - self.above) * value / self.top if self.top else self.floor

    def svg(self, title: str, *children: str, class_: str = "chart") -> str:
        """The whole picture, with what it shows said in words."""
        return el(
            "svg",
            el("title", escape(title)),
            *children,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            class_=class_,
            data_left=self.left,
            data_width=self.inner_width,
            data_above=self.above,
            data_floor=self.floor,
        )

    def grid(self, label: str, *, lines: int = 4) -> str:
        """Horizontal lines with their values (`label` is a format such as ``{:.0%}``), and the times below."""
        parts = []
        for index in range(lines + 1):
            value = self.top * index / lines
            y = self.y(value)
            parts.append(el("line", x1=self.left, x2=self.width - self.right, y1=y, y2=y, class_="grid"))
            text = escape(label.format(value))
            parts.append(el("text", text, x=self.left - 6, y=y + 3.5, class_="tick", text_anchor="end"))
        return "".join(parts) + self.times()

    def times(self) -> str:
        """The times below."""
        step = next((s for s in _STEPS if (self.end - self.start) / s <= self.inner_width / 90), _STEPS[-1])
        first = -(-self.start // step) * step
        parts = []
        for moment in range(first, self.end + 1, step):
            x = self.x(moment)
            text = f"day {moment // DAY + 1}" if step >= DAY else clock(moment % DAY)
            anchor = "middle" if x + 20 < self.width else "end"
            parts.append(el("line", x1=x, x2=x, y1=self.floor, y2=self.floor + 4, class_="axis"))
            parts.append(el("text", text, x=x, y=self.floor + 16, class_="tick", text_anchor=anchor))
        base = el("line", x1=self.left, x2=self.width - self.right, y1=self.floor, y2=self.floor, class_="axis")
        return base + "".join(parts)

    def line(self, moments: Sequence[Millis], values: Sequence[float], class_: str) -> str:
        """A line through all values."""
        return el("path", d="M" + self._points(zip(moments, values, strict=True)), class_=class_)

    def area(self, moments: Sequence[Millis], low: Sequence[float], high: Sequence[float], colour: str) -> str:
        """What is between two lines."""
        there = self._points(zip(moments, high, strict=True))
        back = self._points(zip(reversed(moments), reversed(low), strict=True))
        return el("path", d=f"M{there}L{back}Z", class_="area", style=f"fill:{colour}")

    def _points(self, pairs: Iterable[tuple[Millis, float]]) -> str:
        return "L".join(f"{self.x(moment):.1f},{self.y(value):.1f}" for moment, value in pairs)


def nice(value: float) -> float:
    """A round number at or a little above a value, that four lines divide well."""
    if value <= 0:
        return 1.0
    size = 1.0
    while size * 10 <= value:
        size *= 10
    while size > value:
        size /= 10
    return next(size * step for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12) if size * step >= value)
