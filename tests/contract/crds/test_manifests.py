"""Our own kinds, decoded: every fault with its path, and defaults that are those of the values."""

from __future__ import annotations

from typing import Any

import pytest

from fairberth.api.manifests import in_force, manifest
from fairberth.model import objects
from fairberth.model.amounts import Amounts, Limits
from fairberth.model.faults import InvalidInput
from tests.contract.crds import examples


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


def test_all_faults_are_reported_at_once() -> None:
    spec = {"weight": 0, "tier": "x", "quotas": [{"pool": "p", "limit": {"cpu": "-1"}}]}
    with pytest.raises(InvalidInput) as refused:
        manifest({"kind": "Tenant", "metadata": {"name": "a"}, "spec": spec})
    assert [fault.path for fault in refused.value.faults] == ["spec.quotas[0].limit.cpu", "spec.tier", "spec.weight"]


def test_a_typo_is_answered_with_what_was_meant() -> None:
    with pytest.raises(InvalidInput, match=r"did you mean `weight`"):
        manifest({"kind": "Tenant", "metadata": {"name": "a"}, "spec": {"wieght": 1}})


def test_an_unknown_kind_and_a_missing_name_are_faults() -> None:
    with pytest.raises(InvalidInput, match=r"kind: 'Tennant' is none of"):
        manifest({"kind": "Tennant", "metadata": {"name": "a"}})
    with pytest.raises(InvalidInput, match=r"metadata\.name: is missing"):
        manifest({"kind": "Tenant", "metadata": {}})


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


def test_the_last_good_version_is_read_from_the_status() -> None:
    body = {"kind": "Tenant", "metadata": {"name": "a"}, "spec": {"weight": 0}}
    assert in_force(body) is None
    remembered = in_force({**body, "status": {"inForce": {"generation": 1, "spec": {"weight": 5}}}})
    assert isinstance(remembered, objects.Tenant)
    assert remembered.weight == 5
    assert in_force({**body, "status": {"inForce": {"generation": 1, "spec": {"weight": "x"}}}}) is None
