"""The page: self-contained, correct, and safe with any name."""

import json
import re
from xml.etree import ElementTree

import pytest

from fairberth.simulator.page.html import page, rough
from fairberth.simulator.page.svg import nice
from fairberth.simulator.reading import file
from fairberth.simulator.report import report
from fairberth.simulator.run import run
from tests.unit.simulator.scenarios import SMALL, day, tenant


def drawn(scenario):
    history = run(scenario)
    return page(history, report(history))


@pytest.fixture(scope="module")
def small():
    return drawn(file.load(SMALL))


def test_the_page_refers_to_nothing_outside(small):
    # Not even to an SVG namespace: browsers need none for SVG within HTML.
    assert re.findall(r"(?:https?:)?//[a-z]", small.split("<script>")[0]) == []
    assert re.findall(r"\b(?:src|href|srcset|action|poster)\s*=\s*\"(?!data:,)[^\"]*\"", small) == []
    assert re.findall(r"@import|url\(|\bfetch\b|\bimport\b|XMLHttpRequest|WebSocket|sendBeacon", small) == []


def test_the_page_shows_tenants_moments_and_numbers(small):
    for text in ("red", "blue", "fill", "drain", "08:00", "weight 3", "Jain", "MaxDebt", "prefers-color-scheme: dark"):
        assert text in small


def test_every_picture_is_well_formed_and_says_what_it_shows(small):
    pictures = re.findall(r"<svg.*?</svg>", small, re.DOTALL)
    assert len(pictures) == 4
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        assert root.get("role") == "img"
        assert root.findtext("title")
        assert not re.search(r"\b(?:nan|inf)\b", picture)


def test_areas_stay_within_the_plot(small):
    first = re.search(r"<svg.*?</svg>", small, re.DOTALL)[0]
    for path in re.findall(r'd="M([^"]*)"', first):
        numbers = [float(n) for n in re.findall(r"-?\d+\.\d+", path)]
        assert all(46 <= x <= 1070 for x in numbers[::2])
        assert all(34 <= y <= 278 for y in numbers[1::2])


def test_the_embedded_values_are_those_of_the_run(small):
    held = json.loads(re.search(r'id="data-held">(.*?)</script>', small)[1])
    assert held["start"] == 8 * 3_600_000
    values = {series["name"]: series["values"][0] for series in held["series"]}
    assert values == {"blue": 0.75, "red": 0.25}


def test_a_name_cannot_break_out_of_the_page():
    evil = "</script><script>alert(1)</script><img src=x>"
    scenario = day('- {tenant: a, at: "09:00", template: {requests: {cpu: "1"}}}', tenant("a"))
    page_ = drawn(
        type(scenario)(**{name: getattr(scenario, name) for name in scenario.__slots__} | {"name": evil, "text": evil})
    )
    assert "<script>alert" not in page_
    assert "<img" not in page_
    assert "&lt;/script&gt;" in page_


def test_more_tenants_than_colours_are_gathered():
    names = [f"t{n:02}" for n in range(14)]
    arrivals = "\n".join(f'- {{tenant: {n}, at: "09:00", template: {{requests: {{cpu: "1"}}}}}}' for n in names)
    page_ = drawn(day(arrivals, *(tenant(n) for n in names)))
    held = json.loads(re.search(r'id="data-held">(.*?)</script>', page_)[1])
    assert [series["name"] for series in held["series"]] == [*names[:10], "others"]
    assert held["series"][-1]["values"][0] == pytest.approx(4 / 32)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 125_514_000, "125,514 cpu"),
        ("memory", 2560 << 30, "2,560 Gi memory"),
        ("memory", 584 << 40, "584 Ti memory"),
        ("memory", 12, "12 bytes memory"),
        ("nvidia.com/gpu", 744, "744 gpu"),
    ],
)
def test_amounts_are_told_for_a_glance(resource, amount, text):
    assert rough(resource, amount) == text


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.07, 0.08), (0.8, 0.8), (1, 1), (3, 3.2), (962, 1000), (1001, 1200)]
)
def test_a_scale_ends_at_a_round_number(value, top):
    assert nice(value) == pytest.approx(top)
