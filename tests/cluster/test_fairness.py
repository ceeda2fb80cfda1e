"""Real pods of real tenants are released in fair order: the whole path, on a real control plane."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, Object
from tests.cluster.plane.plane import ControlPlane, Options
from tests.cluster.plane.product import Product

pytestmark = pytest.mark.cluster

NODES, CORES = 20, 6
# The shipped P0 guarantee (20 %) is never lent, so P4 pods fill four fifths.
ROOM = NODES * CORES * 8 // 10


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    with ControlPlane.start(Options(scheduler=False)) as plane:
        for index in range(NODES):
            plane.api.create(objects.node(f"node-{index:02}", cpu=str(CORES)))
        yield Product.start(plane)


@pytest.fixture
def api(product: Product) -> Iterator[Api]:
    yield product.plane.api
    for namespace in product.plane.api.list_all("namespaces", labels="fairberth.io/tenant"):
        name = namespace["metadata"]["name"]
        product.plane.api.delete_all("pods", name, grace=0)
        product.plane.api.wait_all("pods", lambda found: not found, name)
    for tenant in product.plane.api.list_all("fairberth.io/v1alpha1/tenants"):
        product.plane.api.delete("fairberth.io/v1alpha1/tenants", tenant["metadata"]["name"])


def bound(pods: Sequence[Object]) -> Counter[str]:
    """Placed pods by namespace."""
    return Counter(pod["metadata"]["namespace"] for pod in pods if pod["spec"].get("nodeName"))


def told(pod: Object) -> dict[str, str]:
    """Our condition on a pod, {} if there is none yet."""
    conditions = pod.get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == "fairberth.io/Admitted"), {})


def submit(api: Api, namespace: str, names: Sequence[str], **details: object) -> None:
    for name in names:
        api.create(objects.pod(name, namespace, cpu="1", grace=0, **details))  # type: ignore[arg-type]


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{index:03}" for index in range(count)]


def never_overcommitted(pods: Sequence[Object]) -> bool:
    """The fake kubelet checks no room, so we do."""
    used = Counter(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))
    return all(count <= CORES for count in used.values())


def test_weights_one_two_three_share_a_full_cluster_one_to_two_to_three(product: Product, api: Api) -> None:
    """The first turn that fills the cluster gives 1:2:3 within one pod; so does each one after pods end; a fourth
    tenant takes its share as room frees."""
    everybody = ("one", "two", "three")
    for weight, name in enumerate(everybody, 1):
        product.tenant(name, weight=weight, cordoned=True)
        submit(api, name, numbered(name, 120))
    # One turn is to see them all at once, so they are let go while nobody turns.
    product.stop("operator")
    product.apply(*(_tenant(name, weight) for weight, name in enumerate(everybody, 1)))
    product.start_operator()
    pods = api.wait_all("pods", lambda found: sum(bound(found).values()) >= ROOM)
    _expect_shares(bound(pods), {"one": 1, "two": 2, "three": 3})
    assert never_overcommitted(pods)

    product.tenant("four", weight=6)
    submit(api, "four", numbered("four", 60))
    # Half of what everybody holds ends, one by one; the newcomer has half of all weight, so all of that is its own.
    counts = bound(pods)
    for pod in (pod for name in everybody for pod in _placed(pods, name)[: counts[name] // 2]):
        api.delete("pods", pod["metadata"]["name"], pod["metadata"]["namespace"])
        pods = api.wait_all("pods", partial(_full_without, gone=pod["metadata"]["uid"]))
    assert never_overcommitted(pods)
    counts = bound(pods)
    assert sum(counts.values()) == ROOM
    _expect_shares(counts, {"one": 1, "two": 2, "three": 3, "four": 6})


def _placed(pods: Sequence[Object], namespace: str) -> list[Object]:
    mine = [p for p in pods if p["metadata"]["namespace"] == namespace and p["spec"].get("nodeName")]
    return sorted(mine, key=lambda pod: str(pod["metadata"]["name"]))


def _full_without(pods: Sequence[Object], gone: str) -> bool:
    """Whether the room that one pod left is taken again."""
    return sum(bound(pods).values()) == ROOM and all(pod["metadata"]["uid"] != gone for pod in pods)


def _tenant(name: str, weight: int) -> Object:
    from tests.cluster.plane.product import fairberth

    return fairberth("Tenant", name, weight=weight, namespaces={"names": [name]}, cordoned=False)


def _expect_shares(counts: Counter[str], weights: dict[str, int]) -> None:
    total, all_weights = sum(counts.values()), sum(weights.values())
    for name, weight in weights.items():
        assert abs(counts[name] - total * weight / all_weights) <= 1, counts


def test_one_over_its_limit_waits_with_the_reason_and_the_numbers(product: Product, api: Api) -> None:
    product.tenant("small", quotas=[{"pool": "default", "limit": {"cpu": "2500m"}}])
    submit(api, "small", numbered("small", 3))
    api.wait_all("pods", lambda found: bound(found)["small"] == 2, "small")
    waiting = api.wait_all(
        "pods", lambda found: any(told(pod).get("reason") == "QuotaExhausted" for pod in found), "small"
    )
    condition = next(told(pod) for pod in waiting if told(pod).get("reason") == "QuotaExhausted")
    assert condition["status"] == "False"
    assert "small cpu: limit 2.5, held 2, asked 1 (pool default)" in condition["message"]


def test_an_admitted_pod_carries_its_grant_and_loses_only_our_gate(product: Product, api: Api) -> None:
    product.tenant("plain")
    api.create(objects.pod("free", "plain"))
    api.create(objects.pod("held", "plain", gates=["example.com/other"]))
    free = api.wait_for("pods", "free", lambda pod: pod["spec"].get("nodeName"), namespace="plain")
    grant = json.loads(free["metadata"]["annotations"]["granted.fairberth.io/admission"])
    assert grant["pool"] == "default"
    assert grant["level"] == 4
    assert grant["node"] == free["spec"]["nodeName"]
    assert told(free)["status"] == "True"
    held = api.wait_for("pods", "held", lambda pod: told(pod).get("reason") == "ForeignGate", namespace="plain")
    assert "example.com/other" in told(held)["message"]
    assert {gate["name"] for gate in held["spec"]["schedulingGates"]} == {"example.com/other", "fairberth.io/turn"}
    gone = [{"$patch": "delete", "name": "example.com/other"}]
    api.patch("pods", "held", {"spec": {"schedulingGates": gone}}, namespace="plain", how="strategic")
    api.wait_for("pods", "held", lambda pod: pod["spec"].get("nodeName"), namespace="plain")


def test_a_bad_tenant_says_so_and_keeps_its_last_good_version_in_force(product: Product, api: Api) -> None:
    product.tenant("steady", quotas=[{"pool": "default", "limit": {"cpu": "1"}}])
    kind = "fairberth.io/v1alpha1/tenants"
    api.wait_for(kind, "steady", lambda tenant: _ready(tenant) == "True")
    product.apply(_changed("steady", quotas=[{"pool": "nowhere", "limit": {"cpu": "100"}}]))
    faulty = api.wait_for(kind, "steady", lambda tenant: _ready(tenant) == "False")
    message = next(c["message"] for c in faulty["status"]["conditions"] if c["type"] == "Ready")
    assert "spec.quotas[0].pool: there is no CapacityPool 'nowhere'" in message
    submit(api, "steady", numbered("steady", 2))
    api.wait_all("pods", lambda found: bound(found)["steady"] == 1, "steady")
    api.wait_all("pods", lambda found: any(told(pod).get("reason") == "QuotaExhausted" for pod in found), "steady")


def _changed(name: str, **spec: object) -> Object:
    from tests.cluster.plane.product import fairberth

    return fairberth("Tenant", name, namespaces={"names": [name]}, **spec)


def _ready(obj: Object) -> str:
    conditions = obj.get("status", {}).get("conditions", [])
    generation = obj["metadata"]["generation"]
    return next((c["status"] for c in conditions if c["type"] == "Ready" and c["observedGeneration"] == generation), "")
