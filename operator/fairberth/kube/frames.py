"""The frames around objects: pages of a list and events of a watch, with the objects left encoded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, TypeVar

import msgspec

from fairberth.kube.client import ApiClient, Query
from fairberth.kube.errors import Refused, classify, parse_status

F = TypeVar("F")

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class Unreadable(Exception):
    """The server sent something that is no page or event: nothing after it can be trusted."""


class Meta(msgspec.Struct):
    """The part of an object's `metadata` that tells one version of one object."""

    name: str = ""
    namespace: str = ""
    resourceVersion: str = ""
    annotations: msgspec.Raw = msgspec.Raw(b"null")


class Head(msgspec.Struct):
    """An object as far as the reflector itself reads it."""

    metadata: Meta


class PageMeta(msgspec.Struct):
    """A page's own metadata; without a `continue` token it is the last."""

    resourceVersion: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class Page(msgspec.Struct):
    """A page of a list."""

    metadata: PageMeta
    items: list[msgspec.Raw] | None = None


class Event(msgspec.Struct):
    """A line of a watch."""

    type: str
    object: msgspec.Raw


_head = msgspec.json.Decoder(Head)
_page = msgspec.json.Decoder(Page)
_event = msgspec.json.Decoder(Event)
_annotations = msgspec.json.Decoder(dict[str, str] | None)


def read_meta(raw: bytes) -> Meta:
    """The metadata of an encoded object. Raises Unreadable."""
    return _read(_head, raw, "an object's metadata").metadata


def read_event(line: bytes) -> Event:
    """A line of a watch. Raises Unreadable."""
    return _read(_event, line, "a line of the watch")


def ends_initial_events(bookmark: Meta) -> bool:
    """Whether this bookmark says that all objects have been sent. Raises Unreadable."""
    annotations = _read(_annotations, bookmark.annotations, "a bookmark's annotations") or {}
    return annotations.get(INITIAL_EVENTS_END) == "true"


def status_of(error: bytes) -> Refused:
    """The refusal in an ERROR event."""
    code = parse_status(error).code or 500
    return Refused(code, classify(code, error))


async def pages(client: ApiClient, path: str, selectors: Query, *, limit: int, within: float) -> AsyncIterator[Page]:
    """The pages of a list, of `limit` objects each, each `within` seconds.

    Raises Refused (410 if the list has grown too old to go on), Unreadable, and one of `errors.NO_ANSWER`.
    """
    query = {**selectors, "limit": str(limit)}
    while True:
        answer = await client.request("GET", path, query=query, within=within)
        if answer.status != 200:
            raise Refused(answer.status, classify(answer.status, answer.body, answer.retry_after))
        page = _read(_page, answer.body, "a page of the list")
        yield page
        if not page.metadata.continue_:
            return
        query["continue"] = page.metadata.continue_


def _read(decoder: msgspec.json.Decoder[F], raw: bytes, what: str) -> F:
    try:
        return decoder.decode(raw)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"{what}: {error}") from error
