"""The tree of tenants: who is under whom. It knows no quota and no pod.

An unknown or cyclic parent never gets here: `configuration.resolve` leaves such objects out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairberth.model.objects import Tenant


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Parents, children and paths, all in a fixed order (by name)."""

    paths: Mapping[str, tuple[str, ...]]  # tenant → itself, its parent, … its root
    children: Mapping[str, tuple[str, ...]]  # tenant → its children; "" → the roots

    @classmethod
    def of(cls, tenants: Iterable[Tenant]) -> Hierarchy:
        """Build it. Raises ValueError on a cycle."""
        parents = {tenant.name: tenant.parent for tenant in tenants}
        children: dict[str, list[str]] = {name: [] for name in ("", *parents)}
        for name in sorted(parents):
            parent = parents[name]
            children[parent if parent in parents else ""].append(name)
        paths = {name: cls._path(name, parents) for name in parents}
        return cls(paths, {name: tuple(below) for name, below in children.items()})

    @staticmethod
    def _path(name: str, parents: Mapping[str, str]) -> tuple[str, ...]:
        path = [name]
        while (parent := parents[path[-1]]) in parents:
            if parent in path:
                raise ValueError(f"tenant {name!r} is above itself: {' → '.join([*path, parent])}")
            path.append(parent)
        return tuple(path)

    def bottom_up(self) -> tuple[str, ...]:
        """All tenants, children before their parents."""
        return tuple(sorted(self.paths, key=lambda name: (-len(self.paths[name]), name)))

    def top_down(self) -> tuple[str, ...]:
        """All tenants, parents before their children."""
        return tuple(sorted(self.paths, key=lambda name: (len(self.paths[name]), name)))
