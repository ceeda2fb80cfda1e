"""One control plane for the session, a namespace for each test, and nodes of its own for each test that asks."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, Object
from tests.cluster.plane.plane import ControlPlane

NodeMaker = Callable[..., Object]

_here = Path(__file__).parent
_kept_logs = pytest.StashKey[list[Path]]()
_numbers = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    config.addinivalue_line("markers", "cluster: needs the real control plane (built when missing, then started)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test that uses the control plane, so that `-m 'not cluster'` leaves those out."""
    for item in items:
        if _here in item.path.parents and "plane" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says where the logs of a control plane with failed tests are."""
    for logs in config.stash.get(_kept_logs, []):
        terminalreporter.write_line(f"control plane logs kept in {logs}")


@pytest.fixture(scope="session")
def plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """The control plane of this session; its programs are built first if they are missing."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():  # a first build takes minutes: show its progress
        running = ControlPlane.start()
    yield running
    failed = request.session.testsfailed > 0
    running.stop(keep_logs=failed)
    if failed:
        request.config.stash.setdefault(_kept_logs, []).append(running.logs_dir)


@pytest.fixture
def api(plane: ControlPlane) -> Api:
    """A client with all rights."""
    return plane.api


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    """A namespace of this test's own; deleted afterwards, without waiting, and its pods at once."""
    name = f"test-{next(_numbers)}"
    api.create(objects.namespace(name))
    api.wait_for("serviceaccounts", "default", namespace=name)
    yield name
    api.delete("namespaces", name)  # first: from now on no controller can create pods there
    api.delete_all("pods", name, grace=0)


@pytest.fixture
def make_node(api: Api, namespace: str) -> Iterator[NodeMaker]:
    """Makes nodes as `objects.node` does, labelled `test: <namespace>`, and removes them after the test.

    Other tests' nodes may exist at the same time: `on(namespace)` keeps a pod on this test's.
    """
    made: list[str] = []

    def make(name: str = "node", **details: object) -> Object:
        labels = {**details.pop("labels", {}), **on(namespace)}  # type: ignore[dict-item]  # checked by node()
        node = objects.node(f"{namespace}-{name}", labels=labels, **details)  # type: ignore[arg-type]
        made.append(node["metadata"]["name"])
        return api.create(node)

    yield make
    for name in made:
        api.delete("nodes", name)


def on(namespace: str) -> dict[str, str]:
    """The node selector for the nodes that a test made with `make_node`."""
    return {"test": namespace}
