"""What stands around the spec of every Kubernetes object: apiVersion, kind, metadata; checked in one place.

An API server would refuse or drop what it does not know; in a file a slip such as ``sepc:`` must not pass for an
object that says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairberth.model.faults import Fault
from fairberth.simulator.reading.fields import Fields

_METADATA: Final = (
    *("annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers"),
    *("generateName", "generation", "labels", "managedFields", "name", "namespace", "ownerReferences"),
    *("resourceVersion", "selfLink", "uid"),
)


def faults_around_spec(body: Mapping[str, Any], version: str) -> list[Fault]:
    """What is wrong with an object of an API version, its spec and status left out."""
    faults: list[Fault] = []
    fields = Fields(body, "", faults)
    if fields.raw("apiVersion") != version:
        fields.fault("apiVersion", f"must be {version}, not {body.get('apiVersion')!r}")
    for name in ("kind", "spec", "status"):
        fields.raw(name)
    metadata = fields.inner("metadata")
    metadata.text("name", required=True)
    for name in ("labels", "annotations"):
        metadata.strings(name)
    for name in _METADATA:
        metadata.raw(name)
    metadata.close()
    fields.close()
    return faults
