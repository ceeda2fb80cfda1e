"""Which objects are in force: every fault with its path, the last good version kept, the others unaffected."""

from __future__ import annotations

import dataclasses

from fairberth.model.faults import ObjectKey
from fairberth.model.objects import FairnessPolicy, PrioritySLA, Tenant, ValueClass
from fairberth.policy.configuration import Resolution, Spec, key_of, resolve
from tests.kit.builders import amounts, pool, quota, tenant


def specs(*of: Spec) -> dict[ObjectKey, Spec]:
    return {key_of(spec): spec for spec in of}


def faults(resolution: Resolution) -> dict[str, list[str]]:
    return {str(key): [str(fault) for fault in found] for key, found in resolution.faults.items()}


def guaranteed(name: str, cpu: int, **more: object) -> Tenant:
    return tenant(name, of=quota(amounts(cpu=cpu)), **more)


def test_objects_that_fit_together_are_all_in_force() -> None:
    made = resolve(specs(pool(), guaranteed("boss", 3), guaranteed("a", 1, parent="boss")), {})
    assert faults(made) == {}
    assert set(made.setup.tenants) == {"a", "boss"}


def test_a_cycle_leaves_its_members_out_and_the_others_in() -> None:
    made = resolve(specs(tenant("a", parent="b"), tenant("b", parent="a"), tenant("c")), {})
    assert faults(made) == {
        "Tenant/a": ["spec.parent: is a cycle: a → b → a"],
        "Tenant/b": ["spec.parent: is a cycle: b → a → b"],
    }
    assert set(made.setup.tenants) == {"c"}


def test_a_change_that_makes_a_cycle_is_refused_and_the_last_good_version_stays() -> None:
    good = specs(tenant("a", parent="b"), tenant("b"))
    made = resolve({**good, **specs(tenant("b", parent="a", weight=9))}, good)
    assert made.setup.tenants["b"].parent == ""
    assert made.setup.tenants["a"].parent == "b"
    assert "Tenant/b" in faults(made)


def test_children_may_not_be_guaranteed_more_than_their_parent() -> None:
    good = specs(pool(), guaranteed("boss", 3), guaranteed("a", 2, parent="boss"))
    made = resolve({**good, **specs(guaranteed("b", 2, parent="boss", created=5))}, good)
    assert faults(made) == {
        "Tenant/b": ["spec.quotas[0].guaranteed.cpu: children of boss are guaranteed 4000, it has 3000"]
    }
    assert set(made.setup.tenants) == {"a", "boss"}


def test_the_parent_is_blamed_where_it_is_what_changed() -> None:
    good = specs(pool(), guaranteed("boss", 3), guaranteed("a", 2, parent="boss"))
    made = resolve({**good, **specs(guaranteed("boss", 1))}, good)
    assert list(faults(made)) == ["Tenant/boss"]
    assert made.setup.tenants["boss"].quota("main").guaranteed == amounts(cpu=3)


def test_an_unknown_pool_or_parent_keeps_a_new_tenant_out_with_both_paths() -> None:
    made = resolve(specs(guaranteed("a", 1, parent="nobody")), {})
    assert faults(made) == {
        "Tenant/a": ["spec.parent: there is no Tenant 'nobody'", "spec.quotas[0].pool: there is no CapacityPool 'main'"]
    }
    assert made.setup.tenants == {}


def test_a_pool_that_goes_away_is_told_and_its_tenants_stay_in_force() -> None:
    good = specs(guaranteed("a", 1))
    made = resolve(good, good)
    assert faults(made) == {"Tenant/a": ["spec.quotas[0].pool: there is no CapacityPool 'main'"]}
    assert set(made.setup.tenants) == {"a"}


def test_a_namespace_claimed_twice_goes_to_the_older_and_the_younger_is_told() -> None:
    older, younger = tenant("z", created=1, namespaces=("n",)), tenant("a", created=2, namespaces=("m", "n"))
    made = resolve(specs(older, younger), {})
    assert faults(made) == {"Tenant/a": ["spec.namespaces.names[1]: namespace 'n' is claimed by the older Tenant 'z'"]}
    assert set(made.setup.tenants) == {"a", "z"}


def sla(name: str, level: int, guarantee: int = 0) -> PrioritySLA:
    return PrioritySLA(name, level, ValueClass.STANDARD, guarantee)


def test_two_objects_for_one_level_are_one_too_many() -> None:
    good = specs(sla("first", 3))
    made = resolve({**good, **specs(sla("another", 3))}, good)
    assert faults(made) == {"PrioritySLA/another": ["spec.level: level 3 is already that of PrioritySLA 'first'"]}
    assert made.setup.slas[3].name == "first"


def test_guarantees_of_levels_over_100_percent_refuse_the_change() -> None:
    good = specs(sla("x", 3, 60), sla("y", 4, 40))
    made = resolve({**good, **specs(sla("y", 4, 50))}, good)
    assert faults(made) == {"PrioritySLA/y": ["spec.guarantee: the levels' guarantees add up to 110 %, over 100 %"]}
    assert made.setup.slas[4].guarantee == 40


def test_only_the_policy_named_default_is_in_force() -> None:
    other = dataclasses.replace(FairnessPolicy(), name="other", fair_band=1)
    assert resolve(specs(other), {}).setup.policy == FairnessPolicy()
    named = dataclasses.replace(other, name="default")
    assert resolve(specs(other, named), {}).setup.policy.fair_band == 1
