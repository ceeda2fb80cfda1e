"""What a pod asks for, by kube-scheduler's rule (`k8s.io/component-helpers/resource: PodRequests`).

Per resource: the sum of containers and sidecars, or what the hungriest init step needs if that is more; pod-level
requests replace cpu, memory and huge pages; overhead is added; every pod takes one of `pods`.

A bound pod may be in the middle of a resize: then each container and sidecar, and the pod-level requests, count with
the most of what is asked, actuated and allocated (the rule up to 1.36; 1.37 takes the most over the pod's sums, which
is never more). What is asked no longer counts once the resize is Infeasible: the node will never grant it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairberth.api.wire import Container, ContainerStatus, PodObject, Quantities, Resources
from fairberth.model.amounts import CPU, MEMORY, NOTHING, PODS, Amounts

_ONE_POD = Amounts({PODS: 1})
_parsed: dict[tuple[tuple[str, str | int | float], ...], Amounts] = {}
_interned: dict[Amounts, Amounts] = {}
MOST = 2**56  # of any resource: 64 PiB, or 72 million million cores; no node comes near
_MOST_REMEMBERED = 50_000  # shapes; far more than any cluster has, and a bound all the same


def requests(pod: PodObject) -> Amounts:
    """The pod's effective requests, ``pods: 1`` included. Equal amounts are one object."""
    spec = pod.spec
    statuses = _statuses(pod) if spec.nodeName else {}
    infeasible = bool(statuses) and _infeasible(pod)
    sidecars, peak = NOTHING, NOTHING
    for container in spec.initContainers or ():
        if container.restartPolicy == "Always":
            sidecars = sidecars.plus(_container(container, statuses.get(container.name), infeasible))
            peak = peak.most(sidecars)
        else:
            peak = peak.most(_listed(container.resources).plus(sidecars))
    running = sidecars
    for container in spec.containers or ():
        asked = _container(container, statuses.get(container.name), infeasible)
        running = running.plus(asked) if running else asked
    total = running.most(peak) if peak else running
    if spec.resources and spec.resources.requests:
        total = _pod_level(total, pod)
    if spec.overhead:
        total = total.plus(parse(spec.overhead))
    total = total.plus(_ONE_POD)
    known = _interned.get(total)
    if known is None:
        if len(_interned) >= _MOST_REMEMBERED:
            _interned.clear()
        known = _interned[total] = within_reach(total)
    return known


def within_reach(amounts: Amounts) -> Amounts:
    """The same, but nothing so large that sums leave 64 bits: anybody may create a pod that asks for ``9E`` of cpu."""
    return amounts.least(Amounts(dict.fromkeys(amounts, MOST))) if max(amounts.values(), default=0) > MOST else amounts


def parse(quantities: Quantities) -> Amounts:
    """A resource list as amounts, remembered: a cluster's pods use few different ones. Raises QuantityError."""
    key = tuple(quantities.items())
    known = _parsed.get(key)
    if known is None:
        if len(_parsed) >= _MOST_REMEMBERED:
            _parsed.clear()
        known = _parsed[key] = Amounts.parse(quantities)
    return known


def _listed(resources: Resources | None) -> Amounts:
    return parse(resources.requests) if resources is not None and resources.requests else NOTHING


def _container(container: Container, status: ContainerStatus | None, infeasible: bool) -> Amounts:
    asked = _listed(container.resources)
    if status is None:
        return asked
    return _in_resize(asked, status.resources, status.allocatedResources, infeasible)


def _pod_level(total: Amounts, pod: PodObject) -> Amounts:
    whole = _listed(pod.spec.resources)
    status = pod.status
    if pod.spec.nodeName and status.resources is not None:
        whole = _in_resize(whole, status.resources, status.allocatedResources, _infeasible(pod))
    replaced = {name: n for name, n in whole.items() if name in (CPU, MEMORY) or name.startswith("hugepages-")}
    return Amounts({**total, **replaced})


def _in_resize(asked: Amounts, actuated: Resources | None, allocated: Quantities | None, infeasible: bool) -> Amounts:
    granted = _listed(actuated)
    if allocated:
        granted = granted.most(parse(allocated))
    return granted if infeasible and granted else asked.most(granted)


def _statuses(pod: PodObject) -> Mapping[str, ContainerStatus]:
    both: Iterable[ContainerStatus] = (
        *(pod.status.containerStatuses or ()),
        *(pod.status.initContainerStatuses or ()),
    )
    return {status.name: status for status in both if status.resources or status.allocatedResources}


def _infeasible(pod: PodObject) -> bool:
    """Whether the node has said that it can never do the resize that was asked for."""
    pending = next((c for c in pod.status.conditions or () if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"
