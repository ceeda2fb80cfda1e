"""Which level a pod gets (design §4, the terms that part 1 has)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairberth.model import keys
from fairberth.model.objects import FairnessPolicy, Scoring, Tenant, Tier, shipped_slas
from fairberth.policy.classification import base_priority, classify, round_half_urgent

SLAS = {sla.level: sla for sla in shipped_slas()}
POLICY = FairnessPolicy(types={"risk-check": 1, "report": 5})
ALL = frozenset({"alert", "retry", "user-waiting"})


@pytest.mark.parametrize(
    ("raw", "level"),
    [(250, 2), (350, 3), (251, 3), (249, 2), (0, 0), (-50, -1), (-49, 0), (50, 0), (51, 1), (600, 6)],
)
def test_halves_go_to_the_more_urgent_level(raw: int, level: int) -> None:
    assert round_half_urgent(raw) == level


@given(st.integers(-1000, 1000))
def test_rounding_is_that_of_exact_arithmetic(raw: int) -> None:
    assert round_half_urgent(raw) == ceil(Fraction(raw, 100) - Fraction(1, 2))


CASES = {
    "the type table": ({keys.TYPE: "report"}, "", Tenant("t"), 5),
    "the type wins over the class": ({keys.TYPE: "report"}, "fairberth-p6", Tenant("t"), 5),
    "an unknown type counts as none": ({keys.TYPE: "poem"}, "fairberth-p6", Tenant("t"), 6),
    "the submitted class": ({}, "fairberth-p5", Tenant("t"), 5),
    "a class of nobody's counts as none": ({}, "system-cluster-critical", Tenant("t"), 4),
    "the tenant's default": ({}, "", Tenant("t", default_level=6), 6),
    "platinum is one more urgent": ({}, "fairberth-p5", Tenant("t", tier=Tier.PLATINUM), 4),
    "gold rounds its half to the more urgent": ({}, "fairberth-p5", Tenant("t", tier=Tier.GOLD), 4),
    "bronze rounds its half to the more urgent": ({}, "fairberth-p5", Tenant("t", tier=Tier.BRONZE), 5),
    "nothing passes the tenant's most urgent level": ({}, "fairberth-p0", Tenant("t"), 3),
    "a trusted tenant reaches P0": ({}, "fairberth-p0", Tenant("t", most_urgent=0), 0),
    "a context that is not allowed does not count": ({keys.TRIGGERED_BY: "alert"}, "fairberth-p6", Tenant("t"), 6),
    "an allowed alert is two more urgent": (
        {keys.TRIGGERED_BY: "alert"},
        "fairberth-p6",
        Tenant("t", allowed_contexts=ALL),
        4,
    ),
    "contexts add up to the policy's cap": (
        {keys.TRIGGERED_BY: "alert", keys.USER_WAITING: "true", keys.RETRY: "true"},
        "fairberth-p6",
        Tenant("t", allowed_contexts=ALL),
        4,
    ),
    "a hint lowers one's own urgency": ({keys.PRIORITY_HINT: "6"}, "", Tenant("t"), 6),
    "a hint never raises it": ({keys.PRIORITY_HINT: "0"}, "", Tenant("t", most_urgent=0), 4),
    "a hint that is none counts as none": ({keys.PRIORITY_HINT: "9"}, "", Tenant("t"), 4),
    "nothing is less urgent than P6": ({}, "fairberth-p6", Tenant("t", tier=Tier.BRONZE), 6),
}


@pytest.mark.parametrize(("labels", "submitted", "tenant", "level"), CASES.values(), ids=CASES.keys())
def test_level(labels: dict[str, str], submitted: str, tenant: Tenant, level: int) -> None:
    assert classify(labels, submitted, tenant, POLICY, SLAS).level == level


def test_all_three_contexts_with_a_cap_of_three_and_a_half() -> None:
    policy = FairnessPolicy(max_context_boost=350)
    labels = {keys.TRIGGERED_BY: "alert", keys.USER_WAITING: "true", keys.RETRY: "true"}
    tenant = Tenant("t", most_urgent=0, allowed_contexts=ALL)
    found = classify(labels, "fairberth-p6", tenant, policy, SLAS)
    assert (found.context, found.raw, found.level) == (-350, 250, 2)


def test_the_unrounded_level_keeps_gold_between_platinum_and_silver() -> None:
    raws = [
        classify({}, "", Tenant("t", tier=tier), POLICY, SLAS).raw for tier in (Tier.PLATINUM, Tier.GOLD, Tier.SILVER)
    ]
    assert raws == sorted(raws)


@pytest.mark.parametrize(("said", "means"), [("70", 70), ("100", 100), ("101", 50), ("-1", 50), ("x", 50), ("", 50)])
def test_a_base_priority_is_0_to_100_or_the_levels(said: str, means: int) -> None:
    assert base_priority({keys.BASE_PRIORITY: said}, 1, Scoring()) == means
