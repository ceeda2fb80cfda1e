"""Scenario files with a slip: each names the place, all are told at once, and nothing is half loaded."""

import pytest

from fairberth.simulator.reading import documents, file
from tests.unit.simulator.scenarios import SMALL, day, tenant

TEXT = SMALL.read_text(encoding="utf-8")


def faults(text: str) -> list[str]:
    with pytest.raises(documents.FaultyFile) as caught:
        file.load_text(text, "my.yaml")
    return [str(found) for found in caught.value.found]


def edited(old: str, new: str) -> str:
    assert TEXT.count(old) >= 1, f"{old!r} is not in the file"
    return TEXT.replace(old, new, 1)


# What is replaced, by what, and what is said of it; a number is the line where that is not the line of the edit.
CASES = {
    "unknown field of an entry": (
        'at: "08:00"\n      count',
        'ta: "08:00"\n      count',
        "spec.arrivals[0].ta: unknown field",
    ),
    "unknown field of a template": (
        "runFor",
        "runfor",
        "spec.arrivals[0].template.runfor: unknown field; did you mean runFor?",
    ),
    "unknown field of a tenant": ("weight: 3", "wieght: 3", "document 2 (Tenant/blue): spec.wieght: "),
    "unknown field around a spec": (
        "spec: {weight: 1",
        "sepc: {weight: 1",
        "document 1 (Tenant/red): sepc: unknown field",
    ),
    "unknown field of a node group": (
        "count: 2,",
        "cuont: 2,",
        "spec.nodes[0].cuont: unknown field; did you mean count?",
    ),
    "unknown field of a moment": ("name: fill", "nmae: fill", "spec.moments[0].nmae: unknown field"),
    "bad quantity": ('cpu: "1"', 'cpu: "1 core"', "spec.arrivals[0].template.requests.cpu: '1 core' is not a quantity"),
    "bad quantity of a node": ("16Gi", "16 GB", "spec.nodes[0].allocatable.memory: '16 GB' is not a quantity"),
    "negative quantity": ('cpu: "1"', 'cpu: "-1"', "requests.cpu: must not be negative"),
    "missing requests": ('requests: {cpu: "2"}, ', "", "template.requests: is required"),
    "missing tenant": ("tenant: red", "tenant: rde", "spec.arrivals[0].tenant: there is no Tenant 'rde'"),
    "namespace of nobody": (
        "namespace: blue",
        "namespace: bleu",
        "spec.arrivals[1].namespace: no Tenant claims 'bleu'",
    ),
    "neither tenant nor namespace": ("      tenant: red\n", "", "give either a namespace or a tenant", 31),
    "tenant and namespace": (
        "tenant: red",
        "tenant: red\n      namespace: red",
        "give either a namespace or a tenant",
        33,
    ),
    "bad time of day": (
        'at: "08:00"\n      count',
        'at: "8 am"\n      count',
        "spec.arrivals[0].at: '8 am' is not a moment",
    ),
    "bad start": ('start: "08:00"', 'start: "8"', "spec.start: '8' is not a time of day"),
    "time after the end": ("[08:30, 08:40]", "[08:30, 07:00]", "spec.arrivals[2].between[1]: 07:00 is after the end"),
    "time twice": ("between: [08:30", 'at: "08:30"\n      between: [08:30', "say when, in one way"),
    "no time": ('at: "08:00"\n      count', "count", "spec.arrivals[0].at: say when, in one way", 31),
    "between backwards": ("[08:30, 08:40]", "[08:40, 08:30]", "spec.arrivals[2].between: 08:30 is not after 08:40"),
    "between of one": ("[08:30, 08:40]", "[08:30]", "must be two moments"),
    "too many pods": (
        "between: [08:30",
        "every: 1ms\n      between: [08:30",
        "spec.arrivals[2].every: makes more than",
    ),
    "duration without unit": ("runFor: 5m", "runFor: 5", "template.runFor: '5' is not a duration"),
    "duration of nothing": ("runFor: 5m", "runFor: 0s", "must be longer than nothing"),
    "no duration of the run": ("  duration: 1h\n", "", "spec.duration: is required", 22),
    "count of nothing": ("count: 12", "count: 0", "spec.arrivals[0].count: must be a whole number from 1 to"),
    "weight of nothing": ("weight: 1", "weight: 0", "document 1 (Tenant/red): spec.weight: "),
    "wrong type": (
        "  arrivals:\n",
        "  arrivals: none\n  moments2:\n",
        "spec.arrivals: must be a list, not the text 'none'",
    ),
    "unknown label of ours": (
        'cpu: "2"}',
        'cpu: "2"}, labels: {fairberth.io/typ: x}',
        "labels.fairberth.io/typ: no such label",
    ),
    "label that only we write": (
        'cpu: "2"}',
        'cpu: "2"}, labels: {granted.fairberth.io/level: "0"}',
        "labels.granted.fairberth.io/level: only Fairberth says this",
    ),
    "label that is no text": (
        'cpu: "2"}',
        'cpu: "2"}, labels: {fairberth.io/base-priority: 5}',
        "labels.fairberth.io/base-priority: must be text, not the number 5: quote it",
    ),
    "type that no policy knows": (
        'cpu: "2"}',
        'cpu: "2"}, labels: {fairberth.io/type: pricing}',
        "labels.fairberth.io/type: the FairnessPolicy has no type 'pricing'",
    ),
    "priority class of no level": (
        'cpu: "2"}',
        'cpu: "2"}, priorityClassName: urgent',
        "template.priorityClassName: no PrioritySLA has 'urgent'",
    ),
    "groups that do not come out even": (
        '{requests: {cpu: "2"',
        '{groupSize: 3, requests: {cpu: "2"',
        "whole groups of 3",
        44,
    ),
    "same entry twice": ("name: also", "name: many", "spec.arrivals[1].name: 'many' is the name of an earlier entry"),
    "same node twice": (
        "{name: node, count: 2,",
        "{name: node-1}\n    - {name: node, count: 2,",
        "there is a node 'node-1' already",
        27,
    ),
    "same object twice": ("metadata: {name: blue}", "metadata: {name: red}", "Tenant/red is in document 1 already"),
    "unknown kind": (
        "kind: PrioritySLA",
        "kind: Priority",
        "kind: fairberth.io/v1alpha1 Priority has no place in a scenario",
    ),
    "old version": ("fairberth.io/v1alpha1", "fairberth.io/v1", "apiVersion: must be fairberth.io/v1alpha1"),
    "no Scenario": ("kind: Scenario", "kind: Scenery", "no document of kind Scenario", 1),
    "field twice": (
        "count: 12",
        "count: 12\n      count: 13",
        "spec.arrivals[0].count: is given twice (again in line 35)",
    ),
    "not YAML": ("kind: Tenant", "kind: [Tenant", "my.yaml:4: not YAML: ", 4),
    "no nodes": (
        '    - {name: node, count: 2, allocatable: {cpu: "4", memory: 16Gi}}\n',
        "",
        "spec.nodes: there is no node at all",
        25,
    ),
    "no object": ("---\n", "---\njust text\n---\n", "document 2: is not a Kubernetes object", 7),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_slip_is_told_with_its_place(case):
    old, new, said, *other = case
    line = other[0] if other else TEXT[: TEXT.index(old)].count("\n") + 1
    found = faults(edited(old, new))
    assert any(said in one and one.startswith(f"my.yaml:{line}:") for one in found), (line, found)


def test_the_file_itself_is_right():
    assert file.load_text(TEXT).name == "two-teams"


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    text = TEXT.replace("weight: 3", "weight: -3").replace("runFor: 10m", "runFor: ten").replace("duration", "duratoin")
    lines = [int(one.split(":")[1]) for one in faults(text)]
    assert lines == [11, 22, 24, 35, 40]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        pytest.param(
            (tenant("a", spec="parent: b"), tenant("b", spec="parent: a")),
            "document 1 (Tenant/a): spec.parent: is a cycle: a → b → a",
            id="a cycle",
        ),
        pytest.param(
            (tenant("a", spec="quotas: [{pool: gpu}]"),),
            "document 1 (Tenant/a): spec.quotas[0].pool: there is no CapacityPool 'gpu'",
            id="an unknown pool",
        ),
        pytest.param(
            (tenant("a"), tenant("b").replace("names: [b]", "names: [b, a]")),
            "document 2 (Tenant/b): spec.namespaces.names[1]: namespace 'a' is claimed by the older Tenant 'a'",
            id="a namespace claimed twice",
        ),
        pytest.param(
            (tenant("a", spec="quotas: [{pool: default, guaranteed: {cpu: 5}, limit: {cpu: 4}}]"),),
            "limit",
            id="a limit below the guarantee",
        ),
    ],
)
def test_what_objects_show_only_together_is_told_too(documents, expected):
    with pytest.raises(file.FaultyFile) as caught:
        day('- {tenant: a, at: "09:00", template: {requests: {cpu: "1"}}}', *documents)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("metadata: {name: n}", "status.allocatable: is required"),
        (
            "metadata: {name: n}\nstatus: {alocatable: {cpu: 1}}",
            "status.alocatable: unknown field; did you mean allocatable?",
        ),
        (
            "metadata: {name: n}\nstatus: {allocatable: {cpu: lots}}",
            "status.allocatable.cpu: 'lots' is not a quantity",
        ),
        ("metadata: {nmae: n}\nstatus: {allocatable: {cpu: 1}}", "metadata.name: is required"),
        ("metadata: {name: n}\nspec: {taints: some}\nstatus: {allocatable: {cpu: 1}}", "spec.taints: Expected `array"),
    ],
)
def test_a_node_manifest_with_a_slip_is_told(node, expected):
    text = f"apiVersion: v1\nkind: Node\n{node}\n---\n{TEXT}"
    found = faults(text)
    assert any(expected in one for one in found), found


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(documents.FaultyFile, match="cannot be read"):
        file.load(tmp_path / "none.yaml")


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(documents.FaultyFile, match="cannot be read"):
        file.load(tmp_path / "binary.yaml")


def test_deep_nesting_and_many_aliases_are_survived():
    assert "nested too deeply" in faults("a: " + "[" * 5_000 + "]" * 5_000)[0]
    bomb = "a: &a [x]\n" + "".join(
        f"{name}: &{name} [*{last}, *{last}, *{last}]\n" for last, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    assert any("has no place in a scenario" in one for one in faults(bomb))
