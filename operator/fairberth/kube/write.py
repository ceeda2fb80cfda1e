"""Writes to the API server: a bounded number at a time, each answered by an outcome instead of an exception."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from fairberth.api.requests import Request
from fairberth.kube.client import ApiClient
from fairberth.kube.errors import NO_ANSWER, classify, classify_exception
from fairberth.model.outcomes import Outcome

WriteObserver = Callable[[Request, Outcome, float], None]
"""Told of each write: what was asked, what became of it, and how many seconds it took on the wire."""


def _unobserved(_request: Request, _outcome: Outcome, _seconds: float) -> None:
    return None


class ApiWriter:
    """Sends requests; the same one may be sent again after a Retry, so a request must be safe to repeat."""

    def __init__(
        self,
        client: ApiClient,
        *,
        in_flight: int = 50,
        timeout: float = 5.0,
        observe: WriteObserver = _unobserved,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """At most `in_flight` at a time, the others wait for their turn; `timeout` in seconds for each."""
        self._client = client
        self._slots = asyncio.Semaphore(in_flight)
        self._timeout = timeout
        self._observe = observe
        self._clock = clock

    async def send(self, request: Request) -> Outcome:
        """What became of it. Retry where no answer came, though the server may have done it then."""
        async with self._slots:
            started = self._clock()
            outcome = await self._attempt(request)
            seconds = self._clock() - started
        self._observe(request, outcome, seconds)
        return outcome

    async def _attempt(self, request: Request) -> Outcome:
        try:
            answer = await self._client.request(
                request.method,
                request.path,
                request.body or None,
                content_type=request.content_type,
                within=self._timeout,
            )
        except NO_ANSWER as error:
            return classify_exception(error)
        return classify(answer.status, answer.body, answer.retry_after)
