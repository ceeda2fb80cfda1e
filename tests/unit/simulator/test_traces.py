"""Traces, on tables of a few rows in the shape of the real ones."""

import gzip

import pytest

from fairberth.model import keys
from fairberth.simulator.run import run
from fairberth.simulator.times import DAY, SECOND
from fairberth.simulator.traces import catalogue

JOBS = "job_id,tenant,user,submit_s,duration_s,gpus,cpus,nodes,qos\n"
PHILLY = {
    "tenants.csv": "tenant,jobs,gpu_hours,carryover_jobs,carryover_gpus,helios_artifact_vc_nodes\n"
    "big,3,1,1,8,64\nsmall,1,1,0,0,\nidle,0,0,0,0,8\n",
    "nodes.csv": "gpus_per_node,gpu_memory,node_count,total_gpus\n2,12GB,10,20\n8,24GB,6,48\n",
    "carryover.csv": JOBS + "L1,big,,-100,160,8,,,\n",
    "jobs.csv.gz": JOBS + "L2,big,,0,50,1,,,\nL3,big,,10,0,20,,,\nL4,small,,10,30,2,,,\n",
}
OPENB = {
    "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,32000,1024,0,\nn1,32000,1024,2,T4\nn2,8000,512,0,\nn3,8000,512,0,\n",
    "pods.csv.gz": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time\n"
    "late,1000,10,1,460,,LS,Running,900\nearly,1000,10,2,1000,,BE,Running,5\n",
}


def written(where, name, tables):
    (where / name).mkdir()
    for file, text in tables.items():
        data = gzip.compress(text.encode()) if file.endswith(".gz") else text.encode()
        (where / name / file).write_bytes(data)
    return where


def test_philly_has_its_nodes_weights_and_jobs(tmp_path):
    scenario = catalogue.load("philly", 1.0, written(tmp_path, "philly", PHILLY))
    assert {t.name: t.weight for t in scenario.setup.tenants.values()} == {"big": 8, "small": 1}
    assert len(scenario.nodes) == 16
    assert sum(node.allocatable["nvidia.com/gpu"] for node in scenario.nodes) == 68
    assert (scenario.start, scenario.end) == (0, 10 * DAY)


def test_a_philly_job_from_before_the_window_runs_on_with_what_it_has_left(tmp_path):
    scenario = catalogue.load("philly", 1.0, written(tmp_path, "philly", PHILLY))
    (arrival,) = [a for a in scenario.arrivals if a.pod.name == "l1"]
    assert (arrival.at, arrival.run_for) == (0, 60 * SECOND)


def test_a_large_philly_job_is_a_gang_of_at_most_eight_gpus_each(tmp_path):
    scenario = catalogue.load("philly", 1.0, written(tmp_path, "philly", PHILLY))
    gang = [a.pod for a in scenario.arrivals if a.pod.name.startswith("l3")]
    assert [pod.requests["nvidia.com/gpu"] for pod in gang] == [8, 8, 4]
    assert {(pod.labels[keys.GROUP], pod.labels[keys.GROUP_SIZE]) for pod in gang} == {("L3", "3")}
    history = run(scenario)
    assert {history.lives[pod.uid].admitted for pod in gang} == {10 * SECOND}


def test_a_scale_shrinks_the_cluster_and_the_notes_say_so(tmp_path):
    scenario = catalogue.load("philly", 0.5, written(tmp_path, "philly", PHILLY))
    assert len(scenario.nodes) == 8
    assert "0.5 times the published one: 8 nodes with 34 GPUs" in scenario.notes[0]


def test_openb_pods_come_in_the_order_of_their_creation_and_stay(tmp_path):
    scenario = catalogue.load("openb", 1.0, written(tmp_path, "openb", OPENB))
    assert [(a.pod.name, a.at, a.run_for) for a in scenario.arrivals] == [("early", 0, None), ("late", SECOND, None)]
    assert [a.pod.requests["nvidia.com/gpu-milli"] for a in scenario.arrivals] == [2000, 460]
    history = run(scenario)
    assert [life.admitted for life in history.lives.values()] == [0, None]


def test_a_smaller_openb_leaves_nodes_out_evenly(tmp_path):
    scenario = catalogue.load("openb", 0.5, written(tmp_path, "openb", OPENB))
    assert [node.name for node in scenario.nodes] == ["n1", "n3"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("nodes.csv", "sn,cpu\nn0,1\n", "a table lacks the column 'cpu_milli'"),
        ("nodes.csv", OPENB["nodes.csv"] + "n4,many,1,0,\n", "is not the trace that was expected: invalid literal"),
    ],
)
def test_a_table_of_another_shape_is_told(file, text, message, tmp_path):
    written(tmp_path, "openb", {**OPENB, file: text})
    with pytest.raises(catalogue.NoTrace, match=message):
        catalogue.load("openb", 1.0, tmp_path)


def test_the_folder_is_as_given_else_as_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv(catalogue.FOLDER_VARIABLE, str(tmp_path))
    assert catalogue.folder(None) == tmp_path
    (tmp_path / "own").mkdir()
    assert catalogue.folder(tmp_path / "own") == tmp_path / "own"


def test_a_folder_that_is_not_there_is_told_with_what_to_do(tmp_path):
    with pytest.raises(catalogue.NoTrace, match="give --traces-dir or set FAIRBERTH_TRACES"):
        catalogue.folder(tmp_path / "none")
