"""An API server that follows a script, and remembers what it was asked."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from kubernetes.client import Configuration

from fairberth.kube.client import ApiClient
from fairberth.kube.credentials import Credentials

PODS = "/api/v1/pods"
WITHIN = 20.0  # seconds until a test that waits for something gives up

Object = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request as the server got it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """A whole answer. `dropped` closes the connection without any."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False


@dataclass(frozen=True)
class Stream:
    """A watch: chunks as they are cut, then a clean end, a `broken` connection, or (`open`) silence for ever."""

    chunks: tuple[bytes, ...] = ()
    open: bool = False
    broken: bool = False


Answer = Reply | Stream
SILENCE: Answer = Stream(open=True)


class Stub:
    """Gives one answer of the script per request, in order; then silence."""

    def __init__(self, script: Iterable[Answer] = ()) -> None:
        """The script may be extended later, through `script`."""
        self.script = deque(script)
        self.asked: list[Asked] = []
        self.url = ""
        self._stopping = asyncio.Event()

    def queries(self) -> list[Mapping[str, str]]:
        """The query of each request so far."""
        return [request.query for request in self.asked]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers any request."""
        self.asked.append(
            Asked(request.method, request.path, dict(request.query), dict(request.headers), await request.read())
        )
        match self.script.popleft() if self.script else SILENCE:
            case Reply(dropped=True):
                _hang_up(request)
                return web.Response()
            case Reply(status, body, headers):
                return web.Response(status=status, body=body, headers=headers)
            case Stream() as stream:
                return await self._stream(request, stream)

    async def _stream(self, request: web.Request, stream: Stream) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in stream.chunks:
            await response.write(chunk)
            await asyncio.sleep(0)  # so that the chunks arrive one by one
        if stream.open:
            await self._stopping.wait()
        if stream.broken:
            _hang_up(request)
        return response

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Stub"]:
        """Listens on a free port of this machine."""
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            self._stopping.set()
            await runner.cleanup()


def _hang_up(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.close()


@asynccontextmanager
async def client_of(url: str, token: str = "") -> AsyncIterator[ApiClient]:
    """A client of a server at this address."""
    configuration = Configuration(host=url)
    configuration.api_key = {"BearerToken": f"bearer {token}"} if token else {}
    async with ApiClient(Credentials(lambda: configuration), timeout=WITHIN) as client:
        yield client


def pod(name: str, version: int, uid: str = "", **more: object) -> Object:
    """A pod as small as the reflector can read it; its key in the tests is its uid (`uid-of-<name>` by default)."""
    meta = {"namespace": "bank", "name": name, "uid": uid or f"uid-of-{name}", "resourceVersion": str(version)}
    return {"metadata": meta, **more}


def page(*items: Object, version: int = 1, token: str = "") -> Answer:
    """A page of a list; with a token there are more."""
    meta = {"resourceVersion": str(version), **({"continue": token} if token else {})}
    return Reply(body=json.dumps({"kind": "PodList", "metadata": meta, "items": items}).encode())


def line(kind: str, obj: Object) -> bytes:
    """A line of a watch."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def bookmark(version: int, ends_list: bool = False) -> bytes:
    """A bookmark line; `ends_list` marks the end of the initial events."""
    annotations = {"annotations": {"k8s.io/initial-events-end": "true"}} if ends_list else {}
    return line("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version), **annotations}})


def status(code: int, reason: str = "", message: str = "", **details: object) -> Object:
    """A Status object that says no."""
    return {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }


def refusal(
    code: int, reason: str = "", message: str = "", retry_after: str | None = None, **details: object
) -> Answer:
    """An answer that says no."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(code, json.dumps(status(code, reason, message, **details)).encode(), headers)
