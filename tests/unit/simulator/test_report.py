"""The report's numbers, on runs that can be worked out by hand."""

import json

import pytest

from fairberth.simulator.output import as_json
from fairberth.simulator.reading import file
from fairberth.simulator.report import quantile, report
from fairberth.simulator.run import run
from tests.unit.simulator.scenarios import DATA, SMALL, day, no_level_guarantees, tenant


def told(scenario):
    return json.loads(as_json(report(run(scenario))))


def test_the_small_day_gives_the_report_that_was_worked_out():
    # 8 cpu; red and blue (weights 1 and 3) bring 12 pods of 10 minutes each at 08:00. So 2 red and 6 blue run until
    # 08:10, the same again until 08:20, then the 8 red ones that are left. Two more blue ones come late.
    golden = DATA / "two-teams.json"
    assert told(file.load(SMALL)) == json.loads(golden.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, 0), ([7], 99, 7), ([1, 2, 3, 4], 50, 2), (list(range(1, 101)), 99, 99), (list(range(1, 102)), 99, 100)],
)
def test_a_quantile_is_a_value_that_was_seen(values, percent, expected):
    assert quantile(values, percent) == expected


def test_who_still_waits_counts_with_its_wait_so_far():
    report_ = told(
        day(
            '- {tenant: a, at: "09:30", count: 3, template: {requests: {cpu: "8"}}}',
            tenant("a"),
            no_level_guarantees(),
            nodes='{name: n, allocatable: {cpu: "8"}}',
        )
    )
    assert report_["waiting"] == 2
    assert report_["starved"] == 2
    assert report_["waitSeconds"] == {"p50": 1800.0, "p99": 1800.0, "longest": 1800.0}
    assert report_["tenants"][0]["waitedFor"] == {"NoRoom": 1.0}


def test_unfairness_shows_in_jains_index_and_in_the_share_error():
    # While a holds everything, b (the same weight) comes and waits: held 0 of a fair half.
    arrivals = """
- {name: first, tenant: a, at: "09:00", count: 8, template: {requests: {cpu: "1"}}}
- {name: more, tenant: a, at: +1s, count: 8, template: {requests: {cpu: "1"}}}
- {name: other, tenant: b, at: +1s, count: 8, template: {requests: {cpu: "1"}}}
"""
    report_ = told(
        day(arrivals, tenant("a"), tenant("b"), no_level_guarantees(), nodes='{name: n, allocatable: {cpu: "8"}}')
    )
    assert report_["jainIndex"] == pytest.approx(0.5, abs=0.01)
    assert [t["shareError"] for t in report_["tenants"]] == [pytest.approx(0.5, abs=0.01)] * 2


def test_a_guarantee_counts_before_weights_in_the_fair_share():
    arrivals = """
- {name: x, tenant: a, at: "09:00", count: 20, template: {requests: {cpu: "1"}}}
- {name: y, tenant: b, at: "09:00", count: 20, template: {requests: {cpu: "1"}}}
"""
    owner = tenant("a", spec="quotas: [{pool: default, guaranteed: {cpu: 8}}]")
    report_ = told(
        day(
            arrivals, owner, tenant("b", 3), no_level_guarantees(), nodes='{name: n, count: 2, allocatable: {cpu: "8"}}'
        )
    )
    assert {t["tenant"]: t["fairShare"] for t in report_["tenants"]} == {"a": 0.625, "b": 0.375}


def test_what_waits_for_something_else_than_room_has_no_claim_on_a_share():
    # b's pod can never fit: it is no reason to say that a holds too much.
    arrivals = """
- {name: x, tenant: a, at: "09:00", count: 8, template: {requests: {cpu: "1"}}}
- {name: y, tenant: b, at: "09:00", template: {requests: {cpu: "9"}}}
"""
    report_ = told(
        day(arrivals, tenant("a"), tenant("b"), no_level_guarantees(), nodes='{name: n, allocatable: {cpu: "8"}}')
    )
    assert report_["jainIndex"] == 1.0
    assert report_["tenants"][1]["waitedFor"] == {"NoNodeFits": 1.0}


def test_a_parents_share_holds_its_childrens():
    arrivals = """
- {name: x, tenant: child, at: "09:00", count: 4, template: {requests: {cpu: "1"}}}
- {name: y, tenant: parent, at: "09:00", count: 2, template: {requests: {cpu: "1"}}}
"""
    report_ = told(
        day(
            arrivals,
            tenant("parent"),
            tenant("child", spec="parent: parent"),
            no_level_guarantees(),
            nodes='{name: n, allocatable: {cpu: "8"}}',
        )
    )
    assert {t["tenant"]: t["share"] for t in report_["tenants"]} == {"child": 0.5, "parent": 0.75}


def test_a_dedicated_pool_is_filled_first_and_the_rest_counts_in_the_next():
    pools = "".join(
        f"apiVersion: fairberth.io/v1alpha1\nkind: CapacityPool\nmetadata: {{name: {name}}}\n"
        f"spec: {{role: {role}, nodeSelector: {{matchLabels: {{pool: {name}}}}}}}\n---\n"
        for name, role in (("own", "dedicated"), ("all", "shared"))
    )
    nodes = ", ".join(
        f'{{name: {name}, count: {count}, allocatable: {{cpu: "4"}}, labels: {{pool: {name}}}}}'
        for name, count in (("own", 1), ("all", 3))
    )
    arrivals = "\n".join(
        f'- {{name: {name}, tenant: {name}, at: "09:00", count: 20, template: {{requests: {{cpu: "1"}}}}}}'
        for name in "ab"
    )
    report_ = told(day(arrivals, tenant("a"), tenant("b"), pools, no_level_guarantees(), nodes=nodes))
    assert [t["fairShare"] for t in report_["tenants"]] == [0.5, 0.5]
    assert report_["jainIndex"] == 1.0
