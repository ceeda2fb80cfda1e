"""The webhook's HTTPS server: POST /mutate/pods. Its certificate is read again when the files change."""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import Final, Protocol

from aiohttp import web

from fairberth.admission import mutate, wire

MOST_BYTES: Final = 10 * 1024 * 1024
KEEP_ALIVE: Final = 120.0  # seconds; the API server keeps idle connections for 90
CHECK_EVERY: Final = 10.0  # seconds between looks at the certificate's files
_log = logging.getLogger("fairberth.admission")


class ReviewMetrics(Protocol):
    """Who counts answers."""

    def reviewed(self, answer: str) -> None:
        """A review was answered ``allowed``, ``denied`` or ``bad``."""


def application(classifier: mutate.Classifier, rules: mutate.Rules, metrics: ReviewMetrics) -> web.Application:
    """The server's application. It changes nothing but its answers, so dry runs need no care."""

    async def pods(request: web.Request) -> web.Response:
        try:
            asked = wire.question(await request.read())
        except wire.BadReview as bad:
            metrics.reviewed("bad")
            return web.Response(status=400, text=str(bad))
        user = asked.userInfo
        try:
            result = mutate.review(asked.object, asked.namespace, user.username, user.groups, classifier, rules)
        except ValueError as bad:  # the pod does not decode; the API server will refuse it with a better word
            result = mutate.Refusal(400, "BadRequest", f"fairberth: {bad}")
        if isinstance(result, mutate.Refusal):
            metrics.reviewed("denied")
            body = wire.denied(asked.uid, result.code, result.reason, result.message)
        else:
            metrics.reviewed("allowed")
            body = wire.allowed(asked.uid, result)
        return web.Response(body=body, content_type="application/json")

    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post("/mutate/pods", pods)
    return app


class Certificate:
    """A serving certificate in a folder (``tls.crt``, ``tls.key``), reloaded in place when it is renewed."""

    def __init__(self, folder: Path) -> None:
        self._chain = folder / "tls.crt"
        self._key = folder / "tls.key"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._loaded = self._stamp()
        self.context.load_cert_chain(self._chain, self._key)

    def _stamp(self) -> tuple[int, int]:
        return self._chain.stat().st_mtime_ns, self._key.stat().st_mtime_ns

    def reload(self) -> bool:
        """Load it again if the files changed; new connections use it at once. Returns whether it was."""
        stamp = self._stamp()
        if stamp == self._loaded:
            return False
        self.context.load_cert_chain(self._chain, self._key)
        self._loaded = stamp
        return True

    async def keep_fresh(self) -> None:
        """Look for a renewed certificate, for ever. A half-written pair is tried again at the next look."""
        while True:
            await asyncio.sleep(CHECK_EVERY)
            try:
                if self.reload():
                    _log.info("loaded a renewed certificate")
            except (OSError, ssl.SSLError) as error:
                _log.warning("the renewed certificate cannot be loaded (yet): %s", error)
