"""HTTP to the API server: one session, credentials that stay fresh, a timeout on everything. It decides nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from fairberth.api.requests import JSON
from fairberth.kube.credentials import Credentials
from fairberth.kube.errors import Refused, classify

Query = Mapping[str, str]
NO_QUERY: Final[Query] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer: code, whole body, and the `Retry-After` header if there was one."""

    status: int
    body: bytes
    retry_after: str | None = None


class ApiClient:
    """The API server as one account sees it. Use it as a context manager, or `close` it."""

    def __init__(self, credentials: Credentials, *, connections: int = 64, timeout: float = 5.0) -> None:
        """At most `connections` at a time, watches included; `timeout` in seconds for what is not a watch."""
        self._credentials = credentials
        self._connections = connections
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        content_type: str = JSON,
        query: Query = NO_QUERY,
        within: float | None = None,
    ) -> Answer:
        """One request. Any status is an answer; where none comes `within` seconds, one of `errors.NO_ANSWER`."""
        limits = aiohttp.ClientTimeout(total=self._timeout if within is None else within)
        headers = {"Content-Type": content_type} if body is not None else {}
        async with self._open(method, path, query, limits, headers, body) as response:
            return Answer(response.status, await response.read(), response.headers.get("Retry-After"))

    @asynccontextmanager
    async def stream(self, path: str, query: Query, *, inactivity: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """The chunks of a GET's body as they come; `inactivity` seconds without one is a timeout.

        Raises Refused where the status is not 200, and one of `errors.NO_ANSWER` on opening or between chunks.
        """
        limits = aiohttp.ClientTimeout(total=None, connect=self._timeout, sock_read=inactivity)
        async with self._open("GET", path, query, limits, {}, None) as response:
            if response.status != 200:
                body = await response.read()
                raise Refused(response.status, classify(response.status, body, response.headers.get("Retry-After")))
            yield response.content.iter_any()

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        query: Query,
        limits: aiohttp.ClientTimeout,
        headers: dict[str, str],
        body: bytes | None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        access = await self._credentials.access()
        if access.authorization:
            headers["Authorization"] = access.authorization
        # Without TLS there is nothing to verify; aiohttp then wants its default.
        tls: dict[str, Any] = {"ssl": access.tls, "server_hostname": access.server_name} if access.tls else {}
        async with self._opened().request(
            method,
            access.url + path,
            params=query,
            data=body,
            headers=headers,
            timeout=limits,
            proxy=access.proxy,
            allow_redirects=False,
            **tls,
        ) as response:
            if response.status == 401:
                self._credentials.refused()
            yield response

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                # The server is near: packing a list costs both sides more than it saves.
                headers={"Accept": JSON, "Accept-Encoding": "identity", "User-Agent": "fairberth"},
            )
        return self._session

    async def session(self) -> tuple[str, aiohttp.ClientSession]:
        """The server's address, and a new session that authenticates as we do, for a library with a client of its
        own. It carries the token of now: ask again before that runs out. The caller closes it."""
        access = await self._credentials.access()
        headers = {"Authorization": access.authorization} if access.authorization else {}
        connector = aiohttp.TCPConnector(ssl=access.tls if access.tls is not None else True)
        return access.url, aiohttp.ClientSession(connector=connector, headers=headers, proxy=access.proxy)

    async def close(self) -> None:
        """Closes all connections, for good. End the tasks that use it first."""
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()
