"""Our own objects as last seen: which are in force, and what each is to be told about itself.

Level-triggered: whatever changes, everything is resolved anew, so the order of events never matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairberth.api import decode, status
from fairberth.model.faults import Fault, InvalidInput, ObjectKey
from fairberth.policy.configuration import Resolution, Spec, resolve
from fairberth.policy.snapshot import Setup
from fairberth.state.facts import SetupChanged


@dataclass(frozen=True, slots=True)
class SeenObject:
    """One object of ours. `spec` is None where it does not decode, and `faults` says why; `last_good` is what its
    status remembers as in force; `source` is the spec as its author wrote it, `ready` its condition as last seen."""

    key: ObjectKey
    uid: str
    generation: int
    spec: Spec | None
    faults: tuple[Fault, ...] = ()
    last_good: Spec | None = None
    source: Mapping[str, Any] | None = None
    ready: Mapping[str, Any] | None = field(default=None, compare=False)


def seen(body: Mapping[str, Any]) -> SeenObject:
    """Decode an object of ours; what is wrong with it becomes its faults."""
    metadata = body["metadata"]
    spec: Spec | None = None
    faults: tuple[Fault, ...] = ()
    try:
        spec = decode.manifest(body)
    except InvalidInput as error:
        faults = error.faults
    conditions = (body.get("status") or {}).get("conditions") or ()
    return SeenObject(
        key=ObjectKey(body["kind"], metadata["name"]),
        uid=metadata.get("uid", ""),
        generation=metadata.get("generation", 0),
        spec=spec,
        faults=faults,
        last_good=decode.in_force(body),
        source=body.get("spec"),
        ready=next((c for c in conditions if c.get("type") == status.READY), None),
    )


class Registry:
    """Keeps the objects; `changed` is told of each new setup."""

    def __init__(self, changed: Callable[[SetupChanged], None], reserved: frozenset[str] = frozenset()) -> None:
        self._changed = changed
        self._reserved = reserved | {"kube-system"}
        self._objects: dict[ObjectKey, SeenObject] = {}
        self._in_force: dict[ObjectKey, tuple[str, Spec]] = {}  # with the uid of the object that it came from
        self.resolution: Resolution = resolve({}, {})

    def objects(self) -> tuple[SeenObject, ...]:
        """All objects, in a fixed order."""
        return tuple(self._objects[key] for key in sorted(self._objects))

    def faults(self, key: ObjectKey) -> tuple[Fault, ...]:
        """What is wrong with an object: what it shows itself, and what shows only beside others."""
        return (*self._objects[key].faults, *self.resolution.faults.get(key, ()))

    def faulty(self, kind: str) -> int:
        """How many objects of a kind are not in force as written."""
        return sum(1 for key in self._objects if key.kind == kind and self.faults(key))

    def see(self, *objects: SeenObject) -> None:
        """Objects were added or changed."""
        new = False
        for seen in objects:
            new |= self._objects.get(seen.key) != seen
            self._objects[seen.key] = seen
        if new:
            self._resolve()

    def forget(self, key: ObjectKey) -> None:
        """An object was deleted."""
        if self._objects.pop(key, None) is not None:
            self._resolve()

    def _resolve(self) -> None:
        latest = {key: seen.spec for key, seen in self._objects.items() if seen.spec is not None}
        last_good = {key: spec for key, seen in self._objects.items() if (spec := self._good(seen)) is not None}
        before = self.resolution
        self.resolution = resolve(latest, last_good)
        self._in_force = {key: (self._objects[key].uid, spec) for key, spec in self.resolution.in_force.items()}
        if self.resolution.setup != before.setup:
            self._changed(SetupChanged(self.setup()))

    def _good(self, seen: SeenObject) -> Spec | None:
        known = self._in_force.get(seen.key)
        return known[1] if known is not None and known[0] == seen.uid else seen.last_good

    def setup(self) -> Setup:
        """The setup in force, with the namespaces that no tenant may own."""
        return replace(self.resolution.setup, reserved=self._reserved)
