"""A decision about one pod, with its typed reason and the numbers behind it.

The same value feeds the pod's condition, events, `explain` and JSON; nobody computes it twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairberth.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a pod waits or goes. Numbers are in the unit of `resource` (milli for cpu, whole units otherwise).

    `tenant` is the one whose bound decided (an ancestor, perhaps), `limit` that bound, `used` what is held
    against it, `asked` what the pod would add.
    """

    reason: Reason
    pool: str = ""
    tenant: str = ""
    resource: str = ""
    limit: int = 0
    used: int = 0
    asked: int = 0
    detail: str = ""  # names that belong to the reason: a foreign gate, a team, a group

    @property
    def goes(self) -> bool:
        """Whether the pod is admitted."""
        return self.reason is Reason.ADMITTED
