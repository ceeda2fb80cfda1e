"""kopf's part: events of our own four kinds, decoded and handed to the registry.

Only `on.event` handlers: they are level-triggered, add no finalizer and write nothing, so nothing of ours ever keeps
an object from being deleted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import aiohttp
import kopf

from fairberth.control.registry import SeenObject, seen
from fairberth.model.faults import KINDS, ObjectKey

GROUP, VERSION = "fairberth.io", "v1alpha1"
SESSION_SECONDS = 600  # tokens of service accounts live an hour at least, and are renewed well before

Login = Callable[[], Awaitable[tuple[str, aiohttp.ClientSession]]]


class ObjectStore(Protocol):
    """Who keeps the objects."""

    def see(self, *objects: SeenObject) -> None:
        """They were added or changed."""

    def forget(self, key: ObjectKey) -> None:
        """It was deleted."""


def register(registry: kopf.OperatorRegistry, store: ObjectStore, login: Login) -> None:
    """Register the handlers. `login` opens an authenticated session to the API server."""

    async def on_event(event: Mapping[str, Any], **_: Any) -> None:
        body = event["object"]
        if event["type"] == "DELETED":
            store.forget(ObjectKey(body["kind"], body["metadata"]["name"]))
        else:
            store.see(seen(body))

    for kind in KINDS:
        kopf.on.event(GROUP, VERSION, kind, registry=registry)(on_event)

    async def on_login(**_: Any) -> kopf.AiohttpSession:
        server, session = await login()
        until = datetime.now(UTC) + timedelta(seconds=SESSION_SECONDS)
        return kopf.AiohttpSession(server=server, aiohttp_session=session, expiration=until)

    kopf.on.login(registry=registry)(on_login)


def settings() -> kopf.OperatorSettings:
    """Every setting said, so that no default of another version surprises us."""
    made = kopf.OperatorSettings()
    made.posting.enabled = False
    made.scanning.disabled = True
    made.peering.standalone = True
    made.persistence.finalizer = "fairberth.io/kopf"
    made.watching.server_timeout = 120
    made.watching.client_timeout = 150
    made.watching.connect_timeout = 5
    made.networking.request_timeout = 10
    return made
