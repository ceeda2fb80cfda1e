"""Our kinds on a real API server: good examples are accepted and completed, bad ones refused with the field named."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.plane.api import Api, ApiError
from tests.cluster.plane.plane import ControlPlane
from tests.contract.crds import examples

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
PLURALS = {
    "Tenant": "tenants",
    "PrioritySLA": "priorityslas",
    "FairnessPolicy": "fairnesspolicies",
    "CapacityPool": "capacitypools",
}


@pytest.fixture(scope="module")
def served(plane: ControlPlane) -> Api:
    plane.kubectl("apply", "--server-side", "-f", str(ROOT / "crds"))
    plane.kubectl("wait", "--for=condition=Established", "-f", str(ROOT / "crds"), "--timeout=60s")
    return plane.api


def create(api: Api, example: dict[str, Any], name: str) -> Any:
    path = f"/apis/fairberth.io/v1alpha1/{PLURALS[example['kind']]}"
    params = {"dryRun": "All", "fieldValidation": "Strict"}
    return api.request("POST", path, examples.manifest(example, name), params=params)


@pytest.mark.parametrize("example", examples.GOOD, ids=examples.case)
def test_a_good_example_is_accepted(served: Api, example: dict[str, Any]) -> None:
    assert create(served, example, "good")["kind"] == example["kind"]


@pytest.mark.parametrize("example", examples.BAD, ids=examples.case)
def test_a_bad_example_is_refused_with_the_field_named(served: Api, example: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refused:
        create(served, example, "bad")
    assert refused.value.status in (400, 422)
    assert example["place"] in str(refused.value)


def test_defaults_are_filled_in(served: Api) -> None:
    tenant = create(served, {"kind": "Tenant", "spec": {"quotas": [{"pool": "default"}]}}, "plain")["spec"]
    assert tenant["weight"] == 1
    assert tenant["levels"] == {"mostUrgent": 3, "default": 4}
    assert tenant["quotas"][0]["borrowing"] == {"enabled": True, "limit": {}}
    policy = create(served, {"kind": "FairnessPolicy", "spec": {}}, "default")["spec"]
    assert policy["fairBand"] == 500
    assert policy["windows"] == {"perTenant": 2, "perTeam": 2}


def test_kubectl_shows_what_people_look_for(plane: ControlPlane, served: Api) -> None:
    served.create(examples.manifest(examples.GOOD[0], "shown"))
    lines = plane.kubectl("get", "tn").splitlines()
    assert lines[0].split()[:3] == ["NAME", "WEIGHT", "PARENT"]
    assert "tenant.fairberth.io/shown" in plane.kubectl("get", "fairberth", "-o", "name")
    served.delete("fairberth.io/v1alpha1/tenants", "shown")
