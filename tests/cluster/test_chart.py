"""The chart on a real control plane: what it makes, what it allows, what survives an upgrade."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.plane import chart
from tests.cluster.plane.plane import ControlPlane, Options, PlaneError

pytestmark = pytest.mark.cluster

SYSTEM = chart.NAMESPACE


@pytest.fixture(scope="module")
def installed() -> Iterator[ControlPlane]:
    with ControlPlane.start(Options(scheduler=False, kubelet=False)) as plane:
        chart.install(plane)
        yield plane


@pytest.mark.parametrize("values", sorted((chart.CHART / "ci").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_set_of_values_renders(installed: ControlPlane, values: Path) -> None:
    rendered = installed.helm("template", "fairberth", str(chart.CHART), "--namespace", SYSTEM, "--values", str(values))
    kinds = [document["kind"] for document in yaml.safe_load_all(rendered) if document]
    assert {"Deployment", "ServiceAccount", "CustomResourceDefinition", "PriorityClass"} <= set(kinds)


def test_an_unknown_value_is_refused_by_name(installed: ControlPlane, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("operater: {replicas: 3}\n")
    with pytest.raises(PlaneError, match="operater"):
        installed.helm("template", "fairberth", str(chart.CHART), "--values", str(values))


def test_one_install_brings_levels_policy_and_pool(installed: ControlPlane) -> None:
    names = installed.kubectl("get", "fairberth", "-o", "name").split()
    assert sum(name.startswith("prioritysla.") for name in names) == 7
    assert {"fairnesspolicy.fairberth.io/default", "capacitypool.fairberth.io/default"} <= set(names)
    classes = installed.api.list_all("scheduling.k8s.io/v1/priorityclasses")
    ours = {c["metadata"]["name"]: c for c in classes if c["metadata"]["name"].startswith("fairberth-")}
    assert sorted(ours) == [f"fairberth-p{level}" for level in range(7)]
    assert all(c["preemptionPolicy"] == "Never" for c in ours.values())
    assert ours["fairberth-p6"]["value"] == -1000


def test_an_upgrade_keeps_what_people_edited(installed: ControlPlane) -> None:
    edit = {"spec": {"fairBand": 123}}
    installed.api.patch("fairberth.io/v1alpha1/fairnesspolicies", "default", edit)
    chart.install(installed, {"operator": {"replicas": 1}})
    policy = installed.api.get("fairberth.io/v1alpha1/fairnesspolicies", "default")
    assert policy["spec"]["fairBand"] == 123
    assert installed.api.get("apps/v1/deployments", "fairberth-operator", SYSTEM)["spec"]["replicas"] == 1


LEVELS = "fairberth.io/v1alpha1/priorityslas"


@pytest.mark.parametrize("as_hooks", [True, False], ids=["hooks", "ordinary objects"])
def test_a_deleted_level_comes_back_and_an_edited_one_stays(installed: ControlPlane, as_hooks: bool) -> None:
    values = {"defaults": {"asHooks": as_hooks}}
    installed.api.delete(LEVELS, "p6-batch")
    chart.install(installed, values)
    installed.api.patch(LEVELS, "p6-batch", {"spec": {"maxLatency": "8h"}})
    chart.install(installed, values)
    chart.install(installed)
    assert installed.api.get(LEVELS, "p6-batch")["spec"]["maxLatency"] == "8h"


def test_the_made_certificate_survives_an_upgrade(installed: ControlPlane) -> None:
    def made() -> tuple[str, str]:
        hook = installed.api.get("admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "fairberth")
        secret = installed.api.get("secrets", "fairberth-webhook-tls", SYSTEM)
        assert secret["data"]["ca.crt"] == hook["webhooks"][0]["clientConfig"]["caBundle"]
        return secret["data"]["tls.crt"], secret["data"]["tls.key"]

    before = made()
    chart.install(installed, {"operator": {"replicas": 3}})
    assert made() == before


def test_after_an_uninstall_the_objects_are_there_and_it_installs_again(installed: ControlPlane) -> None:
    installed.api.patch(LEVELS, "p5-background", {"spec": {"maxLatency": "9m"}})
    chart.uninstall(installed)
    assert installed.api.get(LEVELS, "p5-background")["spec"]["maxLatency"] == "9m"
    chart.install(installed)
    assert installed.api.get(LEVELS, "p5-background")["spec"]["maxLatency"] == "9m"


OPERATOR, SCHEDULER = (f"system:serviceaccount:{SYSTEM}:fairberth-{name}" for name in ("operator", "scheduler"))
RIGHTS = [
    (OPERATOR, "patch", "pods", True),
    (OPERATOR, "patch", "pods/status", True),
    (OPERATOR, "patch", "namespaces", True),
    (OPERATOR, "patch", "tenants.fairberth.io/status", True),
    (OPERATOR, "watch", "priorityclasses", True),
    (OPERATOR, "delete", "pods", False),
    (OPERATOR, "update", "pods", False),
    (OPERATOR, "create", "pods/binding", False),
    (OPERATOR, "create", "pods/eviction", False),
    (OPERATOR, "update", "tenants.fairberth.io", False),
    (OPERATOR, "get", "secrets", False),
    (OPERATOR, "patch", "nodes", False),
    (SCHEDULER, "create", "pods/binding", True),
    (SCHEDULER, "watch", "capacitypools.fairberth.io", True),
    (SCHEDULER, "watch", "namespaces", True),
    (SCHEDULER, "patch", "namespaces", False),
    (SCHEDULER, "patch", "tenants.fairberth.io", False),
    (SCHEDULER, "get", "secrets", False),
]


@pytest.mark.parametrize(("account", "verb", "resource", "may"), RIGHTS, ids=lambda value: str(value).split(":")[-1])
def test_rights(installed: ControlPlane, account: str, verb: str, resource: str, may: bool) -> None:
    plain, _, sub = resource.partition("/")
    flags = [f"--subresource={sub}"] if sub else []
    try:
        said = installed.kubectl("auth", "can-i", verb, plain, "--as", account, "--all-namespaces", *flags)
    except PlaneError as no:  # kubectl answers "no" with an exit code of 1
        said = str(no)
    assert said.strip().endswith("yes" if may else "no")


LEASES = [
    (OPERATOR, "patch", "fairberth-operator", SYSTEM, True),
    (OPERATOR, "patch", "fairberth-scheduler", SYSTEM, False),
    (OPERATOR, "patch", "fairberth-operator", "default", False),
    (OPERATOR, "create", "", "default", False),
    (SCHEDULER, "update", "fairberth-scheduler", SYSTEM, True),
    (SCHEDULER, "update", "fairberth-operator", SYSTEM, False),
]


@pytest.mark.parametrize(("account", "verb", "name", "namespace", "may"), LEASES)
def test_each_may_lead_by_its_own_lease_alone(
    installed: ControlPlane, account: str, verb: str, name: str, namespace: str, may: bool
) -> None:
    lease = {"group": "coordination.k8s.io", "resource": "leases", "verb": verb, "name": name, "namespace": namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": account, "groups": ["system:serviceaccounts"], "resourceAttributes": lease},
    }
    assert installed.api.create(review)["status"]["allowed"] is may
