"""The waiting pods, sorted into lanes of pods that are alike, so that a turn looks at one of each."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping

from fairberth.model import keys
from fairberth.policy.snapshot import Candidate, Lane, LaneKey, Setup


def lane_key(tenant: str, candidate: Candidate, setup: Setup) -> LaneKey:
    """Which lane a candidate belongs to. All members of a group share one, whatever else they ask for."""
    pod, classified = candidate.pod, candidate.classified
    sla = setup.slas[classified.level]
    return LaneKey(
        tenant=tenant,
        team=candidate.team,
        level=classified.level,
        raw=classified.raw,
        value=sla.value,
        base_priority=candidate.base_priority,
        requests=pod.requests,
        constraints=pod.constraints,
        foreign_gates=pod.foreign_gates,
        group=group_of(candidate),
        group_size=group_size(candidate),
    )


def group_of(candidate: Candidate) -> str:
    """``namespace/group`` of a pod that belongs to one, else ""."""
    name = candidate.pod.labels.get(keys.GROUP, "")
    return f"{candidate.pod.namespace}/{name}" if name else ""


def group_size(candidate: Candidate) -> int:
    """How many members its group needs; 0 without a group or a readable size."""
    said = candidate.pod.labels.get(keys.GROUP_SIZE, "")
    return int(said) if group_of(candidate) and said.isascii() and said.isdigit() else 0


class _Queue:
    """One lane while it changes."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.lane: Lane | None = None


class WaitingLanes:
    """All lanes, by tenant. A snapshot shares the lanes that did not change since the last one."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[object, _Queue]] = {}
        self._where: dict[str, tuple[str, object, Candidate]] = {}
        self._running: dict[tuple[str, str], set[str]] = {}
        self._lanes: dict[str, tuple[Lane, ...]] = {}
        self._counts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._where)

    def waiting(self, tenant: str) -> int:
        """How many pods of a tenant wait."""
        return self._counts.get(tenant, 0)

    def put(self, tenant: str, candidate: Candidate, setup: Setup) -> None:
        """A pod waits (or waits as somebody else now)."""
        uid = candidate.pod.uid
        place: object = group_of(candidate) or lane_key(tenant, candidate, setup)
        known = self._where.get(uid)
        if known is not None:
            if known[0] == tenant and known[1] == place and known[2].order == candidate.order:
                self._where[uid] = (tenant, place, candidate)
                queue = self._queues[tenant][place]
                queue.candidates[self._index(queue, candidate)] = candidate
                self._touch(tenant, queue)
                return
            self.drop(uid)
        queue = self._queues.setdefault(tenant, {}).setdefault(place, _Queue())
        insort(queue.candidates, candidate, key=_order)
        self._where[uid] = (tenant, place, candidate)
        self._counts[tenant] = self._counts.get(tenant, 0) + 1
        self._touch(tenant, queue)

    def drop(self, uid: str) -> None:
        """A pod does not wait (any more); unknown ones are ignored."""
        known = self._where.pop(uid, None)
        if known is None:
            return
        tenant, place, candidate = known
        queue = self._queues[tenant][place]
        del queue.candidates[self._index(queue, candidate)]
        self._counts[tenant] -= 1
        if not queue.candidates:
            del self._queues[tenant][place]
        self._touch(tenant, queue)

    def group_runs(self, tenant: str, group: str, uid: str, *, runs: bool) -> None:
        """A member of a group is admitted (or is gone)."""
        members = self._running.setdefault((tenant, group), set())
        if runs:
            members.add(uid)
        else:
            members.discard(uid)
        if not members:
            del self._running[tenant, group]
        queue = self._queues.get(tenant, {}).get(group)
        if queue is not None:
            self._touch(tenant, queue)

    def clear(self) -> None:
        """Forget everything (the setup changed: all pods are classified again)."""
        self.__init__()  # type: ignore[misc] # the same as a new one, but for whoever holds a reference

    def _touch(self, tenant: str, queue: _Queue) -> None:
        queue.lane = None
        self._lanes.pop(tenant, None)

    @staticmethod
    def _index(queue: _Queue, candidate: Candidate) -> int:
        index = bisect_left(queue.candidates, candidate.order, key=_order)
        while queue.candidates[index].pod.uid != candidate.pod.uid:
            index += 1
        return index

    def lanes(self, setup: Setup) -> Mapping[str, tuple[Lane, ...]]:
        """The lanes by tenant, each tenant's in the order of their oldest pods."""
        for tenant, queues in self._queues.items():
            if tenant not in self._lanes:
                mine = [self._lane(tenant, queue, setup) for queue in queues.values()]
                self._lanes[tenant] = tuple(sorted(mine, key=lambda lane: lane.candidates[0].order))
        return dict(self._lanes)

    def _lane(self, tenant: str, queue: _Queue, setup: Setup) -> Lane:
        if queue.lane is None:
            key = lane_key(tenant, queue.candidates[0], setup)
            running = len(self._running.get((tenant, key.group), ()))
            queue.lane = Lane(key, tuple(queue.candidates), running)
        return queue.lane


def _order(candidate: Candidate) -> tuple[int, str]:
    return candidate.order
