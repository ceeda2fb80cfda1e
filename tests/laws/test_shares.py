"""The share function: exact to the last unit, monotone, without envy (design §5.5)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairberth.policy.shares import Stake, divide

amount = st.integers(0, 2**60) | st.integers(0, 50)


@st.composite
def stakes(draw: st.DrawFn, guarantees: bool = True) -> list[Stake]:
    made = []
    for index in range(draw(st.integers(1, 6))):
        guaranteed = draw(amount) if guarantees else 0
        limit = draw(st.none() | amount)
        if limit is not None:
            limit = max(limit, guaranteed)
        demand = tuple(draw(st.lists(amount, min_size=1, max_size=3)))
        weight = draw(st.integers(1, 1000))
        made.append(Stake(f"t{index}", weight, guaranteed, demand, limit, 0, draw(st.integers(0, 3))))
    return made


@given(amount, stakes())
def test_shares_sum_exactly_to_the_capacity_or_to_what_is_wanted(capacity: int, of: list[Stake]) -> None:
    assert sum(divide(capacity, of).values()) == min(capacity, sum(stake.wanted for stake in of))


@given(amount, stakes())
def test_nobody_gets_more_than_it_wants_nor_less_than_a_guarantee_that_fits(capacity: int, of: list[Stake]) -> None:
    shares = divide(capacity, of)
    fits = sum(stake.guaranteed for stake in of) <= capacity
    for stake in of:
        assert 0 <= shares[stake.name] <= stake.wanted
        if fits:
            assert shares[stake.name] >= min(stake.guaranteed, stake.wanted)


@given(amount, stakes(), st.randoms(use_true_random=False))
def test_input_order_changes_nothing(capacity: int, of: list[Stake], random: object) -> None:
    shuffled = list(of)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert divide(capacity, shuffled) == divide(capacity, of)


@given(st.integers(0, 1000), st.integers(0, 100), stakes())
def test_more_capacity_never_loses_more_than_a_unit_of_rounding(capacity: int, more: int, of: list[Stake]) -> None:
    before, after = divide(capacity, of), divide(capacity + more, of)
    assert all(after[name] >= before[name] - 1 for name in before)


@given(st.integers(0, 1000), stakes(guarantees=False), st.integers(1, 1000))
def test_more_weight_never_loses_more_than_a_unit_of_rounding(capacity: int, of: list[Stake], more: int) -> None:
    import dataclasses

    heavier = [dataclasses.replace(of[0], weight=of[0].weight + more), *of[1:]]
    assert divide(capacity, heavier)["t0"] >= divide(capacity, of)["t0"] - 1


@given(st.integers(0, 1000), stakes(guarantees=False))
def test_nobody_who_wants_more_envies_anothers_share_per_weight_beyond_a_unit(capacity: int, of: list[Stake]) -> None:
    flat = [Stake(s.name, s.weight, 0, (sum(s.demand),), s.limit) for s in of]
    shares = divide(capacity, flat)
    for mine in flat:
        if shares[mine.name] >= mine.wanted:
            continue
        for other in flat:
            mine_per_weight = Fraction(shares[mine.name] + 1, mine.weight)
            assert Fraction(shares[other.name] - 1, other.weight) <= mine_per_weight


@given(amount, stakes())
def test_one_without_demand_changes_nothing_for_the_others(capacity: int, of: list[Stake]) -> None:
    fits = sum(stake.guaranteed for stake in of) <= capacity
    idle = Stake("idle", 5, 0, (0,), None)
    shares = divide(capacity, [*of, idle])
    assert shares.pop("idle") == 0
    if fits:
        assert shares == divide(capacity, of)
