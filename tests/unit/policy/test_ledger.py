"""The ledger: all or nothing, exact, and loud about what is wrong."""

from __future__ import annotations

import pytest

from fairberth.model.amounts import Amounts
from fairberth.model.objects import Tenant
from fairberth.model.reasons import Reason
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.ledger import Charge, InvalidAmounts, Ledger, OverRelease
from fairberth.policy.verdict import Verdict
from tests.kit.builders import POOL, amounts, limits, quota, tenant

CPU = amounts(cpu=1)


def ledger(*tenants: Tenant) -> Ledger:
    by_name = {each.name: each for each in tenants}
    return Ledger(by_name, Hierarchy.of(tenants))


def charge(name: str, of: Amounts = CPU, team: str = "", level: int = 4) -> Charge:
    return Charge(POOL, name, team, level, of)


def tree() -> Ledger:
    """A boss that may hold 3 cpus, and two children of which one may hold 2."""
    boss = tenant("boss", of=quota(limit=limits(cpu=3)))
    return ledger(boss, tenant("a", of=quota(limit=limits(cpu=2)), parent="boss"), tenant("b", parent="boss"))


def test_what_is_acquired_is_held_by_the_tenant_and_by_all_above_it() -> None:
    books = tree()
    assert books.acquire("u1", charge("a", team="x")) is None
    assert books.held(POOL, "a") == books.held(POOL, "boss") == CPU
    assert books.held_by_team(POOL, "a", "x") == CPU
    assert books.held_by_level(POOL, 4) == CPU
    assert (books.in_flight("a"), books.in_flight("boss"), books.in_flight("b")) == (1, 1, 0)


def test_a_refusal_says_who_what_and_how_much_and_changes_nothing() -> None:
    books = tree()
    books.acquire("u1", charge("a", amounts(cpu=2)))
    assert books.acquire("u2", charge("a")) == Verdict(Reason.QUOTA_EXHAUSTED, POOL, "a", "cpu", 2000, 2000, 1000)
    books.acquire("u3", charge("b"))
    assert books.acquire("u4", charge("b")) == Verdict(Reason.QUOTA_EXHAUSTED, POOL, "boss", "cpu", 3000, 3000, 1000)
    assert books.held(POOL, "boss") == amounts(cpu=3)
    assert books.drift() == ()


def test_all_resources_or_none() -> None:
    books = ledger(tenant("a", of=quota(limit=limits(cpu=4, memory="1Gi"))))
    refusal = books.acquire("u1", charge("a", amounts(cpu=1, memory="2Gi")))
    assert refusal is not None
    assert (refusal.reason, refusal.resource) == (Reason.EXCEEDS_LIMIT, "memory")
    assert books.held(POOL, "a") == Amounts()


def test_a_request_that_no_waiting_helps_is_terminal_and_an_exhausted_quota_is_not() -> None:
    assert not Reason.EXCEEDS_LIMIT.retryable
    assert Reason.QUOTA_EXHAUSTED.retryable


def test_acquiring_twice_is_a_no_op() -> None:
    books = tree()
    books.acquire("u1", charge("a"))
    assert books.acquire("u1", charge("a", amounts(cpu=99))) is None
    assert books.held(POOL, "a") == CPU


@pytest.mark.parametrize("of", [Amounts(), Amounts({"cpu": -1}), Amounts({"cpu": 1, "memory": -1})], ids=str)
def test_nothing_and_negative_amounts_are_invalid(of: Amounts) -> None:
    with pytest.raises(InvalidAmounts) as invalid:
        tree().acquire("u1", charge("a", of))
    assert invalid.value.reason is Reason.INVALID_CONFIG


def test_release_gives_back_exactly_what_was_acquired() -> None:
    books = tree()
    books.acquire("u1", charge("a"))
    assert books.release("u1") == charge("a")
    assert books.held(POOL, "boss") == Amounts()
    assert books.drift() == ()


def test_releasing_what_is_not_held_is_an_error_and_never_clamped() -> None:
    books = tree()
    with pytest.raises(OverRelease) as error:
        books.release("u1")
    assert error.value.reason is Reason.OVER_RELEASE
    books.acquire("u1", charge("a"))
    books._subtree[POOL, "a"] = Amounts({"cpu": 1})  # as a bug would
    with pytest.raises(OverRelease):
        books.release("u1")
    assert len(books.drift()) > 0


def test_a_replaced_ledger_carries_over_what_is_held_above_a_lowered_limit_too() -> None:
    books = tree()
    books.acquire("u1", charge("a", amounts(cpu=2)))
    lowered = {"a": tenant("a", of=quota(limit=limits(cpu=1)))}
    fresh = books.replaced(lowered, Hierarchy.of(lowered.values()))
    assert fresh.held(POOL, "a") == amounts(cpu=2)
    assert fresh.acquire("u2", charge("a")) is not None


def test_facts_are_booked_whatever_the_limits_say() -> None:
    books = tree()
    books.charge("u1", charge("a", amounts(cpu=9)))
    books.charge("u1", charge("b", amounts(cpu=9)))
    assert books.held(POOL, "a") == Amounts()
    assert books.held(POOL, "b") == amounts(cpu=9)
    assert books.drift() == ()


def test_what_happens_to_a_fork_does_not_touch_its_origin() -> None:
    books = tree()
    books.acquire("u1", charge("a"))
    fork = books.fork()
    fork.release("u1")
    fork.acquire("u2", charge("b"))
    assert books.held(POOL, "a") == CPU
    assert books.charge_of("u2") is None
    assert fork.drift() == books.drift() == ()


def test_what_happens_to_the_origin_afterwards_does_not_touch_its_forks() -> None:
    books = tree()
    books.acquire("u1", charge("a"))
    fork = books.fork()
    second = fork.fork()
    books.release("u1")
    books.acquire("u2", charge("b"))
    assert dict(fork.charges()) == dict(second.charges()) == {"u1": charge("a")}
    assert fork.drift() == second.drift() == books.drift() == ()


def test_a_cycle_of_parents_is_no_hierarchy() -> None:
    with pytest.raises(ValueError, match="above itself"):
        Hierarchy.of((tenant("a", parent="b"), tenant("b", parent="a")))
