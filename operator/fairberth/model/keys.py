"""Every label, annotation, gate and name that Fairberth reads or writes: the one table.

`USER_KEYS` are what users may say about their pods. `GRANTED_KEYS` are what only Fairberth says: the chart's
ValidatingAdmissionPolicy and the webhook keep everybody else from writing them, by prefix.
"""

from __future__ import annotations

from typing import Final

USER_PREFIX: Final = "fairberth.io/"
GRANTED_PREFIX: Final = "granted.fairberth.io/"

GATE: Final = "fairberth.io/turn"
CONDITION: Final = "fairberth.io/Admitted"
SCHEDULER: Final = "fairberth-scheduler"
TENANT_LABEL: Final = "fairberth.io/tenant"  # on namespaces; kept by the operator, reserved to it and cluster admins

TYPE: Final = USER_PREFIX + "type"
TRIGGERED_BY: Final = USER_PREFIX + "triggered-by"
RETRY: Final = USER_PREFIX + "retry"
USER_WAITING: Final = USER_PREFIX + "user-waiting"
BASE_PRIORITY: Final = USER_PREFIX + "base-priority"
PRIORITY_HINT: Final = USER_PREFIX + "priority-hint"
GROUP: Final = USER_PREFIX + "group"
GROUP_SIZE: Final = USER_PREFIX + "group-size"

USER_KEYS: Final[dict[str, str]] = {
    TYPE: "what kind of work it is; the policy's table maps it to a base level (label)",
    TRIGGERED_BY: "`alert` where an alert caused it: more urgent, if the tenant may say so (label)",
    RETRY: "`true` where it repeats failed work: a little more urgent, if the tenant may say so (label)",
    USER_WAITING: "`true` where a person waits for it: more urgent, if the tenant may say so (label)",
    BASE_PRIORITY: "0 to 100, its standing within its value class (label)",
    PRIORITY_HINT: "0 to 6, a level that it is content with; can only lower its urgency (label)",
    GROUP: "name of the group that starts together or not at all (label)",
    GROUP_SIZE: "how many members the group needs to start (label)",
    USER_PREFIX + "cache-key": "what data it works on: nodes that hold it come first (label)",
    USER_PREFIX + "checkpoint-url": "port and path that saves its progress before eviction (annotation)",
    USER_PREFIX + "degraded-image": "image to fall back to (annotation)",
}

TENANT: Final = GRANTED_PREFIX + "tenant"
TEAM: Final = GRANTED_PREFIX + "team"
LEVEL: Final = GRANTED_PREFIX + "level"
ADMISSION: Final = GRANTED_PREFIX + "admission"
EXEMPT: Final = GRANTED_PREFIX + "exempt"
SUBMITTED_CLASS: Final = GRANTED_PREFIX + "submitted-class"
SUBMITTED_PREEMPTION: Final = GRANTED_PREFIX + "submitted-preemption"

GRANTED_KEYS: Final[dict[str, str]] = {
    TENANT: "the tenant that it is charged to (label)",
    TEAM: "the team within the tenant (label)",
    LEVEL: "the priority level that it was classified to (label)",
    ADMISSION: "when, to which pool and level, and by which decision it was admitted (annotation)",
    EXEMPT: "why it is not gated: `daemonset` or `mirror` (label)",
    GRANTED_PREFIX + "reservation": "the room that is collected for it (annotation)",
    SUBMITTED_CLASS: "the PriorityClass that its owner asked for (annotation)",
    SUBMITTED_PREEMPTION: "the preemptionPolicy that its owner asked for (annotation)",
}
