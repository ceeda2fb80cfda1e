"""kube-scheduler's extender types on the wire (`k8s.io/kube-scheduler/extender/v1`), field for field.

The structs carry no JSON tags in Go, so the keys are PascalCase; only the embedded Pod is camelCase. What we do not
read is skipped, and node names are kept as the bytes that came, to be echoed.
"""

from __future__ import annotations

from typing import Final

import msgspec


class BadBody(ValueError):
    """A body that is no request of kube-scheduler; the message says where, and never varies for the same fault."""


class Metadata(msgspec.Struct, gc=False):
    """What we read of the pod's metadata."""

    uid: str = ""
    namespace: str = ""
    name: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Pod(msgspec.Struct, gc=False):
    """What we read of the pod."""

    metadata: Metadata


class Args(msgspec.Struct, gc=False):
    """ExtenderArgs."""

    Pod: Pod
    NodeNames: msgspec.Raw = msgspec.Raw(b"null")


_decoder: Final = msgspec.json.Decoder(Args)
_names: Final = msgspec.json.Decoder(list[str])
_anything: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def args(body: bytes) -> Args:
    """Decode a request. Raises BadBody."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise BadBody(f"fairberth: bad request: {_place(body, error)}") from None
    except msgspec.DecodeError:
        raise BadBody("fairberth: bad request: the body is not JSON") from None


def names(raw: msgspec.Raw) -> list[str]:
    """The node names. Raises BadBody where there are none: the extender must be called with nodeCacheCapable."""
    try:
        return _names.decode(raw)
    except msgspec.MsgspecError:
        raise BadBody("fairberth: bad request: NodeNames must be a list (set nodeCacheCapable: true)") from None


def _place(body: bytes, error: msgspec.ValidationError) -> str:
    try:
        keys = _anything.decode(body).keys()
    except msgspec.MsgspecError:
        return "the body must be an object"
    if "Pod" not in keys and "pod" in keys:
        return "keys are PascalCase (Pod, NodeNames), as kube-scheduler sends them"
    if "Pod" not in keys:
        return "Pod is missing"
    return str(error).replace("$", "")


def error(message: str) -> bytes:
    """An answer that makes the cycle fail: retried with back-off, seen by no autoscaler."""
    return b'{"Error":' + msgspec.json.encode(message) + b"}"


def passed(raw: msgspec.Raw) -> bytes:
    """All nodes pass: the names are echoed as they came."""
    return b'{"NodeNames":' + bytes(raw) + b"}"


def refused(nodes: list[str], message: bytes) -> bytes:
    """No node passes, each for the same constant reason; preemption could not help (`message` is encoded JSON)."""
    pairs = b",".join(msgspec.json.encode(name) + b":" + message for name in nodes)
    return b'{"NodeNames":[],"FailedAndUnresolvableNodes":{' + pairs + b"}}"


def sorted_out(passing: list[str], failing: list[str], message: bytes) -> bytes:
    """Some nodes pass, the others fail for the same constant reason."""
    pairs = b",".join(msgspec.json.encode(name) + b":" + message for name in failing)
    return b'{"NodeNames":' + msgspec.json.encode(passing) + b',"FailedAndUnresolvableNodes":{' + pairs + b"}}"
