"""The status of our own objects: conditions, and what was last in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fairberth.api.times import timestamp
from fairberth.model.amounts import Amounts, format_quantity
from fairberth.model.faults import Fault
from fairberth.model.reasons import Reason
from fairberth.model.workload import Millis

READY = "Ready"


def ready(
    faults: Iterable[Fault], generation: int, at: Millis, before: Mapping[str, Any] | None, *, in_force: bool = True
) -> dict[str, Any]:
    """The Ready condition: False with every fault and its path, or True. It keeps its transition time while its
    status stays."""
    found = tuple(faults)
    if found:
        status, reason = "False", Reason.INVALID_CONFIG
        message = "; ".join(str(fault) for fault in found)
    elif not in_force:
        status, reason = "False", Reason.NOT_DEFAULT
        message = reason.sentence
    else:
        status, reason = "True", Reason.IN_FORCE
        message = reason.sentence
    same = before is not None and before.get("status") == status
    since = before.get("lastTransitionTime") if same and before else None
    return {
        "type": READY,
        "status": status,
        "reason": str(reason),
        "message": message[:32_000],
        "observedGeneration": generation,
        "lastTransitionTime": since or timestamp(at),
    }


def warning(reason: Reason, message: str, since: Millis) -> dict[str, Any]:
    """A condition that is there while something is off, named after its reason."""
    return {
        "type": str(reason),
        "status": "True",
        "reason": str(reason),
        "message": message,
        "lastTransitionTime": timestamp(since),
        "observedGeneration": 0,
    }


def quantities(amounts: Amounts) -> dict[str, str]:
    """Amounts as Kubernetes quantities, by resource name."""
    return {name: format_quantity(name, amounts[name]) for name in sorted(amounts)}
