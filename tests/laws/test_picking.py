"""Who goes next: the two ends of the fair band, against small independent oracles (design §5.2)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairberth.model.objects import FairnessPolicy, ValueClass
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.picker import Market, Offer, best_of, contenders, least_indebted
from tests.kit.builders import T0, node, pod, tenant
from tests.kit.world import World, admitted

# One class and level, nobody forced, windows unlimited: the conditions under which §5.2 states the laws.
minutes = st.integers(0, 9)
base = st.integers(0, 100)
queues = st.lists(st.lists(st.tuples(minutes, base), max_size=6), min_size=1, max_size=5)
weights = st.lists(st.integers(1, 7), min_size=5, max_size=5)


def world(queued: list[list[tuple[int, int]]], weigh: list[int], room: int, band: int) -> World:
    policy = FairnessPolicy(fair_band=band, per_tenant_window=None, per_team_window=None)
    names = [f"t{index}" for index in range(len(queued))]
    made = World([tenant(n, w) for n, w in zip(names, weigh, strict=False)], [node("n", cpu=room)], policy=policy)
    for name, pods in zip(names, queued, strict=True):
        for index, (age, priority) in enumerate(pods):
            labels = {"fairberth.io/base-priority": str(priority)}
            made.add(pod(f"p{index}", name, T0 - age * 60_000, labels=labels))
    return made


@given(queues, weights, st.integers(1, 12))
def test_a_band_of_nothing_is_pure_score_order(
    queued: list[list[tuple[int, int]]], weigh: list[int], room: int
) -> None:
    def rank(tenant_index: int, pod_index: int) -> tuple[int, int, str]:
        age, priority = queued[tenant_index][pod_index]
        return -(priority + 40 * age), -age, f"t{tenant_index}/p{pod_index}"

    everybody = [(t, p) for t, pods in enumerate(queued) for p in range(len(pods))]
    expected: list[str] = []
    # Pure score order, ties by name. Equal scores are rivals of equal right (the band of 0 holds both): debt decides.
    held = [0] * len(queued)
    left = set(everybody)
    while left and len(expected) < room:
        best = min(-rank(t, p)[0] for t, p in left), 0
        top = max(-rank(t, p)[0] for t, p in left)
        heads = {}
        for t, p in left:
            if -rank(t, p)[0] == top and (t not in heads or rank(t, p) < rank(*heads[t])):
                heads[t] = (t, p)
        chosen = min(heads.values(), key=lambda tp: (Fraction(held[tp[0]], weigh[tp[0]]), rank(*tp), tp[0]))
        left.remove(chosen)
        held[chosen[0]] += 1
        expected.append(f"t{chosen[0]}/p{chosen[1]}")
        assert best[1] == 0
    assert admitted(world(queued, weigh, room, band=0).turn()) == expected


@given(queues, weights, st.integers(1, 12))
def test_a_huge_band_is_the_pure_weighted_picker(
    queued: list[list[tuple[int, int]]], weigh: list[int], room: int
) -> None:
    def rank(tenant_index: int, pod_index: int) -> tuple[int, int, str]:
        age, priority = queued[tenant_index][pod_index]
        return -(priority + 40 * age), -age, f"t{tenant_index}/p{pod_index}"

    waiting = {t: sorted(range(len(pods)), key=lambda p, t=t: rank(t, p)) for t, pods in enumerate(queued) if pods}
    served = dict.fromkeys(waiting, 0)
    expected: list[str] = []
    while waiting and len(expected) < room:
        chosen = min(waiting, key=lambda t: (Fraction(served[t], weigh[t]), rank(t, waiting[t][0]), t))
        expected.append(f"t{chosen}/p{waiting[chosen].pop(0)}")
        served[chosen] += 1
        if not waiting[chosen]:
            del waiting[chosen]
    assert admitted(world(queued, weigh, room, band=1_000_000).turn()) == expected


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 40), st.integers(1, 4) | st.none())
def test_windows_cost_no_fairness(a: int, b: int, steps: int, window: int | None) -> None:
    """Equal pods and endless demand: after any number of admissions both are within one pod per weight of their
    parts, whatever the windows (which interleave by weight)."""
    policy = FairnessPolicy(per_tenant_window=window)
    made = World([tenant("a", a), tenant("b", b)], [node("n", cpu=max(steps, 1))], policy=policy)
    for name in ("a", "b"):
        made.add(*(pod(f"p{index:03}", name) for index in range(60)))
    made.turn()
    held = {name: len(made.running(name)) for name in ("a", "b")}
    spread = abs(Fraction(held["a"], a) - Fraction(held["b"], b))
    assert spread <= max(Fraction(1, a), Fraction(1, b))


offers = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 30), st.sampled_from(ValueClass), st.booleans(), st.integers(0, 20)),
    min_size=1,
    max_size=8,
)


@given(offers, st.integers(0, 40), st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_a_market_picks_as_the_rule_says(
    drawn: list[tuple[int, int, ValueClass, bool, int]], band: int, debts: list[int]
) -> None:
    made = {}
    for index, (level, score, value, forced, age) in enumerate(drawn):
        name = f"t{index}"
        total = score + (10_000 if forced else 0)
        made[name] = Offer(name, (-total, 0, age, f"{name}/p"), value, level, total, forced)
    hierarchy = Hierarchy.of(tenant(name) for name in made)
    owes = {f"t{index}": owed for index, owed in enumerate(debts)}
    market = Market(hierarchy, band, owes.__getitem__)
    for offer in made.values():
        market.put(offer)
    left = dict(made)
    while left:
        best = best_of(left.values())
        rule = least_indebted(contenders(best, left.values(), band), lambda name: (name,), owes.__getitem__)
        assert market.pick() == (best, rule)
        # It goes: its tenant owes more now, and offers nothing more.
        market.drop(rule.tenant)
        del left[rule.tenant]
