"""The API server edge against the real one: what it lists, tells, refuses and elects is what we think it is."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest
from kubernetes.client import Configuration

from fairberth.api.requests import JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Request
from fairberth.kube.client import ApiClient
from fairberth.kube.credentials import Credentials
from fairberth.kube.lease import Lease, Terms
from fairberth.kube.watch import Pace, Reflector, Trouble
from fairberth.kube.write import ApiWriter
from fairberth.model.outcomes import Conflict, Done, Fatal, Gone, Outcome, Retry
from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, Object
from tests.cluster.plane.plane import ControlPlane

WITHIN = 60.0  # seconds
PAGED = Pace(stream_list=False)
STREAMED = Pace(stream_list=True)
GATE = "example.com/held"  # keeps the pods of these tests away from every scheduler


class Seen:
    """A sink: the label `step` of each pod by name, the order of what was heard, and every trouble."""

    def __init__(self) -> None:
        self.pods: dict[str, str] = {}
        self.synced_with: list[int] = []
        self.troubles: list[tuple[Trouble, str]] = []
        self._changed = asyncio.Event()

    def seen(self, value: Object) -> None:
        self.pods[value["metadata"]["name"]] = value["metadata"].get("labels", {}).get("step", "")
        self._changed.set()

    def gone(self, key: str) -> None:
        del self.pods[key]  # a key that was never seen, or gone before, is an error
        self._changed.set()

    def synced(self) -> None:
        self.synced_with.append(len(self.pods))
        self._changed.set()

    def report(self, trouble: Trouble, details: str) -> None:
        self.troubles.append((trouble, details))

    async def until(self, holds: Callable[["Seen"], object]) -> None:
        async with asyncio.timeout(WITHIN):
            while not holds(self):
                self._changed.clear()
                await self._changed.wait()


def _decode(raw: msgspec.Raw) -> Object:
    value: Object = msgspec.json.decode(raw)
    return value


@asynccontextmanager
async def client_of(plane: ControlPlane) -> AsyncIterator[ApiClient]:
    """A client with all rights, from the kubeconfig."""
    async with ApiClient(Credentials.load(str(plane.kubeconfig)), timeout=30.0) as client:
        yield client


def reflector(client: ApiClient, namespace: str, sink: Seen, pace: Pace = STREAMED) -> Reflector[Object]:
    """A reflector over the pods of one namespace."""
    return Reflector(
        client,
        f"/api/v1/namespaces/{namespace}/pods",
        decode=_decode,
        key=lambda pod: str(pod["metadata"]["name"]),
        sink=sink,
        pace=pace,
        report=sink.report,
    )


@asynccontextmanager
async def running(work: Awaitable[None]) -> AsyncIterator[None]:
    """Runs it beside the block; what it raises fails the test."""
    task = asyncio.ensure_future(work)
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def create(namespace: str, name: str) -> Request:
    """The request that creates a held pod."""
    body = json.dumps(objects.pod(name, namespace, gates=[GATE])).encode()
    return Request("POST", f"/api/v1/namespaces/{namespace}/pods", body, JSON)


def label(namespace: str, name: str, step: str) -> Request:
    """The request that labels a pod."""
    body = json.dumps({"metadata": {"labels": {"step": step}}}).encode()
    return Request("PATCH", f"/api/v1/namespaces/{namespace}/pods/{name}", body, STRATEGIC_PATCH)


def delete(namespace: str, name: str) -> Request:
    """The request that deletes a pod at once."""
    return Request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}", b'{"gracePeriodSeconds":0}', JSON)


async def all_done(writer: ApiWriter, requests: Iterable[Request]) -> None:
    """Sends them all; each must be done."""
    outcomes = await asyncio.gather(*(writer.send(request) for request in requests))
    assert set(outcomes) == {Done()}


def test_six_hundred_pods_are_listed_both_ways_and_then_followed(plane: ControlPlane, namespace: str) -> None:
    names = [f"pod-{n:03d}" for n in range(600)]

    async def scenario() -> None:
        async with client_of(plane) as client:
            writer = ApiWriter(client, timeout=30.0)
            await all_done(writer, (create(namespace, name) for name in names))
            paged, streamed = Seen(), Seen()
            one, other = reflector(client, namespace, paged, PAGED), reflector(client, namespace, streamed, STREAMED)
            async with running(one.run()), running(other.run()):
                for sink in (paged, streamed):
                    await sink.until(lambda it: it.synced_with)
                    assert sink.synced_with == [600]
                    assert sorted(sink.pods) == names
                await all_done(writer, (label(namespace, name, "second") for name in names[:100]))
                await all_done(writer, (delete(namespace, name) for name in names[100:200]))
                expected = dict.fromkeys(names[:100], "second") | dict.fromkeys(names[200:], "")
                for sink in (paged, streamed):
                    await sink.until(lambda it: it.pods == expected)
                    assert sink.troubles == []
            assert (one.relists, one.decode_errors, len(one)) == (0, 0, 500)

    asyncio.run(scenario())


def test_a_reflector_that_was_away_resumes_without_listing_and_misses_nothing(
    plane: ControlPlane, namespace: str
) -> None:
    async def scenario() -> None:
        async with client_of(plane) as client:
            writer = ApiWriter(client, timeout=30.0)
            await all_done(writer, (create(namespace, name) for name in ("stays", "leaves", "changes")))
            sink = Seen()
            following = reflector(client, namespace, sink)
            async with running(following.run()):
                await sink.until(lambda it: it.synced_with)
            away = [delete(namespace, "leaves"), label(namespace, "changes", "second"), create(namespace, "comes")]
            await all_done(writer, away)
            async with running(following.run()):
                await sink.until(lambda it: it.pods == {"stays": "", "changes": "second", "comes": ""})
            assert sink.synced_with == [3]
            assert following.relists == 0

    asyncio.run(scenario())


def _patch(namespace: str, body: object, content_type: str) -> Request:
    return Request("PATCH", f"/api/v1/namespaces/{namespace}/pods/there", json.dumps(body).encode(), content_type)


UNMET = [{"op": "test", "path": "/metadata/name", "value": "other"}]
NO_SUCH_PATH = [{"op": "remove", "path": "/metadata/labels/none"}]
ANOTHER_UID = {"metadata": {"uid": "another"}}
ANOTHER_VERSION = {"metadata": {"resourceVersion": "1"}}
ANOTHER_SCHEDULER = {"spec": {"schedulerName": "another"}}


@pytest.mark.parametrize(
    ("request_in", "expected"),
    [
        pytest.param(lambda ns: label(ns, "there", "x"), Done, id="a patch is done"),
        pytest.param(lambda ns: create(ns, "there"), Conflict, id="already there is a conflict"),
        pytest.param(lambda ns: label(ns, "nowhere", "x"), Gone, id="a pod that is not there is gone"),
        pytest.param(lambda ns: create(f"{ns}-none", "a"), Gone, id="a namespace that is not there is gone"),
        pytest.param(lambda ns: _patch(ns, UNMET, JSON_PATCH), Conflict, id="an unmet test is a conflict"),
        pytest.param(lambda ns: _patch(ns, NO_SUCH_PATH, JSON_PATCH), Conflict, id="no such path is a conflict"),
        pytest.param(
            lambda ns: _patch(ns, ANOTHER_UID, STRATEGIC_PATCH),
            Conflict,
            id="another uid is a conflict",
        ),
        pytest.param(
            lambda ns: _patch(ns, ANOTHER_VERSION, MERGE_PATCH),
            Conflict,
            id="another version is a conflict",
        ),
        pytest.param(
            lambda ns: _patch(ns, ANOTHER_SCHEDULER, STRATEGIC_PATCH),
            Fatal,
            id="invalid is final",
        ),
        pytest.param(lambda ns: create(ns, "Not A Name"), Fatal, id="a bad name is final"),
        pytest.param(lambda ns: Request("PATCH", "/api/v1/namespaces", b"{}", JSON), Fatal, id="a wrong verb is final"),
    ],
)
def test_the_real_server_s_answer_to_a_write_means(
    plane: ControlPlane, namespace: str, request_in: Callable[[str], Request], expected: type[Outcome]
) -> None:
    async def scenario() -> Outcome:
        async with client_of(plane) as client:
            writer = ApiWriter(client, timeout=30.0)
            await all_done(writer, [create(namespace, "there")])
            return await writer.send(request_in(namespace))

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, expected), outcome


def test_creating_in_a_terminating_namespace_is_gone(plane: ControlPlane, api: Api) -> None:
    name = "kube-terminating"
    meta = {"name": "held", "namespace": name, "finalizers": ["example.com/held"]}
    api.create(objects.namespace(name))
    api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    api.delete("namespaces", name)

    async def scenario() -> Outcome:
        async with client_of(plane) as client:
            return await ApiWriter(client, timeout=30.0).send(create(name, "late"))

    outcome = asyncio.run(scenario())
    api.patch("configmaps", "held", {"metadata": {"finalizers": None}}, name)
    assert isinstance(outcome, Gone), outcome
    assert outcome.message.startswith("403")


def test_a_wrong_token_is_worth_another_try(plane: ControlPlane, namespace: str) -> None:
    configuration = Configuration(host=plane.url, ssl_ca_cert=str(plane.ca_file))
    configuration.api_key = {"BearerToken": "bearer wrong"}

    async def scenario() -> Outcome:
        async with ApiClient(Credentials(lambda: configuration)) as client:
            return await ApiWriter(client, timeout=30.0).send(label(namespace, "any", "x"))

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, Retry), outcome
    assert outcome.message.startswith("401")


QUICK = Terms(lease_duration=2, renew_deadline=1.5, retry=0.2)


def contender(client: ApiClient, namespace: str, identity: str, changes: list[str]) -> Lease:
    """A contender with short terms."""
    return Lease(
        client,
        namespace,
        "turn",
        identity,
        terms=QUICK,
        on_change=lambda held: changes.append(f"{identity} {'leads' if held else 'lost'}"),
    )


def test_the_lease_passes_on_when_its_holder_dies_or_stops(plane: ControlPlane, namespace: str) -> None:
    async def scenario() -> None:
        changes: list[str] = []
        async with client_of(plane) as client, asyncio.timeout(WITHIN):
            dies, stops, last = (contender(client, namespace, name, changes) for name in ("dies", "stops", "last"))
            await dies.contend()
            assert dies.held
            async with running(stops.run()):
                await stops.wait_held()
                assert not dies.held  # it was not told: its time was over before the other could lead
                await last.contend()
                assert not last.held
            await last.contend()
            assert last.held
        assert changes == ["dies leads", "stops leads", "stops lost", "last leads"]

    asyncio.run(scenario())
