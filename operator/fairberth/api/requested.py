"""What a pod asks for, by kube-scheduler's rule (`k8s.io/component-helpers/resource: PodRequests`).

Per resource: the sum of containers and sidecars, or what the hungriest init step needs if that is more; pod-level
requests replace cpu, memory and huge pages; overhead is added; every pod takes one of `pods`. For a bound pod that
is being resized, each container counts with the most of what it asks, has and was allocated (the rule up to 1.36;
1.37 takes the most over the pod's sums, which is never more).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairberth.api.wire import Container, ContainerStatus, PodObject, Quantities, Resources
from fairberth.model.amounts import CPU, MEMORY, NOTHING, PODS, Amounts

_ONE_POD = Amounts({PODS: 1})
_parsed: dict[tuple[tuple[str, str | int | float], ...], Amounts] = {}
_interned: dict[Amounts, Amounts] = {}
_MOST_REMEMBERED = 50_000  # shapes; far more than any cluster has, and a bound all the same


def requests(pod: PodObject) -> Amounts:
    """The pod's effective requests, ``pods: 1`` included. Equal amounts are one object."""
    spec = pod.spec
    statuses = _statuses(pod) if spec.nodeName else {}
    running, peak = NOTHING, NOTHING
    sidecars = NOTHING
    for container in spec.initContainers or ():
        asked = _container(container, statuses)
        if container.restartPolicy == "Always":
            sidecars = sidecars.plus(asked)
            peak = peak.most(sidecars)
        else:
            peak = peak.most(asked.plus(sidecars))
    running = sidecars
    for container in spec.containers or ():
        running = running.plus(_container(container, statuses)) if running else _container(container, statuses)
    total = running.most(peak) if peak else running
    total = _pod_level(total, spec.resources)
    if spec.overhead:
        total = total.plus(parse(spec.overhead))
    total = total.plus(_ONE_POD)
    if len(_interned) >= _MOST_REMEMBERED:
        _interned.clear()
    return _interned.setdefault(total, total)


def parse(quantities: Quantities) -> Amounts:
    """A resource list as amounts, remembered: a cluster's pods use few different ones. Raises QuantityError."""
    key = tuple(quantities.items())
    known = _parsed.get(key)
    if known is None:
        if len(_parsed) >= _MOST_REMEMBERED:
            _parsed.clear()
        known = _parsed[key] = Amounts.parse(quantities)
    return known


def _container(container: Container, statuses: Mapping[str, ContainerStatus]) -> Amounts:
    resources = container.resources
    asked = parse(resources.requests) if resources and resources.requests else NOTHING
    status = statuses.get(container.name)
    if status is not None:
        if status.resources and status.resources.requests:
            asked = asked.most(parse(status.resources.requests))
        if status.allocatedResources:
            asked = asked.most(parse(status.allocatedResources))
    return asked


def _statuses(pod: PodObject) -> Mapping[str, ContainerStatus]:
    both: Iterable[ContainerStatus] = (
        *(pod.status.containerStatuses or ()),
        *(pod.status.initContainerStatuses or ()),
    )
    return {status.name: status for status in both if status.resources or status.allocatedResources}


def _pod_level(total: Amounts, resources: Resources | None) -> Amounts:
    if resources is None or not resources.requests:
        return total
    whole = parse(resources.requests)
    replaced = {name: n for name, n in whole.items() if name in (CPU, MEMORY) or name.startswith("hugepages-")}
    return Amounts({**total, **replaced})
