"""Questions about objects, for `Api.wait_for` and for assertions."""

from collections.abc import Callable

from tests.cluster.plane.api import Object


def bound(pod: Object) -> bool:
    """Whether the pod has a node."""
    return bool(pod["spec"].get("nodeName"))


def gated(pod: Object) -> bool:
    """Whether any gate is left on the pod."""
    return bool(pod["spec"].get("schedulingGates"))


def phase(wanted: str) -> Callable[[Object], bool]:
    """Asks whether a pod, or whatever has a phase, is in this one."""
    return lambda obj: obj.get("status", {}).get("phase") == wanted


running = phase("Running")
succeeded = phase("Succeeded")
failed = phase("Failed")


def condition(kind: str, status: str = "True", reason: str | None = None) -> Callable[[Object], bool]:
    """Asks whether an object has this condition, with this status and (if given) this reason."""

    def holds(obj: Object) -> bool:
        found = [entry for entry in obj.get("status", {}).get("conditions", []) if entry["type"] == kind]
        return any(entry["status"] == status and reason in (None, entry.get("reason")) for entry in found)

    return holds
