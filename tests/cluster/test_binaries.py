"""The parts of the control plane's machinery that need no control plane."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.plane import commands
from tests.cluster.plane.api import path, resource_of
from tests.cluster.plane.binaries import cache_root, locked
from tests.cluster.plane.golang import build_environment, required_version
from tests.cluster.plane.ports import free_ports
from tests.cluster.plane.processes import Program, Programs, StopOrder, in_stop_order
from tests.cluster.plane.recipes import KUBECTL, RECIPES, TOOLS, cache_key, linker_flags

KWOK = RECIPES[0]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    (tmp_path / KWOK.module).mkdir()
    (tmp_path / KWOK.module / "go.mod").write_text("module a\n")
    (tmp_path / KWOK.module / "go.sum").write_text("sum\n")
    return tmp_path


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    started = Programs(tmp_path)
    yield started
    started.stop_all(patience=1)


class TestTheCacheKey:
    def test_is_the_same_for_the_same_ingredients(self, tools: Path) -> None:
        assert cache_key(KWOK, tools, "go1.26.0", "linux-amd64") == cache_key(KWOK, tools, "go1.26.0", "linux-amd64")

    @pytest.mark.parametrize("file", ["go.mod", "go.sum"])
    def test_changes_with_the_module(self, tools: Path, file: str) -> None:
        before = cache_key(KWOK, tools, "go1.26.0", "linux-amd64")
        (tools / KWOK.module / file).write_text("changed\n")
        assert cache_key(KWOK, tools, "go1.26.0", "linux-amd64") != before

    def test_changes_with_go_and_with_the_target(self, tools: Path) -> None:
        variants = [("go1.26.0", "linux-amd64"), ("go1.27.0", "linux-amd64"), ("go1.26.0", "linux-arm64")]
        assert len({cache_key(KWOK, tools, *variant) for variant in variants}) == len(variants)

    def test_differs_between_recipes_of_one_module(self) -> None:
        controlplane = next(recipe for recipe in RECIPES if recipe.module == KUBECTL.module)
        assert cache_key(controlplane, TOOLS, "go", "t") != cache_key(KUBECTL, TOOLS, "go", "t")


class TestTheCacheFolder:
    def test_is_the_one_asked_for(self) -> None:
        assert cache_root({"FAIRBERTH_CACHE": "/c", "XDG_CACHE_HOME": "/x"}) == Path("/c")

    def test_is_in_the_users_cache_otherwise(self) -> None:
        assert cache_root({"XDG_CACHE_HOME": "/x"}) == Path("/x/fairberth")
        assert cache_root({}) == Path.home() / ".cache" / "fairberth"

    def test_is_built_in_by_one_run_at_a_time(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        order: list[str] = []

        def second() -> None:
            with locked(tmp_path / "kwok.lock"):
                order.append("second")

        with locked(tmp_path / "kwok.lock"):
            waiting = threading.Thread(target=second)
            waiting.start()
            order.append("first")
        waiting.join()
        assert order == ["first", "second"]


class TestBuilding:
    def test_every_module_is_committed_with_its_sums_and_names_what_is_built(self) -> None:
        for recipe in (*RECIPES, KUBECTL):
            assert (TOOLS / recipe.module / "go.sum").stat().st_size
            text = (TOOLS / recipe.module / "go.mod").read_text()
            assert all(package in text for package in recipe.packages.values())

    def test_tells_kubernetes_its_version(self) -> None:
        flags = linker_flags("require (\n\tk8s.io/kubernetes v1.37.2\n)")
        assert "version.gitVersion=v1.37.2 " in flags
        assert "version.gitMinor=37" in flags

    def test_tells_other_programs_nothing(self) -> None:
        assert linker_flags("require sigs.k8s.io/kwok v0.8.0") == "-s -w"

    def test_needs_the_newest_go_of_all_modules(self) -> None:
        assert required_version(["module a\n\ngo 1.9.7\n", "module b\n\ngo 1.26.0\n"]) == "1.26.0"

    def test_does_not_depend_on_the_machines_go_settings(self) -> None:
        environment = build_environment({"GOFLAGS": "-mod=vendor", "HOME": "/h"})
        assert "vendor" not in environment["GOFLAGS"]
        assert environment["HOME"] == "/h"
        assert environment["CGO_ENABLED"] == "0"


class TestStopping:
    def test_goes_from_the_clients_over_the_apiserver_to_etcd(self, programs: Programs) -> None:
        etcd, scheduler, apiserver, kwok = (
            programs.start(name, ["sleep", "60"], order)
            for name, order in [
                ("etcd", StopOrder.ETCD),
                ("scheduler", StopOrder.CLIENT),
                ("apiserver", StopOrder.APISERVER),
                ("kwok", StopOrder.CLIENT),
            ]
        )
        assert in_stop_order([etcd, scheduler, apiserver, kwok]) == [[scheduler, kwok], [apiserver], [etcd]]

    def test_kills_what_does_not_listen(self, programs: Programs) -> None:
        deaf = _deaf_program(programs)
        programs.stop(deaf, patience=0.1)
        assert deaf.process.returncode == -signal.SIGKILL

    def test_takes_the_whole_group_along(self, programs: Programs) -> None:
        parent = programs.start("parent", ["sh", "-c", "sleep 60 & echo $!; wait"], StopOrder.CLIENT)
        _wait_for_log(parent)
        child = int(parent.log_tail())
        programs.stop(parent)
        assert _is_gone(child)

    def test_notices_a_program_that_ended_by_itself(self, programs: Programs) -> None:
        ended = programs.start("short", ["true"], StopOrder.CLIENT)
        ended.process.wait()
        assert programs.dead() == [ended]

    def test_happens_even_when_the_tests_are_killed(self, tmp_path: Path) -> None:
        script = f"""
            import os, pathlib, signal
            from tests.cluster.plane.processes import Programs, StopOrder
            programs = Programs(pathlib.Path({str(tmp_path)!r}))
            started = [programs.start(name, ["sleep", "60"], StopOrder.CLIENT) for name in "abc"]
            programs.stop(started[1])
            print(started[0].process.pid, started[2].process.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        """
        root = Path(__file__).parents[2]
        command = [sys.executable, "-c", textwrap.dedent(script)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert all(_is_gone(int(pid)) for pid in done.stdout.split())


class TestConfiguration:
    def test_of_a_scheduler_keeps_what_is_given_and_adds_what_is_missing(self) -> None:
        given = {"profiles": [{"schedulerName": "fairberth-scheduler"}], "clientConnection": {"qps": 5}}
        config = yaml.safe_load(commands.scheduler_config(given, Path("/k")))
        assert config["profiles"] == given["profiles"]
        assert config["clientConnection"] == {"kubeconfig": "/k", "qps": 5, "burst": 2000}
        assert config["leaderElection"] == {"leaderElect": False}

    def test_of_the_fake_kubelet_has_one_stage_of_each_name(self) -> None:
        documents = [entry for entry in yaml.safe_load_all(commands.kwok_config([])) if entry["kind"] == "Stage"]
        names = [entry["metadata"]["name"] for entry in documents]
        assert sorted(names) == sorted(set(names))


class TestNames:
    @pytest.mark.parametrize(
        ("version", "kind", "resource"),
        [
            ("v1", "Pod", "pods"),
            ("apps/v1", "DaemonSet", "apps/v1/daemonsets"),
            ("a.io/v1", "MutatingAdmissionPolicy", "a.io/v1/mutatingadmissionpolicies"),
            ("a.io/v1", "PriorityClass", "a.io/v1/priorityclasses"),
        ],
    )
    def test_of_resources_follow_from_the_kind(self, version: str, kind: str, resource: str) -> None:
        assert resource_of({"apiVersion": version, "kind": kind}) == resource

    def test_of_paths_have_group_namespace_and_subresource(self) -> None:
        assert path("apps/v1/daemonsets", "a", "b", "status") == "/apis/apps/v1/namespaces/a/daemonsets/b/status"
        assert path("nodes", None, "n") == "/api/v1/nodes/n"


def test_free_ports_are_all_different() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == len(ports)


def _deaf_program(programs: Programs) -> Program:
    deaf = programs.start(
        "deaf", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 60; done"], StopOrder.CLIENT
    )
    _wait_for_log(deaf)
    return deaf


def _wait_for_log(program: Program) -> None:
    while not program.log_tail():
        assert program.running


def _is_gone(pid: int, tries: int = 1_000_000) -> bool:
    """Whether the process ends; a zombie that its new parent has not collected yet counts as gone."""
    return any(_ended(pid) for _ in range(tries))


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True
