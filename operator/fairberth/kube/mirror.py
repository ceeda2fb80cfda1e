"""What a reflector has told its sink: just enough to say later what has changed, and what is gone.

It keeps a resourceVersion and a key per object, not the object. The sink hears of each object under the key that
`key` gives it (a uid, or a name); if that changes under one name, the old key is gone first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from fairberth.kube.frames import Meta, Unreadable, read_meta

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

Complain = Callable[[str], None]
"""Told of an object that can't be used: which one, and why."""


class Sink(Protocol[T_contra]):
    """Who hears of the objects. Called in order, on the event loop: it must be quick and must not raise."""

    def seen(self, value: T_contra, /) -> None:
        """An object is there, new or changed."""

    def gone(self, key: str, /) -> None:
        """An object that was seen is not there (any more, or not in the selection)."""

    def synced(self, /) -> None:
        """All that is there has been seen, and nothing else is kept: at the start and after each listing anew."""


class Mirror(Generic[T]):
    """Turns versions of objects into calls of the sink, each once."""

    def __init__(
        self, decode: Callable[[msgspec.Raw], T], key: Callable[[T], str], sink: Sink[T], complain: Complain
    ) -> None:
        """`decode` may raise anything: what can't be decoded is left out."""
        self._decode = decode
        self._key = key
        self._sink = sink
        self._complain = complain
        self._known: dict[str, tuple[str, str]] = {}  # namespace/name → resourceVersion, key
        self._listed: set[str] | None = None  # while everything is being listed: what has come so far

    def __len__(self) -> int:
        """How many objects the sink has seen and not seen gone."""
        return len(self._known)

    @property
    def listing(self) -> bool:
        """Whether a listing has begun and not ended."""
        return self._listed is not None

    def begin(self) -> None:
        """Everything will now be shown, whatever was shown in a listing that did not end."""
        self._listed = set()

    def end(self) -> None:
        """Everything has been shown: what was known and has not come is gone."""
        listed = self._listed or set()
        for name in [name for name in self._known if name not in listed]:
            self._forget(name)
        self._listed = None
        self._sink.synced()

    def show(self, raw: msgspec.Raw) -> str:
        """An object is there. Returns its resourceVersion, "" where even that can't be read."""
        meta = self._meta(raw)
        if meta is None:
            return ""
        name = f"{meta.namespace}/{meta.name}"
        if self._listed is not None:
            self._listed.add(name)
        known = self._known.get(name)
        if known is None or known[0] != meta.resourceVersion:
            self._tell(name, meta.resourceVersion, raw, known)
        return meta.resourceVersion

    def hide(self, raw: msgspec.Raw) -> str:
        """An object was deleted, or left the selection. Returns its last resourceVersion, "" where it can't be read."""
        meta = self._meta(raw)
        if meta is None:
            return ""
        self._forget(f"{meta.namespace}/{meta.name}")
        return meta.resourceVersion

    def _meta(self, raw: msgspec.Raw) -> Meta | None:
        try:
            return read_meta(raw)
        except Unreadable as error:
            self._complain(str(error))
            return None

    def _tell(self, name: str, version: str, raw: msgspec.Raw, known: tuple[str, str] | None) -> None:
        try:
            value = self._decode(raw)
            key = self._key(value)
        except Exception as error:  # the edge: whatever is wrong with one object must not stop the others
            # If it was seen before, its last good version stays: forgetting it would free what it really holds.
            self._complain(f"{name}: {type(error).__name__}: {error}")
            return
        if known is not None and known[1] != key:
            self._sink.gone(known[1])
        self._known[name] = (version, key)
        self._sink.seen(value)

    def _forget(self, name: str) -> None:
        known = self._known.pop(name, None)
        if self._listed is not None:
            self._listed.discard(name)
        if known is not None:
            self._sink.gone(known[1])
