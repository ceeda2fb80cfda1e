"""AdmissionReview (admission.k8s.io/v1) on the wire: the question, and the two answers."""

from __future__ import annotations

import base64
from typing import Any

import msgspec


class BadReview(ValueError):
    """A body that is no AdmissionReview; the message says where."""


class UserInfo(msgspec.Struct):
    """Who asks."""

    username: str = ""
    groups: list[str] = []


class Request(msgspec.Struct):
    """The question, as far as we read it."""

    uid: str
    namespace: str = ""
    operation: str = ""
    userInfo: UserInfo = msgspec.field(default_factory=UserInfo)
    object: dict[str, Any] = {}


class Review(msgspec.Struct):
    """An AdmissionReview with its question."""

    request: Request


_decoder = msgspec.json.Decoder(Review)


def question(body: bytes) -> Request:
    """Decode a review. Raises BadReview."""
    try:
        return _decoder.decode(body).request
    except msgspec.MsgspecError as error:
        raise BadReview(f"not an AdmissionReview: {error}") from None


def _answer(uid: str, response: dict[str, Any]) -> bytes:
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": uid, **response},
    }
    return msgspec.json.encode(review)


def allowed(uid: str, patch: list[dict[str, Any]]) -> bytes:
    """Let it in, changed by a JSON patch."""
    if not patch:
        return _answer(uid, {"allowed": True})
    encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
    return _answer(uid, {"allowed": True, "patchType": "JSONPatch", "patch": encoded})


def denied(uid: str, code: int, reason: str, message: str) -> bytes:
    """Keep it out, with an HTTP code, a reason for machines and a message for people."""
    return _answer(uid, {"allowed": False, "status": {"code": code, "reason": reason, "message": message}})
