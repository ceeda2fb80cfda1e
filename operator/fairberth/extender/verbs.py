"""The verbs: from a body to an answer. Pure but for the memory that it reads; no I/O, nothing reserved.

*filter* passes what was admitted, on the nodes of the pool that it was admitted to, and everything that is no
tenant's. Whatever else a tenant sends is refused on every node, in `FailedAndUnresolvableNodes`, so that kube-scheduler
preempts nobody for it; messages are constant, since one that varied would requeue the pod for ever.
*prioritize* scores 0 to 10: packing for levels that can be preempted, spreading for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from fairberth.api import grants
from fairberth.control.answers import Answers
from fairberth.extender import wire
from fairberth.model import keys
from fairberth.model.reasons import Reason
from fairberth.model.workload import Grant

NOT_SYNCED: Final = wire.error("fairberth: caches are not in sync yet")
MESSAGES: Final = {
    reason: msgspec.json.encode(f"fairberth: {reason}: {reason.sentence}")
    for reason in (Reason.NOT_ADMITTED, Reason.WRONG_POOL)
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer's body, and the reason to count it under."""

    body: bytes
    reason: Reason


def filter(body: bytes, answers: Answers) -> Reply:
    """Answer a filter call. Raises wire.BadBody."""
    args = wire.args(body)
    grant = _grant(args.Pod, answers)
    if grant is None:
        return Reply(wire.passed(_list(args.NodeNames)), Reason.EXEMPT)
    if grant is NOBODY:
        return Reply(wire.refused(wire.names(args.NodeNames), MESSAGES[Reason.NOT_ADMITTED]), Reason.NOT_ADMITTED)
    names = wire.names(args.NodeNames)
    outside = [name for name in names if answers.outside(name, grant.pool)]
    if not outside:
        return Reply(wire.passed(args.NodeNames), Reason.ADMITTED)
    inside = [name for name in names if not answers.outside(name, grant.pool)]
    return Reply(wire.sorted_out(inside, outside, MESSAGES[Reason.WRONG_POOL]), Reason.WRONG_POOL)


def prioritize(body: bytes, answers: Answers) -> Reply:
    """Answer a prioritize call. Raises wire.BadBody."""
    args = wire.args(body)
    grant = _grant(args.Pod, answers)
    if grant is NOBODY:
        return Reply(b"[]", Reason.NOT_ADMITTED)
    pack = True if grant is None else answers.packs(grant.level)
    reason = Reason.EXEMPT if grant is None else Reason.ADMITTED
    return Reply(answers.fragments(wire.names(args.NodeNames), pack=pack), reason)


Verb = Callable[[bytes, Answers], Reply]
VERBS: Final[dict[str, Verb]] = {"filter": filter, "prioritize": prioritize}

NOBODY: Final = Grant(0, "", 0, "")


def _list(raw: msgspec.Raw) -> msgspec.Raw:
    """Names that are echoed unread must at least be a list."""
    if bytes(raw)[:1] != b"[":
        wire.names(raw)
    return raw


def _grant(pod: wire.Pod, answers: Answers) -> Grant | None:
    """The pod's admission; None where it needs none; NOBODY where it needs one and has none."""
    metadata = pod.metadata
    if not answers.tenant_of(metadata.namespace):
        return None
    if metadata.labels and keys.EXEMPT in metadata.labels:
        return None
    text = metadata.annotations.get(keys.ADMISSION) if metadata.annotations else None
    return (grants.decode(text) if text else None) or NOBODY
