"""Bounds on what one tenant may queue and have in flight (`spec.backpressure`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fairberth.model.objects import Tenant
from fairberth.model.reasons import Reason
from fairberth.policy.verdict import Verdict


def in_flight_refusal(
    path: Sequence[str], tenants: Mapping[str, Tenant], in_flight: Callable[[str], int], more: int = 1
) -> Verdict | None:
    """Whether `more` pods would be too many in flight for the tenant or one above it (`path`: itself first)."""
    for name in path:
        bound = tenants[name].backpressure.max_in_flight
        if bound is not None and in_flight(name) + more > bound:
            return Verdict(Reason.IN_FLIGHT_FULL, "", name, "pods", bound, in_flight(name), more)
    return None


def queue_refusal(tenant: Tenant, waiting: int) -> Verdict | None:
    """Whether one more waiting pod is too many for a tenant that rejects when its queue is full."""
    bound = tenant.backpressure.max_queue
    if bound is None or not tenant.backpressure.reject_when_full or waiting < bound:
        return None
    return Verdict(Reason.QUEUE_FULL, "", tenant.name, "pods", bound, waiting, 1)
