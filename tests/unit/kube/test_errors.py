"""Each answer of the API server is classified once."""

import json

import aiohttp
import pytest

from fairberth.kube.errors import NO_ANSWER, classify, classify_exception
from fairberth.model.outcomes import Conflict, Done, Fatal, Gone, Outcome, Retry
from tests.unit.kube.stub import status

TERMINATING = {
    "causes": [{"reason": "NamespaceTerminating", "message": "being terminated", "field": "metadata.namespace"}]
}
ANOTHER_UID = {"causes": [{"reason": "FieldValueInvalid", "message": "immutable", "field": "metadata.uid"}]}
INVALID_FIELD = {"causes": [{"reason": "FieldValueInvalid", "message": "bad", "field": "spec.x"}]}


@pytest.mark.parametrize(
    ("code", "reason", "details", "expected"),
    [
        pytest.param(200, "", {}, Done, id="200 is done"),
        pytest.param(201, "", {}, Done, id="201 is done"),
        pytest.param(307, "", {}, Fatal, id="a redirect is nothing to follow"),
        pytest.param(400, "BadRequest", {}, Fatal, id="a bad request stays bad"),
        pytest.param(401, "Unauthorized", {}, Retry, id="401 is tried again with fresh credentials"),
        pytest.param(403, "Forbidden", {}, Fatal, id="forbidden is final"),
        pytest.param(
            403, "Forbidden", TERMINATING, Gone, id="forbidden in a terminating namespace: it is as good as gone"
        ),
        pytest.param(404, "NotFound", {}, Gone, id="not found is gone"),
        pytest.param(405, "MethodNotAllowed", {}, Fatal, id="a wrong method is final"),
        pytest.param(408, "Timeout", {}, Retry, id="a request timeout is tried again"),
        pytest.param(409, "Conflict", {}, Conflict, id="another version is a conflict"),
        pytest.param(409, "AlreadyExists", {}, Conflict, id="already there is a conflict"),
        pytest.param(410, "Expired", {}, Gone, id="expired is gone"),
        pytest.param(413, "RequestEntityTooLarge", {}, Fatal, id="too large stays too large"),
        pytest.param(422, "Invalid", INVALID_FIELD, Fatal, id="an invalid object is final"),
        pytest.param(422, "Invalid", ANOTHER_UID, Conflict, id="another object under the name is a conflict"),
        pytest.param(422, "Invalid", {}, Fatal, id="an invalid object without a cause is final"),
        pytest.param(429, "TooManyRequests", {}, Retry, id="throttling is tried again"),
        pytest.param(500, "InternalError", {}, Retry, id="500 is tried again"),
        pytest.param(503, "ServiceUnavailable", {}, Retry, id="503 is tried again"),
        pytest.param(504, "Timeout", {}, Retry, id="504 is tried again"),
    ],
)
def test_an_answer_means(code: int, reason: str, details: dict[str, object], expected: type[Outcome]) -> None:
    body = json.dumps(status(code, reason, "because", **details)).encode()
    assert type(classify(code, body)) is expected


def test_an_unmet_test_of_a_json_patch_is_a_conflict() -> None:
    said = "the server rejected our request due to an error in our request"
    assert isinstance(classify(422, json.dumps(status(422, "Invalid", said)).encode()), Conflict)


def test_the_message_carries_code_reason_and_the_causes_that_add_to_it() -> None:
    body = json.dumps(status(422, "Invalid", "pod is invalid", **INVALID_FIELD)).encode()
    assert classify(422, body) == Fatal("422 Invalid: pod is invalid; bad")


@pytest.mark.parametrize(
    ("header", "details", "after"),
    [
        pytest.param("7", {}, 7.0, id="the header in seconds"),
        pytest.param("7", {"retryAfterSeconds": 3}, 7.0, id="the header before the body"),
        pytest.param(None, {"retryAfterSeconds": 3}, 3.0, id="the body where there is no header"),
        pytest.param(None, {}, 1.0, id="a second where the server does not say"),
        pytest.param("Wed, 21 Oct 2026 07:28:00 GMT", {}, 1.0, id="a date is as good as nothing"),
        pytest.param("86400", {}, 60.0, id="never longer than a minute"),
        pytest.param("0", {}, 0.0, id="at once, if it says so"),
    ],
)
def test_a_retry_waits(header: str | None, details: dict[str, object], after: float) -> None:
    body = json.dumps(status(429, "TooManyRequests", "slow down", **details)).encode()
    assert classify(429, body, header) == Retry(after, "429 TooManyRequests: slow down")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>Bad gateway</html>", id="a proxy's page"),
        pytest.param(b"\xff\xfe", id="not text"),
        pytest.param(b'{"details": null, "code": "x"}', id="wrong types"),
        pytest.param(b'{"details": {"causes": null}}', id="nulls"),
    ],
)
def test_a_body_that_is_no_status_does_not_matter(body: bytes) -> None:
    assert isinstance(classify(502, body), Retry)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(TimeoutError(), id="a timeout"),
        pytest.param(aiohttp.SocketTimeoutError(), id="a timeout of aiohttp"),
        pytest.param(ConnectionResetError("reset"), id="a reset"),
        pytest.param(aiohttp.ServerDisconnectedError(), id="a server that hangs up"),
        pytest.param(aiohttp.ClientPayloadError("cut"), id="half a body"),
    ],
)
def test_no_answer_is_tried_again(error: Exception) -> None:
    assert isinstance(error, NO_ANSWER)
    outcome = classify_exception(error)
    assert outcome.after == 1.0
    assert type(error).__name__ in outcome.message
