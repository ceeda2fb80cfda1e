"""The operator's start: 50 000 pods and 5000 nodes through the real reflectors and decoders into the state."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

from fairberth.api import decode
from fairberth.control import feeds
from fairberth.kube.client import ApiClient
from fairberth.kube.credentials import Credentials
from fairberth.kube.watch import Pace, Reflector
from fairberth.policy.snapshot import Setup
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import NamespaceSeen, SetupChanged
from tests.bench.figures import Figures
from tests.cluster.plane import objects
from tests.cluster.plane.ports import free_ports
from tests.kit import builders

PODS, NODES, TENANTS = 50_000, 5000, 200
_FILLER = "x" * 1500  # to the size of an ordinary pod, about 3 KB with the rest


def _pod(index: int) -> dict[str, Any]:
    made = objects.pod(f"pod-{index:05}", f"t{index % TENANTS:03}", cpu="1", gates=["fairberth.io/turn"])
    made["metadata"] |= {
        "uid": f"{index:032x}",
        "resourceVersion": str(index + 1),
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"note": _FILLER},
    }
    return made


def _node(index: int) -> dict[str, Any]:
    made = objects.node(f"node-{index:04}", cpu="32", memory="128Gi")
    made["metadata"] |= {
        "uid": f"n{index}",
        "resourceVersion": str(index + 1),
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    return made


def _serve(port: int, ready: Any) -> None:
    """A server of both lists, in pages, with watches that say nothing."""
    lists = {
        "pods": [json.dumps(_pod(index)) for index in range(PODS)],
        "nodes": [json.dumps(_node(index)) for index in range(NODES)],
    }

    async def listed(request: web.Request) -> web.StreamResponse:
        items = lists[request.match_info["kind"]]
        if request.query.get("watch"):
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.sleep(3600)
            return response
        start, limit = int(request.query.get("continue") or 0), int(request.query["limit"])
        more = str(start + limit) if start + limit < len(items) else ""
        metadata = json.dumps({"resourceVersion": "9", "continue": more})
        body = f'{{"metadata":{metadata},"items":[{",".join(items[start : start + limit])}]}}'
        return web.Response(text=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/api/v1/{kind}", listed)
    web.run_app(app, host="127.0.0.1", port=port, print=lambda *_: ready.set(), handle_signals=False)


def run(figures: Figures) -> None:
    """Seconds until both are in sync, and what the process then weighs more than before."""
    ready = multiprocessing.Event()
    port = free_ports(1)[0]
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(port, ready), daemon=True)
    server.start()
    ready.wait(120)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, state = asyncio.run(_sync(port))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    server.terminate()
    server.join()
    assert len(state.pods) == PODS
    figures.add(f"reflectors, {PODS} pods and {NODES} nodes → in sync", seconds, "s")
    figures.add("the same, memory that it takes at most", grown, "MiB")


async def _sync(port: int) -> tuple[float, ClusterState]:
    state = ClusterState()
    names = [f"t{index:03}" for index in range(TENANTS)]
    tenants = {name: builders.tenant(name) for name in names}
    state.apply(SetupChanged(Setup.of(tenants, {}, Setup().policy, {"main": builders.pool()})))
    for name in names:
        state.apply(NamespaceSeen(builders.namespace(name, name)))
    left = {"pods", "nodes"}
    done = asyncio.Event()

    def told(kind: str) -> None:
        left.discard(kind)
        if not left:
            done.set()

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        config.write_text(yaml.safe_dump(_kubeconfig(port)))
        async with ApiClient(Credentials.load(str(config))) as client:
            pace = Pace(stream_list=False)
            pods: Reflector[Any] = Reflector(
                client,
                "/api/v1/pods",
                decode=decode.pod,
                key=lambda pod: pod.uid,
                sink=feeds.pods(state.apply, told),
                pace=pace,
            )
            nodes: Reflector[Any] = Reflector(
                client,
                "/api/v1/nodes",
                decode=decode.node,
                key=lambda n: n.name,
                sink=feeds.nodes(state.apply, told),
                pace=pace,
            )
            started = time.perf_counter()
            tasks = [asyncio.create_task(reflector.run()) for reflector in (pods, nodes)]
            await done.wait()
            state.snapshot(0)
            seconds = time.perf_counter() - started
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return seconds, state


def _kubeconfig(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "b", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "b", "user": {"token": "none"}}],
        "contexts": [{"name": "b", "context": {"cluster": "b", "user": "b"}}],
        "current-context": "b",
    }
