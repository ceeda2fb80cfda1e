"""Times as Kubernetes writes them (RFC 3339), and as we count them: integer milliseconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fairberth.model.workload import Millis

_EPOCH = datetime.fromtimestamp(0, UTC)
_MILLISECOND = timedelta(milliseconds=1)


def millis(written: str | datetime) -> Millis:
    """A time in milliseconds; one that names no zone is in UTC. Raises ValueError for what is no time."""
    moment = datetime.fromisoformat(written) if isinstance(written, str) else written
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def timestamp(at: Millis) -> str:
    """RFC 3339 in UTC, to the second, as Kubernetes writes times."""
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
