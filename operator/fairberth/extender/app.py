"""The extender's HTTP server: loopback, one process, nothing else in its loop.

Whatever goes wrong is answered 200 with `Error`: kube-scheduler throws away the body of any other status, and takes
200 with `Error` for a failure that is retried. Connections are kept longer than the 90 s after which Go gives them up,
so that it never meets one that we just closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

from aiohttp import web

from fairberth.control.answers import Answers
from fairberth.extender import verbs, wire
from fairberth.model.reasons import Reason

KEEP_ALIVE: Final = 120.0  # seconds
MOST_BYTES: Final = 10 * 1024 * 1024
_TOO_LARGE: Final = wire.error("fairberth: bad request: the body is larger than 10 MiB")
_BROKEN: Final = wire.error("fairberth: bad request: the body was cut off")


class ExtenderMetrics(Protocol):
    """Who counts calls."""

    def observe(self, verb: str, seconds: float) -> None:
        """A call took so long."""

    def verdict(self, reason: Reason) -> None:
        """A call was answered so."""


def application(answers: Answers, synced: Callable[[], bool], metrics: ExtenderMetrics) -> web.Application:
    """The server's application: POST /filter and /prioritize, GET /healthz and /readyz."""

    async def call(request: web.Request) -> web.Response:
        verb = request.match_info["verb"]
        answer = verbs.VERBS.get(verb)
        if answer is None:
            raise web.HTTPNotFound(text=f"no verb {verb!r}: filter, prioritize")
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return _json(_TOO_LARGE, close=True)
        except (web.HTTPException, ConnectionError):
            return _json(_BROKEN, close=True)
        started = time.perf_counter()
        if not synced():
            return _json(verbs.NOT_SYNCED)
        try:
            reply = answer(body, answers)
        except wire.BadBody as bad:
            return _json(wire.error(str(bad)))
        metrics.verdict(reply.reason)
        metrics.observe(verb, time.perf_counter() - started)
        return _json(reply.body)

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ok") if synced() else web.Response(status=503, text="caches are not in sync")

    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post("/{verb}", call)
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    return app


def runner(app: web.Application) -> web.AppRunner:
    """Serve it with connections that outlive kube-scheduler's own patience."""
    return web.AppRunner(app, access_log=None, keepalive_timeout=KEEP_ALIVE)


def _json(body: bytes, *, close: bool = False) -> web.Response:
    response = web.Response(body=body, content_type="application/json")
    if close:
        response.force_close()
    return response
