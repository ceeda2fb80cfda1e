"""What is simulated, as a value: objects in force, nodes, and who arrives when.

A scenario file (`reading`) and a trace (`traces`) both become one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fairberth.model.keys import GROUP, GROUP_SIZE, TENANT_LABEL
from fairberth.model.selectors import Labels
from fairberth.model.workload import Millis, Namespace, Node, Pod
from fairberth.policy.snapshot import Setup


@dataclass(frozen=True, slots=True)
class Arrival:
    """A gated pod that arrives at its creation time; `run_for` None: it never ends by itself."""

    pod: Pod
    run_for: Millis | None = None

    @property
    def at(self) -> Millis:
        """When."""
        return self.pod.created


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment that has a name, such as 09:30 "the storm"."""

    at: Millis
    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run to be. Time 0 is midnight of the first day; the run is from `start` to `end`."""

    name: str
    text: str
    start: Millis
    end: Millis
    setup: Setup
    namespaces: tuple[Namespace, ...]
    nodes: tuple[Node, ...]
    arrivals: tuple[Arrival, ...]  # by time
    moments: tuple[Moment, ...] = ()
    notes: tuple[str, ...] = ()  # what a reader of the report must know


def labelled(setup: Setup, namespaces: Iterable[Namespace]) -> tuple[Namespace, ...]:
    """The namespaces with the tenant labels that the operator would give them, by name."""
    done = []
    for namespace in sorted(namespaces, key=lambda n: n.name):
        owner = setup.owner_of(namespace)
        rest = {key: value for key, value in namespace.labels.items() if key != TENANT_LABEL}
        labels = {**rest, TENANT_LABEL: owner} if owner else rest
        done.append(Namespace(namespace.name, labels, namespace.created))
    return tuple(done)


def in_order(arrivals: Iterable[Arrival]) -> tuple[Arrival, ...]:
    """By time; at the same time in the order given."""
    return tuple(sorted(arrivals, key=lambda arrival: arrival.at))


def grouped(labels: Labels, group: str, size: int) -> dict[str, str]:
    """Labels of a member of a group that starts together or not at all."""
    return {**labels, GROUP: group, GROUP_SIZE: str(size)}
