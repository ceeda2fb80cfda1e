"""The admission annotation: how a `Grant` is written on its pod, and read back."""

from __future__ import annotations

import msgspec

from fairberth.model.workload import Grant


class _Written(msgspec.Struct, omit_defaults=True, rename={"at": "time"}):
    at: int  # milliseconds since the epoch
    pool: str
    level: int
    decision: str
    node: str = ""


def encode(grant: Grant) -> str:
    """Compact JSON: ``{"time":…,"pool":…,"level":…,"decision":…,"node":…}``."""
    written = _Written(grant.at, grant.pool, grant.level, grant.decision, grant.node)
    return msgspec.json.encode(written).decode()


def decode(text: str) -> Grant | None:
    """Read an annotation; None where it is not one of ours."""
    try:
        read = _decoder.decode(text)
    except msgspec.MsgspecError:
        return None
    return Grant(read.at, read.pool, read.level, read.decision, read.node) if 0 <= read.level <= 6 else None


_decoder = msgspec.json.Decoder(_Written)
