"""The composition root: the only module that joins ports to adapters. It decides nothing."""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import logging
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import kopf
import msgspec
from aiohttp import web
from prometheus_client.aiohttp import make_aiohttp_handler

from fairberth.admission import app as admission_app
from fairberth.admission.mutate import Rules
from fairberth.api import decode, patches
from fairberth.control import feeds
from fairberth.control.answers import Answers
from fairberth.control.intake import Intake
from fairberth.control.registry import Registry, SeenObject, seen
from fairberth.control.statuses import Statuses
from fairberth.control.turn import Wheel
from fairberth.extender import app as extender_app
from fairberth.handlers import objects
from fairberth.kube.client import ApiClient
from fairberth.kube.credentials import Credentials
from fairberth.kube.lease import Lease, Terms
from fairberth.kube.mirror import Sink
from fairberth.kube.watch import Reflector, Trouble
from fairberth.kube.write import ApiWriter
from fairberth.model.faults import KINDS, ObjectKey
from fairberth.model.workload import Millis
from fairberth.observe.metrics import Metrics
from fairberth.observe.turns import TurnMetrics
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import Fact

_log = logging.getLogger("fairberth")
T = TypeVar("T")

LAST_WRITES = 10.0  # seconds that writes may take after we were told to stop

# Ended pods hold nothing: leaving them out of the watch turns their end into a deletion.
LIVE_PODS = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    """What the operator's command line says (see its --help)."""

    kubeconfig: str | None
    namespace: str
    lease_name: str
    identity: str | None
    lease_seconds: int
    scheduler_name: str
    webhook_host: str
    webhook_port: int
    tls_dir: Path | None
    safety_net: bool
    metrics_port: int


class WallClock:
    """The real clock."""

    def now(self) -> Millis:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


class Readiness:
    """Which caches are in sync; `everything` is set once all of them are."""

    def __init__(self, metrics: Metrics, kinds: tuple[str, ...]) -> None:
        self._metrics = metrics
        self._missing = set(kinds)
        self.everything = asyncio.Event()
        for kind in kinds:
            metrics.gauge("fairberth_synced").labels(kind).set(0)

    def synced(self, kind: str) -> None:
        """A cache is in sync (again)."""
        self._metrics.gauge("fairberth_synced").labels(kind).set(1)
        self._missing.discard(kind)
        if not self._missing and not self.everything.is_set():
            _log.info("all caches are in sync")
            self.everything.set()


def run_operator(options: OperatorOptions) -> None:
    """Run the operator until it is told to stop."""
    asyncio.run(_until_signal(operator(options)))


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        _log.info("stopped")


async def operator(options: OperatorOptions) -> None:
    """Everything that the operator's process does."""
    metrics = Metrics()
    clock = WallClock()
    this = asyncio.current_task()
    stop = this.cancel if this is not None else asyncio.get_running_loop().stop
    identity = options.identity or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
    async with ApiClient(Credentials.load(options.kubeconfig)) as client:
        lease = _lease(client, options, identity, metrics)
        # A write that was begun while we led must end before another can: see kube/lease.py.
        writer = ApiWriter(client, timeout=options.lease_seconds / 3)
        wheel = Wheel(ClusterState(), writer, clock, lease, TurnMetrics(metrics), identity=uuid.uuid4().hex[:8])
        registry = Registry(wheel.apply, frozenset({options.namespace}))
        ready = Readiness(metrics, ("pods", "nodes", "namespaces", "priorityclasses", "objects"))
        reflectors = _reflectors(client, wheel.apply, ready, metrics)
        statuses = Statuses(registry, wheel, wheel.performer, clock, lease)
        intake = Intake(wheel.state)
        metrics.gauge("fairberth_over_releases").set_function(lambda: wheel.state.over_releases)
        for kind in KINDS:
            faulty = metrics.gauge("fairberth_faulty_objects").labels(kind)
            faulty.set_function(functools.partial(registry.faulty, kind))
        async with AsyncExitStack() as stack:
            await _serve_health(stack, options.metrics_port, metrics, ready.everything.is_set)
            async with asyncio.TaskGroup() as group:
                for reflector in reflectors:
                    group.create_task(reflector.run())
                group.create_task(_priority_reflector(client, intake, ready, metrics).run())
                group.create_task(_watch_objects(client, registry, ready, stop))
                await ready.everything.wait()
                # What is there now stays: keep the collector from looking at it again and again.
                gc.collect()
                gc.freeze()
                await _serve_webhook(stack, group, options, intake, metrics)
                leading = asyncio.create_task(lease.run())
                stack.push_async_callback(_step_down, wheel, leading)
                group.create_task(wheel.run())
                group.create_task(statuses.run())


async def _step_down(wheel: Wheel, leading: asyncio.Task[None]) -> None:
    """Let what is being written end, and only then give up the lease: the next leader must see all of it."""
    with suppress(TimeoutError):
        await asyncio.wait_for(wheel.settled(), LAST_WRITES)
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class ExtenderOptions:
    """What the extender's command line says (see its --help)."""

    kubeconfig: str | None
    host: str
    port: int
    metrics_port: int


def run_extender(options: ExtenderOptions) -> None:
    """Run the extender until it is told to stop."""
    asyncio.run(_until_signal(extender(options)))


async def extender(options: ExtenderOptions) -> None:
    """Everything that the extender's process does: no kopf, no reconciling, nothing that could hold up a call."""
    metrics = Metrics()
    answers = Answers()
    registry = Registry(answers.apply)
    ready = Readiness(metrics, ("pods", "nodes", "namespaces", *patches.PLURALS.values()))
    async with ApiClient(Credentials.load(options.kubeconfig)) as client, AsyncExitStack() as stack:
        synced = ready.everything.is_set
        await _serve_health(stack, options.metrics_port, metrics, synced)
        runner = extender_app.runner(extender_app.application(answers, synced, metrics))
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, options.host, options.port).start()
        _log.info("answering on %s:%d", options.host, options.port)
        async with asyncio.TaskGroup() as group:
            for reflector in _reflectors(client, answers.apply, ready, metrics):
                group.create_task(reflector.run())
            for kind, plural in patches.PLURALS.items():
                group.create_task(_object_reflector(client, kind, plural, registry, ready, metrics).run())
            await ready.everything.wait()
            gc.collect()
            gc.freeze()


@dataclass(frozen=True, slots=True)
class _ObjectFeed:
    """Our own objects of one kind, for a registry."""

    kind: str
    plural: str
    registry: Registry
    ready: Readiness

    def seen(self, value: SeenObject, /) -> None:
        self.registry.see(value)

    def gone(self, key: str, /) -> None:
        self.registry.forget(ObjectKey(self.kind, key))

    def synced(self, /) -> None:
        self.ready.synced(self.plural)


def _object_reflector(
    client: ApiClient, kind: str, plural: str, registry: Registry, ready: Readiness, metrics: Metrics
) -> Reflector[SeenObject]:
    def decoder(raw: msgspec.Raw) -> SeenObject:
        return seen({"kind": kind, **msgspec.json.decode(raw)})

    sink = _ObjectFeed(kind, plural, registry, ready)
    path = f"{patches.GROUP_PATH}/{plural}"
    return _reflector(client, path, decoder, lambda value: value.key.name, sink, metrics, plural)


@dataclass(frozen=True, slots=True)
class _PriorityFeed:
    """The cluster's PriorityClasses, for the webhook."""

    intake: Intake
    ready: Readiness

    def seen(self, value: tuple[str, int], /) -> None:
        self.intake.seen(value)

    def gone(self, key: str, /) -> None:
        self.intake.gone(key)

    def synced(self, /) -> None:
        self.ready.synced("priorityclasses")


def _priority_reflector(
    client: ApiClient, intake: Intake, ready: Readiness, metrics: Metrics
) -> Reflector[tuple[str, int]]:
    path, sink = "/apis/scheduling.k8s.io/v1/priorityclasses", _PriorityFeed(intake, ready)
    return _reflector(client, path, decode.priority_class, lambda value: value[0], sink, metrics, "priorityclasses")


async def _serve_webhook(
    stack: AsyncExitStack, group: asyncio.TaskGroup, options: OperatorOptions, intake: Intake, metrics: Metrics
) -> None:
    """Serve the admission webhook, once the caches can answer for it."""
    if not options.webhook_port or options.tls_dir is None:
        return
    certificate = admission_app.Certificate(options.tls_dir)
    rules = Rules(options.scheduler_name, options.safety_net)
    app = admission_app.application(intake, rules, metrics)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=admission_app.KEEP_ALIVE)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, options.webhook_host, options.webhook_port, ssl_context=certificate.context).start()
    group.create_task(certificate.keep_fresh())


def _lease(client: ApiClient, options: OperatorOptions, identity: str, metrics: Metrics) -> Lease:
    def changed(held: bool) -> None:
        metrics.gauge("fairberth_leader").set(held)
        _log.info("%s", "we lead" if held else "we do not lead")

    seconds = options.lease_seconds
    terms = Terms(lease_duration=seconds, renew_deadline=seconds * 2 / 3, retry=seconds * 2 / 15)
    return Lease(
        client,
        options.namespace,
        options.lease_name,
        identity,
        terms=terms,
        on_change=changed,
        on_trouble=lambda details: _log.warning("%s", details),
    )


def _reflectors(
    client: ApiClient, apply: Callable[[Fact], None], ready: Readiness, metrics: Metrics
) -> tuple[Reflector[Any], ...]:
    told = ready.synced
    pods = _reflector(
        client, "/api/v1/pods", decode.pod, lambda pod: pod.uid, feeds.pods(apply, told), metrics, "pods", LIVE_PODS
    )
    nodes = _reflector(
        client, "/api/v1/nodes", decode.node, lambda node: node.name, feeds.nodes(apply, told), metrics, "nodes"
    )
    namespaces = _reflector(
        client,
        "/api/v1/namespaces",
        decode.namespace,
        lambda namespace: namespace.name,
        feeds.namespaces(apply, told),
        metrics,
        "namespaces",
    )
    return pods, nodes, namespaces


def _reflector(
    client: ApiClient,
    path: str,
    decoder: Callable[[msgspec.Raw], T],
    key: Callable[[T], str],
    sink: Sink[T],
    metrics: Metrics,
    kind: str,
    selectors: dict[str, str] | None = None,
) -> Reflector[T]:
    def report(trouble: Trouble, details: str) -> None:
        _log.warning("watch of %s: %s: %s", kind, trouble, details)
        if trouble == "undecodable":
            metrics.counter("fairberth_undecodable_total").labels(kind).inc()

    reflector: Reflector[T] = Reflector(
        client, path, decode=decoder, key=key, sink=sink, selectors=selectors or {}, report=report
    )
    metrics.gauge("fairberth_relists").labels(kind).set_function(lambda: reflector.relists)
    metrics.gauge("fairberth_last_event_age_seconds").labels(kind).set_function(lambda: reflector.last_event_age)
    return reflector


async def _watch_objects(client: ApiClient, registry: Registry, ready: Readiness, stop: Callable[[], object]) -> None:
    """List our own objects once, so that we know when we know them all; then kopf tells of every change."""
    for kind, plural in patches.PLURALS.items():
        items = await _list_objects(client, plural)
        registry.see(*(seen({"kind": kind, **item}) for item in items))
    ready.synced("objects")
    handlers = kopf.OperatorRegistry()
    objects.register(handlers, registry, client.session)
    await kopf.operator(registry=handlers, settings=objects.settings(), standalone=True, clusterwide=True)
    stop()  # kopf takes the signals for itself, and returns when it was told to stop


async def _list_objects(client: ApiClient, plural: str) -> list[dict[str, Any]]:
    while True:
        answer = await client.request("GET", f"{patches.GROUP_PATH}/{plural}")
        if answer.status == 200:
            items: list[dict[str, Any]] = json.loads(answer.body)["items"]
            return items
        _log.warning("cannot list %s: HTTP %d %s", plural, answer.status, answer.body[:200].decode(errors="replace"))
        await asyncio.sleep(0.5)


async def _serve_health(
    stack: AsyncExitStack, port: int, metrics: Metrics, ready: Callable[[], bool], host: str = "0.0.0.0"
) -> None:
    """Serve /metrics, /healthz and /readyz."""
    if not port:
        return

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ok") if ready() else web.Response(status=503, text="caches are not in sync")

    app = web.Application()
    app.router.add_get("/metrics", make_aiohttp_handler(metrics.registry))
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, host, port).start()
