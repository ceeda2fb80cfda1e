"""The extender protocol, field for field, against a live server on a free port."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from fairberth.api import grants
from fairberth.control.answers import Answers
from fairberth.extender import app as extender_app
from fairberth.model.keys import ADMISSION, EXEMPT
from fairberth.model.reasons import Reason
from fairberth.model.selectors import Selector
from fairberth.model.workload import Grant
from fairberth.policy.snapshot import Setup
from fairberth.state.facts import NamespaceSeen, NodeSeen, PodSeen, SetupChanged
from tests.kit import builders


class NoMetrics:
    def observe(self, verb: str, seconds: float) -> None:
        return None

    def verdict(self, reason: Reason) -> None:
        return None


def answers() -> Answers:
    """Namespace `a` is tenant a's; n1 and n2 are in pool main, n3 in pool other; n2 is half full."""
    made = Answers()
    pools = {
        "main": builders.pool("main", selector=Selector.of(pool="main")),
        "other": builders.pool("other", selector=Selector.of(pool="other")),
    }
    made.apply(SetupChanged(Setup.of({"a": builders.tenant("a")}, {}, Setup().policy, pools)))
    made.apply(NamespaceSeen(builders.namespace("a", "a")))
    made.apply(NamespaceSeen(builders.namespace("free")))
    for name, pool in (("n1", "main"), ("n2", "main"), ("n3", "other")):
        node = builders.node(name, cpu=8, memory="8Gi")
        made.apply(NodeSeen(type(node)(node.name, node.created, node.allocatable, {"pool": pool})))
    running = builders.pod("r", "a", cpu=4, memory="4Gi")
    made.apply(PodSeen(_replace(running, gated=False, node="n2")))
    return made


def _replace(pod: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(pod, **changes)


def pod(namespace: str = "a", *, level: int | None = None, pool: str = "main", **labels: str) -> dict[str, Any]:
    annotations = {} if level is None else {ADMISSION: grants.encode(Grant(1, pool, level, "t-1", "n1"))}
    metadata = {"name": "p", "namespace": namespace, "uid": "u", "annotations": annotations, "labels": labels}
    return {"metadata": metadata, "spec": {"containers": []}, "status": {}}


def args(of: dict[str, Any], *names: str) -> dict[str, Any]:
    return {"Pod": of, "Nodes": None, "NodeNames": list(names)}


Call = Callable[[str, Any], Awaitable[Any]]


def on_server(scenario: Callable[[Call, str], Awaitable[None]], *, synced: bool = True) -> None:
    """Run a scenario against a live extender. `call(verb, body)` posts and decodes; every answer must be a 200."""

    async def run() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        runner = extender_app.runner(extender_app.application(answers(), lambda: synced, NoMetrics()))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        url = f"http://127.0.0.1:{port}"
        async with aiohttp.ClientSession() as session:

            async def call(verb: str, body: Any) -> Any:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                async with session.post(f"{url}/{verb}", data=io.BytesIO(data)) as response:
                    assert response.status == 200
                    assert "Content-Length" in response.headers
                    return json.loads(await response.read())

            try:
                await scenario(call, url)
            finally:
                await runner.cleanup()

    asyncio.run(run())


FILTER = {
    "an admitted pod passes the nodes of its pool, the others fail for good": (
        args(pod(level=4), "n1", "n3"),
        {
            "NodeNames": ["n1"],
            "FailedAndUnresolvableNodes": {"n3": "fairberth: WrongPool: " + Reason.WRONG_POOL.sentence},
        },
    ),
    "a nominated pod gets its one node echoed": (args(pod(level=4), "n1"), {"NodeNames": ["n1"]}),
    "a tenant's pod without admission is refused everywhere": (
        args(pod(), "n1", "n2"),
        {
            "NodeNames": [],
            "FailedAndUnresolvableNodes": dict.fromkeys(
                ("n1", "n2"), "fairberth: NotAdmitted: " + Reason.NOT_ADMITTED.sentence
            ),
        },
    ),
    "a pod of no tenant passes": (args(pod("free"), "n1", "n3"), {"NodeNames": ["n1", "n3"]}),
    "an exempt pod passes": (args(pod(**{EXEMPT: "daemonset"}), "n3"), {"NodeNames": ["n3"]}),
    "a node that is not known yet passes": (args(pod(level=4), "brand-new"), {"NodeNames": ["brand-new"]}),
    "no names, no nodes": (args(pod(level=4)), {"NodeNames": []}),
}


@pytest.mark.parametrize(("body", "expected"), FILTER.values(), ids=FILTER.keys())
def test_filter(body: dict[str, Any], expected: dict[str, Any]) -> None:
    async def scenario(call: Call, url: str) -> None:
        assert await call("filter", body) == expected

    on_server(scenario)


def test_a_malformed_grant_is_no_admission() -> None:
    forged = pod(level=4)
    forged["metadata"]["annotations"][ADMISSION] = "yes please"

    async def scenario(call: Call, url: str) -> None:
        assert (await call("filter", args(forged, "n1")))["NodeNames"] == []

    on_server(scenario)


def test_prioritize_packs_what_can_be_preempted_and_spreads_the_rest() -> None:
    async def scenario(call: Call, url: str) -> None:
        packed = await call("prioritize", args(pod(level=4), "n1", "n2"))
        assert packed == [{"Host": "n1", "Score": 0}, {"Host": "n2", "Score": 5}]
        spread = await call("prioritize", args(pod(level=0), "n1", "n2"))
        assert spread == [{"Host": "n1", "Score": 10}, {"Host": "n2", "Score": 5}]

    on_server(scenario)


BAD = {
    "not JSON": (b"hello", "the body is not JSON"),
    "truncated": (b'{"Pod": {"metadata": {"na', "the body is not JSON"),
    "a list": (b"[1]", "the body must be an object"),
    "lower-case keys": (b'{"pod": {}, "nodenames": []}', "keys are PascalCase"),
    "no pod": (b'{"NodeNames": []}', "Pod is missing"),
    "pod is null": (b'{"Pod": null, "NodeNames": []}', "Pod"),
    "full nodes instead of names": (
        json.dumps({"Pod": pod(level=4), "Nodes": {}, "NodeNames": None}).encode(),
        "NodeNames",
    ),
    "names are numbers": (json.dumps(args(pod(level=4)) | {"NodeNames": [1]}).encode(), "NodeNames"),
    "larger than 10 MiB": (b'{"Pod": "' + b"x" * (11 * 1024 * 1024) + b'"}', "larger than 10 MiB"),
}


@pytest.mark.parametrize(("body", "place"), BAD.values(), ids=BAD.keys())
def test_a_bad_body_is_answered_with_an_error_that_names_the_place_and_the_process_lives(
    body: bytes, place: str
) -> None:
    async def scenario(call: Call, url: str) -> None:
        for verb in ("filter", "prioritize"):
            assert place in (await call(verb, body))["Error"]
        assert (await call("filter", args(pod(level=4), "n1")))["NodeNames"] == ["n1"]

    on_server(scenario)


def test_until_the_caches_are_in_sync_every_call_is_an_error_and_not_a_verdict() -> None:
    async def scenario(call: Call, url: str) -> None:
        assert (await call("filter", args(pod(level=4), "n1"))) == {"Error": "fairberth: caches are not in sync yet"}
        async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as response:
            assert response.status == 503

    on_server(scenario, synced=False)


def test_an_unknown_verb_is_not_found() -> None:
    async def scenario(call: Call, url: str) -> None:
        async with aiohttp.ClientSession() as session, session.post(f"{url}/bind", data=b"{}") as response:
            assert response.status == 404

    on_server(scenario)


def test_connections_are_kept_longer_than_go_keeps_them() -> None:
    assert extender_app.KEEP_ALIVE > 90
    runner = extender_app.runner(web.Application())
    assert runner._kwargs["keepalive_timeout"] == extender_app.KEEP_ALIVE
