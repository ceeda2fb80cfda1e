"""Selectors, tolerations and node affinity, as Kubernetes defines them."""

from __future__ import annotations

import pytest

from fairberth.model.selectors import Constraints, NodeTerm, Requirement, Selector, Taint, Toleration

LABELS = {"zone": "a", "cores": "8", "empty": ""}

REQUIREMENTS = {
    "In matches one of the values": (Requirement("zone", "In", ("a", "b")), True),
    "In needs the label": (Requirement("rack", "In", ("a",)), False),
    "NotIn matches another value": (Requirement("zone", "NotIn", ("b",)), True),
    "NotIn matches an absent label": (Requirement("rack", "NotIn", ("a",)), True),
    "NotIn does not match its value": (Requirement("zone", "NotIn", ("a",)), False),
    "Exists matches an empty value": (Requirement("empty", "Exists"), True),
    "DoesNotExist": (Requirement("rack", "DoesNotExist"), True),
    "Gt compares integers": (Requirement("cores", "Gt", ("7",)), True),
    "Gt is strict": (Requirement("cores", "Gt", ("8",)), False),
    "Lt compares integers": (Requirement("cores", "Lt", ("10",)), True),
    "Gt of a text does not match": (Requirement("zone", "Gt", ("1",)), False),
    "Gt without a value does not match": (Requirement("cores", "Gt"), False),
    "an unknown operator does not match": (Requirement("zone", "Near", ("a",)), False),
}


@pytest.mark.parametrize(("requirement", "matches"), REQUIREMENTS.values(), ids=REQUIREMENTS.keys())
def test_requirement(requirement: Requirement, matches: bool) -> None:
    assert requirement.matches(LABELS) is matches


TOLERATIONS = {
    "the same key, value and effect": (Toleration("k", "Equal", "v", "NoSchedule"), True),
    "another value": (Toleration("k", "Equal", "w", "NoSchedule"), False),
    "any value": (Toleration("k", "Exists"), True),
    "any effect": (Toleration("k", "Equal", "v"), True),
    "another effect": (Toleration("k", "Equal", "v", "NoExecute"), False),
    "everything": (Toleration("", "Exists"), True),
    "no key without Exists": (Toleration("", "Equal", "v"), False),
    "another key": (Toleration("j", "Exists"), False),
}


@pytest.mark.parametrize(("toleration", "tolerates"), TOLERATIONS.values(), ids=TOLERATIONS.keys())
def test_toleration(toleration: Toleration, tolerates: bool) -> None:
    assert toleration.tolerates(Taint("k", "v", "NoSchedule")) is tolerates


def test_any_term_will_do_and_all_of_a_term_must_hold() -> None:
    here = NodeTerm((Requirement("zone", "In", ("a",)), Requirement("cores", "Gt", ("4",))))
    named = NodeTerm((), (Requirement("metadata.name", "In", ("n1",)),))
    constraints = Constraints(terms=(here, named))
    assert constraints.allow("n2", LABELS, ())
    assert constraints.allow("n1", {}, ())
    assert not constraints.allow("n2", {"zone": "a"}, ())


def test_a_term_without_expressions_matches_nothing() -> None:
    assert not Constraints(terms=(NodeTerm(),)).allow("n", LABELS, ())


def test_a_soft_taint_repels_nobody_and_a_hard_one_all_who_do_not_tolerate_it() -> None:
    soft, hard = Taint("k", "v", "PreferNoSchedule"), Taint("k", "v", "NoExecute")
    assert Constraints().allow("n", {}, (soft,))
    assert not Constraints().allow("n", {}, (hard,))
    assert Constraints().tolerating((Toleration("k", "Exists"),)).allow("n", {}, (hard,))


def test_selectors_of_equal_labels_are_equal_whatever_their_order() -> None:
    assert Selector.exact({"a": "1", "b": "2"}) == Selector.exact({"b": "2", "a": "1"})
