"""A write to the API server as a value: what `control` plans and `kube` sends."""

from __future__ import annotations

from dataclasses import dataclass

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `path` starts with ``/api`` or ``/apis``; `body` is encoded JSON."""

    method: str
    path: str
    body: bytes
    content_type: str = STRATEGIC_PATCH
