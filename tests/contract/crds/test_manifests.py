"""Our own kinds, decoded: every fault with its path, and defaults that are those of the values."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fairberth.api.manifests import in_force, manifest
from fairberth.model import objects
from fairberth.model.amounts import Amounts, Limits
from fairberth.model.faults import InvalidInput
from fairberth.model.selectors import Requirement, Selector, Toleration
from tests.contract.crds import examples

GOOD = {example["case"]: example for example in examples.GOOD}


@pytest.mark.parametrize("example", examples.GOOD, ids=examples.case)
def test_a_good_example_decodes(example: dict[str, Any]) -> None:
    value = manifest(examples.manifest(example, "good"))
    assert type(value).__name__ == example["kind"]
    assert value.name == "good"


@pytest.mark.parametrize("example", examples.BAD, ids=examples.case)
def test_a_bad_example_is_refused_with_its_place(example: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        manifest(examples.manifest(example))
    assert any(fault.path.startswith(example["place"]) for fault in refused.value.faults), refused.value.faults


@pytest.mark.parametrize("example", examples.BAD, ids=examples.case)
def test_a_bad_example_has_one_fault_with_a_sentence(example: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        manifest(examples.manifest(example))
    (fault,) = refused.value.faults
    assert len(fault.message.split()) >= 2
    assert "Traceback" not in fault.message


def test_all_faults_are_reported_at_once() -> None:
    spec = {"weight": 0, "tier": "x", "quotas": [{"pool": "p", "limit": {"cpu": "-1"}}]}
    with pytest.raises(InvalidInput) as refused:
        manifest({"kind": "Tenant", "metadata": {"name": "a"}, "spec": spec})
    assert [fault.path for fault in refused.value.faults] == ["spec.quotas[0].limit.cpu", "spec.tier", "spec.weight"]


def test_a_typo_is_answered_with_what_was_meant() -> None:
    with pytest.raises(InvalidInput, match=r"did you mean `weight`"):
        manifest({"kind": "Tenant", "metadata": {"name": "a"}, "spec": {"wieght": 1}})


def test_faults_of_parts_that_are_wrong_together_are_reported_with_the_others() -> None:
    quota = {"pool": "p", "guaranteed": {"cpu": 2, "memory": 2}, "limit": {"cpu": 1, "memory": 1}}
    twice = [{"name": "a"}, {"name": "a"}]
    with pytest.raises(InvalidInput) as refused:
        manifest(
            {"kind": "Tenant", "metadata": {"name": "a"}, "spec": {"quotas": [quota], "teams": twice, "weight": 0}}
        )
    paths = ["spec.quotas[0].limit.cpu", "spec.quotas[0].limit.memory", "spec.teams[1].name", "spec.weight"]
    assert [fault.path for fault in refused.value.faults] == paths


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"metadata": {"name": "a"}, "spec": []}, "spec"),
        ({"metadata": {"name": "a"}, "spec": ""}, "spec"),
        ({"metadata": "a"}, "metadata.name"),
        ({"metadata": {"name": 5}}, "metadata.name"),
        ({"metadata": {"name": "a", "creationTimestamp": "yesterday"}}, "metadata.creationTimestamp"),
        ({"metadata": {"name": "a", "creationTimestamp": 5}}, "metadata.creationTimestamp"),
        ({"metadata": {"name": "a"}, "sepc": {}}, "sepc"),
        ({"metadata": {"name": "a"}, "apiVersion": "fairberth.io/v1"}, "apiVersion"),
    ],
    ids=lambda value: str(value),
)
def test_what_is_no_object_is_refused_with_its_place(body: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        manifest({"kind": "Tenant", **body})
    assert [fault.path for fault in refused.value.faults] == [place]


def test_an_unknown_kind_and_a_missing_name_are_faults() -> None:
    with pytest.raises(InvalidInput, match=r"kind: 'Tennant' is none of"):
        manifest({"kind": "Tennant", "metadata": {"name": "a"}})
    with pytest.raises(InvalidInput, match=r"metadata\.name: is missing"):
        manifest({"kind": "Tenant", "metadata": {}})


def test_a_creation_time_is_in_utc_whether_it_says_so_or_not() -> None:
    said = [
        "2026-01-01T00:00:01Z",
        "2026-01-01T01:00:01+01:00",
        "2026-01-01T00:00:01",
        yaml.safe_load("2026-01-01 00:00:01"),
    ]
    for written in said:
        tenant = manifest({"kind": "Tenant", "metadata": {"name": "a", "creationTimestamp": written}})
        assert isinstance(tenant, objects.Tenant)
        assert tenant.created == 1_767_225_601_000


def test_a_level_decodes_exactly() -> None:
    sla = manifest(examples.manifest(GOOD["a level with a target"], "p0"))
    assert sla == objects.PrioritySLA("p0", 0, objects.ValueClass.CRITICAL, 20, False, False, 50, 9990, "fairberth-p0")
    slow = manifest(examples.manifest(GOOD["a latency in several units"], "p5"))
    assert isinstance(slow, objects.PrioritySLA)
    assert (slow.max_latency, slow.objective) == (3_600_000 + 30_000 + 2_000 + 3, 10_000)
    assert manifest(examples.manifest(GOOD["a level of best effort"], "p6")).max_latency is None  # type: ignore[union-attr]


def test_a_policy_decodes_exactly() -> None:
    policy = manifest(examples.manifest(GOOD["a policy with everything said"], "default"))
    assert policy == objects.FairnessPolicy(
        name="default",
        scoring=objects.Scoring(900, 200, 50, (1, 2, 3, 4, 5, 6, 7), 1, 2, 3, 90_000),
        fair_band=0,
        per_tenant_window=None,
        per_team_window=5,
        max_forced=0,
        round_interval=500,
        max_context_boost=350,
        types={"risk-check": 1},
        lost_node_timeout=600_000,
    )
    boosted = manifest(examples.manifest(GOOD["a boost in whole levels"], "default"))
    assert isinstance(boosted, objects.FairnessPolicy)
    assert boosted.max_context_boost == 200


def test_a_pool_decodes_exactly() -> None:
    pool = manifest(examples.manifest(GOOD["a growable pool with taints"], "urgent"))
    assert pool == objects.CapacityPool(
        name="urgent",
        role=objects.PoolRole.DEDICATED,
        selector=Selector.of(pool="urgent"),
        tolerations=(Toleration("urgent", "Exists", "", "NoSchedule"),),
        levels=frozenset({0, 1, 2}),
        max_capacity=Amounts({"cpu": 100_000, "memory": 400 * 2**30, "pods": 500}),
    )
    assert pool.grows


DEFAULTS = {
    "Tenant": objects.Tenant("d"),
    "FairnessPolicy": objects.FairnessPolicy("d"),
    "CapacityPool": objects.CapacityPool("d"),
}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_what_is_not_said_means_what_the_values_default_to(kind: str) -> None:
    assert manifest({"kind": kind, "metadata": {"name": "d"}}) == DEFAULTS[kind]


def test_a_tenant_with_everything_said_decodes_exactly() -> None:
    tenant = manifest(examples.manifest(examples.GOOD[1], "risk"))
    assert isinstance(tenant, objects.Tenant)
    quota = tenant.quota("default")
    assert quota.guaranteed == Amounts({"cpu": 500, "memory": 2**30, "nvidia.com/gpu": 1})
    assert quota.limit == Limits({"cpu": 2000, "memory": 2**32, "nvidia.com/gpu": 4})
    assert quota.borrowing.limit == Limits({"cpu": 1000})
    assert quota.lending.limit == Limits({"cpu": 250})
    assert tenant.tier is objects.Tier.GOLD
    assert tenant.backpressure == objects.Backpressure(1000, 200, True)


def test_namespaces_and_teams_decode_exactly() -> None:
    tenant = manifest(examples.manifest(examples.GOOD[1], "risk"))
    assert isinstance(tenant, objects.Tenant)
    assert tenant.namespaces == ("risk",)
    dept = Requirement("dept", "In", ("risk",))
    assert tenant.namespace_selector == Selector((dept, Requirement("env", "NotIn", ("dev",))))
    assert tenant.teams == (
        objects.Team("var", ("risk-var",)),
        objects.Team("stress", selector=Selector.of(team="stress")),
    )
    assert tenant.allowed_contexts == {"alert", "retry", "user-waiting"}
    assert (tenant.most_urgent, tenant.default_level, tenant.parent) == (0, 4, "bank")


def test_the_last_good_version_is_read_from_the_status() -> None:
    body = {"kind": "Tenant", "metadata": {"name": "a"}, "spec": {"weight": 0}}
    assert in_force(body) is None
    remembered = in_force({**body, "status": {"inForce": {"generation": 1, "spec": {"weight": 5}}}})
    assert isinstance(remembered, objects.Tenant)
    assert remembered.weight == 5
    assert in_force({**body, "status": {"inForce": {"generation": 1, "spec": {"weight": "x"}}}}) is None
    for status in (None, {}, [], "x", {"inForce": None}, {"inForce": []}, {"inForce": {"generation": 1}}):
        assert in_force({**body, "status": status}) is None
