"""Quantities and amounts: exact, rounded up, and strict about what is no quantity."""

from __future__ import annotations

import pytest

from fairberth.model.amounts import Amounts, Limits, QuantityError, format_quantity, parse_quantity

PARSED = {
    ("cpu", "1"): 1000,
    ("cpu", 2): 2000,
    ("cpu", "500m"): 500,
    ("cpu", "0.5m"): 1,
    ("cpu", "1.5"): 1500,
    ("cpu", ".5"): 500,
    ("cpu", "100u"): 1,
    ("cpu", "2k"): 2_000_000,
    ("memory", "1Gi"): 2**30,
    ("memory", "1.5Gi"): 3 * 2**29,
    ("memory", "1G"): 10**9,
    ("memory", "1e3"): 1000,
    ("memory", "1E3"): 1000,
    ("memory", "1E"): 10**18,
    ("memory", "100m"): 1,
    ("memory", "7Ei"): 7 * 2**60,
    ("pods", "110"): 110,
    ("x/gpu", "1e1"): 10,
    ("memory", "-1"): -1,
}


@pytest.mark.parametrize(("given", "amount"), PARSED.items(), ids=lambda value: str(value))
def test_a_quantity_is_read_exactly_and_rounded_up(given: tuple[str, str | int], amount: int) -> None:
    assert parse_quantity(*given) == amount


@pytest.mark.parametrize(
    "text", ["", "x", "1 G", "16 G", "1_000", "1e3k", "１", "1Kib", "--1", "1.2.3", "NaN", "1e9999", "Ki"]
)
def test_what_is_no_quantity_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(QuantityError, match="is not a quantity"):
        parse_quantity("memory", text)


def test_a_resource_list_names_the_resource_at_fault() -> None:
    with pytest.raises(QuantityError, match="memory: 'x'"):
        Amounts.parse({"cpu": "1", "memory": "x"})


WRITTEN = {
    ("cpu", 1500): "1.5",
    ("cpu", 2000): "2",
    ("cpu", 1): "0.001",
    ("memory", 2**30): "1Gi",
    ("memory", 3 * 2**29): "1536Mi",
    ("memory", 1000): "1000",
    ("memory", 0): "0",
    ("x/gpu", 1024): "1024",
}


@pytest.mark.parametrize(("given", "text"), WRITTEN.items(), ids=lambda value: str(value))
def test_an_amount_is_written_as_people_read_it(given: tuple[str, int], text: str) -> None:
    assert format_quantity(*given) == text


def test_amounts_keep_no_zeros_so_equal_ones_are_equal() -> None:
    assert Amounts({"cpu": 0, "memory": 5}) == Amounts({"memory": 5})
    assert hash(Amounts({"cpu": 1, "memory": 5})) == hash(Amounts({"memory": 5, "cpu": 1}))
    assert Amounts({"cpu": 0}) == Amounts()


def test_arithmetic_is_by_name_and_absent_means_nothing() -> None:
    one, two = Amounts({"cpu": 3, "memory": 1}), Amounts({"cpu": 1, "gpu": 2})
    assert one.plus(two) == Amounts({"cpu": 4, "memory": 1, "gpu": 2})
    assert one.minus(two) == Amounts({"cpu": 2, "memory": 1, "gpu": -2})
    assert one.above(two) == Amounts({"cpu": 2, "memory": 1})
    assert one.least(two) == Amounts({"cpu": 1})
    assert one.most(two) == Amounts({"cpu": 3, "memory": 1, "gpu": 2})
    assert one.times(2) == Amounts({"cpu": 6, "memory": 2})
    assert Amounts({"cpu": 7}).share(20) == Amounts({"cpu": 1})


def test_within_asks_only_about_what_is_asked_for() -> None:
    assert Amounts({"cpu": 2}).within(Amounts({"cpu": 2, "memory": -5}))
    assert not Amounts({"cpu": 2, "gpu": 1}).within(Amounts({"cpu": 9}))
    assert Amounts({"cpu": -1}).within(Amounts())


def test_a_limit_of_nothing_is_a_bound_and_an_absent_one_is_none() -> None:
    limits = Limits({"gpu": 0, "cpu": 4})
    assert limits.broken_by(Amounts(), Amounts({"gpu": 1})) == "gpu"
    assert limits.broken_by(Amounts({"cpu": 4}), Amounts({"memory": 99})) is None
    assert limits.broken_by(Amounts({"cpu": 9}), Amounts({"memory": 1})) is None
    assert limits.broken_by(Amounts({"cpu": 3}), Amounts({"cpu": 2, "gpu": 1})) == "cpu"
