"""What a scenario file may hold beside its `Scenario`, and what becomes of it."""

import pytest

from fairberth.model import keys
from fairberth.simulator.reading import documents
from fairberth.simulator.run import run
from fairberth.simulator.times import HOUR, MINUTE
from tests.unit.simulator.scenarios import day, no_level_guarantees, tenant

T = 9 * HOUR
ONE = '- {tenant: a, at: "09:00", template: {requests: {cpu: "1"}}}'


def node(name: str, status: str = "", spec: str = "{}") -> str:
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{disk: ssd}}}}\nspec: {spec}\n"
        f"status: {{allocatable: {{cpu: '4', pods: '10'}}{status}}}\n---\n"
    )


def test_ordinary_node_manifests_stand_beside_groups_of_nodes():
    scenario = day(ONE, tenant("a"), node("own"))
    assert [n.name for n in scenario.nodes] == ["n-1", "n-2", "n-3", "n-4", "own"]
    assert scenario.nodes[-1].labels == {"disk": "ssd"}


@pytest.mark.parametrize(
    ("manifest", "counts"),
    [
        pytest.param(node("own"), True, id="one that says nothing of its conditions is ready"),
        pytest.param(node("own", ", conditions: [{type: Ready, status: 'False'}]"), False, id="one that is not ready"),
        pytest.param(node("own", spec="{unschedulable: true}"), False, id="one that is cordoned"),
    ],
)
def test_a_node_manifest_means_what_it_means_in_a_cluster(manifest, counts):
    assert day(ONE, tenant("a"), manifest).nodes[-1].counts is counts


def test_a_namespace_manifest_brings_labels_that_tenants_select_by():
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-x, labels: {dept: a}}\n---\n"
    selecting = tenant("a").replace("names: [a]", "selector: {matchLabels: {dept: a}}")
    scenario = day(ONE, selecting, namespace)
    assert [(n.name, n.labels[keys.TENANT_LABEL]) for n in scenario.namespaces] == [("team-x", "a")]
    assert scenario.arrivals[0].pod.namespace == "team-x"


def test_entries_come_in_the_order_of_time_then_of_the_file():
    arrivals = """
- {name: x, tenant: a, at: 09:20, count: 2, template: {requests: {cpu: "1"}}}
- {name: y, tenant: a, every: 10m, between: [09:10, 09:31], template: {requests: {cpu: "1"}, runFor: [1m, 2m]}}
- {name: z, tenant: a, between: [09:00, 09:20], count: 2, template: {requests: {cpu: "1"}}}
"""
    came = [(a.pod.name, (a.at - T) // MINUTE, a.run_for) for a in day(arrivals, tenant("a")).arrivals]
    assert came == [
        ("z-1", 0, None),
        ("y-1", 10, MINUTE),
        ("z-2", 10, None),
        ("x-1", 20, None),
        ("x-2", 20, None),
        ("y-2", 20, 2 * MINUTE),
        ("y-3", 30, MINUTE),
    ]


def test_a_pod_goes_only_where_its_selector_and_its_tolerations_let_it():
    nodes = (
        '{name: plain, allocatable: {cpu: "8"}}, '
        '{name: fast, allocatable: {cpu: "2"}, labels: {disk: fast}, taints: [{key: only, value: fast}]}'
    )
    arrivals = """
- name: picky
  tenant: a
  at: "09:00"
  count: 3
  template:
    requests: {cpu: "1"}
    nodeSelector: {disk: fast}
    tolerations: [{key: only, value: fast}]
- {name: shy, tenant: a, at: "09:00", count: 9, template: {requests: {cpu: "1"}}}
"""
    history = run(day(arrivals, tenant("a"), no_level_guarantees(), nodes=nodes))
    gone = [name for name, life in history.lives.items() if life.admitted is not None]
    assert len([name for name in gone if "picky" in name]) == 2
    assert len([name for name in gone if "shy" in name]) == 8


def test_what_a_growing_pool_admits_beyond_its_nodes_runs_when_room_is_free():
    pool = (
        "apiVersion: fairberth.io/v1alpha1\nkind: CapacityPool\nmetadata: {name: grows}\n"
        "spec: {autoscaling: {maxCapacity: {cpu: 16, pods: 100}}}\n---\n"
    )
    scenario = day(
        '- {tenant: a, at: "09:00", count: 3, template: {requests: {cpu: "8"}, runFor: 10m}}',
        tenant("a"),
        pool,
        no_level_guarantees(),
        nodes='{name: n, allocatable: {cpu: "8"}}',
    )
    assert "Pool grows may grow" in scenario.notes[0]
    first, second, third = run(scenario).lives.values()
    assert (first.admitted, first.ended) == (T, T + 10 * MINUTE)
    assert (second.admitted, second.ended) == (T, T + 20 * MINUTE)
    assert (third.admitted, third.ended) == (T + 10 * MINUTE, T + 30 * MINUTE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("14:55", "14:55"),
        ("2024-01-31", "2024-01-31"),
        ("12", 12),
        ("-3", -3),
        ("0x10", 16),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("010", "010"),
        ("1_000", "1_000"),
        ("yes", True),
        ("~", None),
    ],
)
def test_scalars_are_what_kubernetes_takes_them_for(text, value):
    (document,) = documents.parse(f"a: {text}", "f")
    assert document.body == {"a": value}


def test_empty_documents_are_counted_but_left_out():
    first, second = documents.parse("a: 1\n---\n---\nb: 2\n", "f")
    assert (first.number, second.number) == (1, 3)
