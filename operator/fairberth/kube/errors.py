"""What an answer of the API server, or the lack of one, means for the caller: classified here, once, by a table.

The rest of Fairberth sees `model.outcomes` only. The order: 2xx is Done; then the refusals that only their details tell
apart; then the status code; then its hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import aiohttp
import msgspec

from fairberth.model.outcomes import Conflict, Done, Fatal, Gone, Outcome, Retry

DEFAULT_AFTER: Final = 1.0  # seconds to wait where the server does not say
LONGEST_AFTER: Final = 60.0  # seconds; a server that asks for more is asked again earlier

NO_ANSWER: Final = (aiohttp.ClientError, OSError)
"""What a request raises when no (whole) answer came; a timeout is an OSError. The write may still have happened."""

_Verdict = Callable[[str, float], Outcome]


def _retry(message: str, after: float) -> Outcome:
    return Retry(after, message)


def _conflict(message: str, _: float) -> Outcome:
    return Conflict(message)


def _gone(message: str, _: float) -> Outcome:
    return Gone(message)


def _fatal(message: str, _: float) -> Outcome:
    return Fatal(message)


_BY_CAUSE: Final[Mapping[tuple[int, str, str], _Verdict]] = {  # code, reason and field of a cause
    (403, "NamespaceTerminating", "metadata.namespace"): _gone,
    (422, "FieldValueInvalid", "metadata.uid"): _conflict,  # the patch names a uid: another object has the name now
}
_UNMET_PATCH: Final = "the server rejected our request due to an error in our request"
"""All that is said of a JSON patch whose `test`, or path, the object does not meet: 422 without a cause."""

_BY_STATUS: Final[Mapping[int, _Verdict]] = {
    401: _retry,  # the client reads its credentials again before the next request
    404: _gone,
    408: _retry,
    409: _conflict,  # AlreadyExists as well
    410: _gone,
    429: _retry,
}


class _Cause(msgspec.Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(msgspec.Struct):
    causes: list[_Cause] | None = None
    retryAfterSeconds: int = 0


class Status(msgspec.Struct):
    """The part of a `metav1.Status` that is read; all of it may be absent."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: _Details | None = None

    @property
    def causes(self) -> list[_Cause]:
        """The causes, none if the server gave none."""
        return (self.details and self.details.causes) or []

    @property
    def sentence(self) -> str:
        """The message with the causes that add to it."""
        more = [cause.message for cause in self.causes if cause.message and cause.message not in self.message]
        return "; ".join([self.message, *more]) if self.message else "; ".join(more)


class Refused(Exception):
    """The server answered a read with something else than what was asked for."""

    def __init__(self, status: int, outcome: Outcome) -> None:
        """`status` is the HTTP code, `outcome` what it means."""
        super().__init__(getattr(outcome, "message", f"{status}"))
        self.status = status
        self.outcome = outcome


def parse_status(body: bytes) -> Status:
    """The Status in a body; one that is none (a proxy's page) gives its first 200 characters as the message."""
    try:
        return msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:
        return Status(message=bytes(body[:200]).decode(errors="replace"))


def classify(status: int, body: bytes = b"", retry_after: str | None = None) -> Outcome:
    """What an answer with this HTTP code, body and `Retry-After` header means."""
    if 200 <= status < 300:
        return Done()
    said = parse_status(body)
    verdict = _verdict(status, said)
    return verdict(f"{status} {said.reason}: {said.sentence}", _after(said, retry_after))


def classify_exception(error: BaseException) -> Retry:
    """What one of `NO_ANSWER` means: the same request may succeed later."""
    return Retry(DEFAULT_AFTER, f"{type(error).__name__}: {error}")


def _verdict(status: int, said: Status) -> _Verdict:
    for cause in said.causes:
        if verdict := _BY_CAUSE.get((status, cause.reason, cause.field)):
            return verdict
    if status == 422 and not said.causes and said.message == _UNMET_PATCH:
        return _conflict
    return _BY_STATUS.get(status, _retry if status >= 500 else _fatal)


def _after(said: Status, header: str | None) -> float:
    if header is not None and header.strip().isdecimal():
        seconds = float(header)
    elif said.details and said.details.retryAfterSeconds > 0:
        seconds = float(said.details.retryAfterSeconds)
    else:
        return DEFAULT_AFTER
    return min(seconds, LONGEST_AFTER)
