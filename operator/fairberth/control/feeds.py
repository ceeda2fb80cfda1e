"""What watches bring becomes facts; and word of which kinds are in sync."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fairberth.model.workload import Namespace, Node, Pod
from fairberth.state.facts import Fact, NamespaceGone, NamespaceSeen, NodeGone, NodeSeen, PodGone, PodSeen

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Feed(Generic[T]):
    """A sink for one kind: what is seen and what is gone, as facts for `apply`."""

    kind: str
    as_seen: Callable[[T], Fact]
    as_gone: Callable[[str], Fact]
    apply: Callable[[Fact], None]
    told: Callable[[str], None]

    def seen(self, value: T, /) -> None:
        """An object was added or changed."""
        self.apply(self.as_seen(value))

    def gone(self, key: str, /) -> None:
        """An object is gone."""
        self.apply(self.as_gone(key))

    def synced(self, /) -> None:
        """All objects have been seen."""
        self.told(self.kind)


def pods(apply: Callable[[Fact], None], told: Callable[[str], None]) -> Feed[Pod]:
    """Pods, by uid."""
    return Feed("pods", PodSeen, PodGone, apply, told)


def nodes(apply: Callable[[Fact], None], told: Callable[[str], None]) -> Feed[Node]:
    """Nodes, by name."""
    return Feed("nodes", NodeSeen, NodeGone, apply, told)


def namespaces(apply: Callable[[Fact], None], told: Callable[[str], None]) -> Feed[Namespace]:
    """Namespaces, by name."""
    return Feed("namespaces", NamespaceSeen, NamespaceGone, apply, told)
