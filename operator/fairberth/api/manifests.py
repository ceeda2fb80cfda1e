"""Our own kinds: from a manifest, as users write it, to the values that decisions see, or to every fault in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from pydantic import ValidationError

from fairberth.api import times
from fairberth.api.v1alpha1 import capacitypool, fairnesspolicy, prioritysla, shared, tenant
from fairberth.api.values import Value, value
from fairberth.model.faults import Fault, InvalidInput

API_VERSION = "fairberth.io/v1alpha1"
_M = TypeVar("_M", bound=shared.Model)

_KINDS: Mapping[str, type[shared.Model]] = {
    "Tenant": tenant.Tenant,
    "PrioritySLA": prioritysla.PrioritySLA,
    "FairnessPolicy": fairnesspolicy.FairnessPolicy,
    "CapacityPool": capacitypool.CapacityPool,
}


def manifest(obj: Mapping[str, Any]) -> Value:
    """Decode one of our objects. Raises InvalidInput with every fault and its path."""
    kind, metadata = str(obj.get("kind", "")), _mapping(obj.get("metadata"))
    name = str(metadata.get("name") or "")
    where = f"{kind or 'object'}/{name}" if name else kind or "object"
    if kind not in _KINDS:
        raise InvalidInput(where, (Fault("kind", f"{kind!r} is none of {', '.join(_KINDS)}"),))
    top = tuple(sorted(_top_level(obj, metadata)))
    if top:
        raise InvalidInput(where, top)
    spec = obj.get("spec")
    read = _read(_KINDS[kind], {"spec": {} if spec is None else spec}, where)
    faults = tuple(sorted(_faults(read, name)))
    if faults:
        raise InvalidInput(where, faults)
    return value(read, name, _created(metadata))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _top_level(obj: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Fault]:
    known = ("apiVersion", "kind", "metadata", "spec", "status")
    for name in obj:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            yield Fault(str(name), "is not a field here" + (f"; did you mean `{close[0]}`?" if close else ""))
    if obj.get("apiVersion", API_VERSION) != API_VERSION:
        yield Fault("apiVersion", f"{obj['apiVersion']!r} is not {API_VERSION}")
    if not metadata.get("name"):
        yield Fault("metadata.name", "is missing")
    elif not isinstance(metadata["name"], str):
        yield Fault("metadata.name", f"must be a text (got {metadata['name']!r})")
    try:
        _created(metadata)
    except ValueError:
        yield Fault("metadata.creationTimestamp", f"{metadata['creationTimestamp']!r} is not a time")


def in_force(obj: Mapping[str, Any]) -> Value | None:
    """The version that the object's status remembers as in force; None if there is none, or none that still reads."""
    remembered = _mapping(_mapping(obj.get("status")).get("inForce")).get("spec")
    if remembered is None:
        return None
    try:
        return manifest({**obj, "spec": remembered})
    except InvalidInput:
        return None


def _created(metadata: Mapping[str, Any]) -> int:
    written = metadata.get("creationTimestamp")
    return times.millis(written if isinstance(written, datetime) else str(written)) if written else 0


# -- faults -------------------------------------------------------------------------------------------------------


def _read(model: type[_M], body: Mapping[str, Any], where: str) -> _M:
    try:
        encoded = msgspec.json.encode(body)
    except (TypeError, msgspec.MsgspecError) as error:
        raise InvalidInput(where, (Fault("spec", f"is not plain YAML or JSON: {error}"),)) from None
    try:
        return model.model_validate_json(encoded, strict=True)
    except ValidationError as error:
        found = {fault for detail in error.errors(include_url=False) for fault in _found(detail, model)}
        raise InvalidInput(where, tuple(sorted(found))) from None


def _found(detail: Any, model: type[shared.Model]) -> Iterator[Fault]:
    location = [part for part in detail["loc"] if part not in ("int", "str", "[key]")]
    wrong = (detail.get("ctx") or {}).get("error")
    if isinstance(wrong, shared.Misfit):
        for below, message in wrong.faults:
            joint = "" if below.startswith("[") or not location else "."
            yield Fault(f"{path_of(location)}{joint}{below}", message)
    else:
        yield _fault(detail, location, model)


def _fault(detail: Any, location: Sequence[int | str], model: type[shared.Model]) -> Fault:
    path = path_of(location)
    if detail["type"] == "extra_forbidden":
        return Fault(path, f"is not a field here{_hint(location, model)}")
    if detail["type"] == "missing":
        return Fault(path, "is missing")
    message = detail["msg"].removeprefix("Value error, ")
    given = detail.get("input")
    said = f" (got {given!r})" if isinstance(given, int | str | float) else ""
    return Fault(path, f"{message[:1].lower()}{message[1:]}{said}")


def path_of(location: Iterable[int | str]) -> str:
    """``('spec', 'quotas', 0, 'limit')`` as ``spec.quotas[0].limit``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _hint(location: Sequence[int | str], model: type[shared.Model]) -> str:
    names = {field.alias or name for part in _models(model) for name, field in part.model_fields.items()}
    close = difflib.get_close_matches(str(location[-1]), sorted(names), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _models(model: type[shared.Model]) -> set[type[shared.Model]]:
    found: set[type[shared.Model]] = set()
    todo: list[Any] = [model]
    while todo:
        part = todo.pop()
        if isinstance(part, type) and issubclass(part, shared.Model):
            if part not in found:
                found.add(part)
                todo.extend(field.annotation for field in part.model_fields.values())
        else:
            todo.extend(getattr(part, "__args__", ()))
    return found


def _faults(read: shared.Model, name: str) -> Iterator[Fault]:
    """What shows only beside the object's name."""
    if isinstance(read, tenant.Tenant) and read.spec.parent == name:
        yield Fault("spec.parent", "must be another tenant")
    if not re.fullmatch(shared.NAME, name):
        yield Fault("metadata.name", f"{name!r} is no name: lower case letters, digits, dots and hyphens")
    longest = tenant.LONGEST_NAME if isinstance(read, tenant.Tenant | capacitypool.CapacityPool) else 253
    if len(name) > longest:
        yield Fault("metadata.name", f"must be at most {longest} characters long")
