"""Every reason that Fairberth ever gives, with its one sentence.

The code is what metrics, conditions and events carry (closed, so its cardinality is bounded); the sentence is what
people read. A new refusal starts here: add the member, then return it from the check that decides it
(`policy/`); `docs/reasons.md` is generated from this table.
"""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why a pod waits, goes, or an object is not in force."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Reason:
        """A member: its code is the value, the sentence goes along."""
        member = object.__new__(cls)
        member._value_ = code
        member.sentence = sentence
        return member

    def __str__(self) -> str:
        return str(self.value)

    # A pod goes
    ADMITTED = "Admitted", "its turn has come: it was admitted"
    EXEMPT = "Exempt", "it is exempt from gating, and charged to its tenant"

    # A pod waits, in the order of the checks (design §5.4)
    CORDONED = "Cordoned", "its tenant is cordoned: nothing new is admitted"
    GROUP_INCOMPLETE = "GroupIncomplete", "its group has fewer members than it needs to start"
    FOREIGN_GATE = "ForeignGate", "another controller's scheduling gate holds it"
    IN_FLIGHT_FULL = "InFlightFull", "its tenant has as many pods in flight as it may"
    EXCEEDS_LIMIT = "ExceedsLimit", "it asks for more than its tenant's limit can ever allow"
    QUOTA_EXHAUSTED = "QuotaExhausted", "its tenant is at its limit; it goes when pods of the tenant end"
    BORROWING_DENIED = "BorrowingDenied", "it would borrow beyond its tenant's guarantee what it may not borrow now"
    RESERVED_FOR_URGENT = "ReservedForUrgent", "the room left is guaranteed to other priority levels"
    NO_POOL = "NoPool", "no pool that its level may use matches it"
    NO_ROOM = "NoRoom", "no node of the pool has room for it now"
    NO_NODE_FITS = "NoNodeFits", "no node of the pool could ever hold it"
    WINDOW_FULL = "WindowFull", "its tenant or team has used its window of this round"
    NO_TENANT = "NoTenant", "its namespace belongs to no tenant that is in force"

    # Admission and placement
    ADMISSION_FAILED = (
        "AdmissionFailed",
        "its turn had come, but the API server refused its admission; tried again later",
    )
    NOT_ADMITTED = "NotAdmitted", "it was not admitted by Fairberth"
    WRONG_POOL = "WrongPool", "the node is not in the pool that the pod was admitted to"
    QUEUE_FULL = "QueueFull", "its tenant's queue is full"

    # The ledger and configuration
    OVER_RELEASE = "OverRelease", "more was to be released than is held"
    INVALID_CONFIG = "InvalidConfig", "the object has faults; its last good version stays in force"
    GUARANTEES_OVERSUBSCRIBED = "GuaranteesOversubscribed", "the guarantees are more than the capacity; they are scaled"
    IN_FORCE = "InForce", "the object is in force"
    NOT_DEFAULT = "NotDefault", "only the policy named `default` is in force"

    @property
    def retryable(self) -> bool:
        """Whether waiting alone can change the answer (a terminal one needs a changed spec)."""
        return self not in _TERMINAL


_TERMINAL = frozenset({Reason.EXCEEDS_LIMIT, Reason.INVALID_CONFIG, Reason.OVER_RELEASE})
