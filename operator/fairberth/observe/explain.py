"""From a verdict to the sentence that people read: conditions, events and the command line all use this one."""

from __future__ import annotations

from fairberth.model.amounts import format_quantity
from fairberth.model.reasons import Reason
from fairberth.policy.verdict import Verdict


def sentence(verdict: Verdict) -> str:
    """One sentence and the numbers behind it, such as
    ``its tenant is at its limit; …: team-a cpu: limit 10, held 9.5, asked 1 (pool main)``."""
    text = verdict.reason.sentence
    numbers = _numbers(verdict)
    if numbers:
        text += f": {numbers}"
    elif verdict.detail:
        text += f": {verdict.detail}"
    return f"{text} (pool {verdict.pool})" if verdict.pool else text


def _numbers(verdict: Verdict) -> str:
    if not verdict.resource:
        return ""

    def amount(n: int) -> str:
        return format_quantity(verdict.resource, n)

    who = f"{verdict.tenant} {verdict.resource}".strip()
    asked = amount(verdict.asked)
    match verdict.reason:
        case Reason.EXCEEDS_LIMIT | Reason.QUOTA_EXHAUSTED | Reason.IN_FLIGHT_FULL | Reason.QUEUE_FULL:
            return f"{who}: limit {amount(verdict.limit)}, held {amount(verdict.used)}, asked {asked}"
        case Reason.BORROWING_DENIED:
            return f"{who}: may reach {amount(verdict.limit)}, spoken for {amount(verdict.used)}, asked {asked}"
        case Reason.RESERVED_FOR_URGENT:
            return f"{who}: free {amount(verdict.limit)}, of it guaranteed {amount(verdict.used)}, asked {asked}"
        case Reason.GROUP_INCOMPLETE:
            return f"group {verdict.detail} has {amount(verdict.used)} of {amount(verdict.limit)} {verdict.resource}"
        case _:
            return f"{who}: free {amount(verdict.limit)}, asked {asked}"
