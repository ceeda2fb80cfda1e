"""Node fit: which node of a pool holds a pod, over thousands of nodes at once (numpy, exact int64).

`NodeTable` is the immutable part: names in order, allocatable, what is used, which pool. `Room` is one turn's working
copy of one pool. Of the nodes that fit, a preemptible pod takes the fullest (nodes empty out for an autoscaler), any
other the emptiest; ties go by node name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairberth.model.amounts import Amounts
from fairberth.model.reasons import Reason
from fairberth.model.selectors import Constraints, Toleration
from fairberth.model.workload import Node

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NodeStatics:
    """What does not change when pods come and go. Row i everywhere is node `names[i]`; names are sorted."""

    nodes: tuple[Node, ...]
    resources: tuple[str, ...]  # one row of `allocatable` each, sorted by name
    allocatable: Numbers  # resources × nodes
    pools: tuple[str, ...]  # by node; "" for a node of no pool
    rows: Mapping[str, int] = field(repr=False)
    _masks: dict[tuple[str, Constraints, tuple[Toleration, ...]], Mask] = field(default_factory=dict, repr=False)
    _pool_masks: dict[str, Mask] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, nodes: Sequence[Node], pools: Mapping[str, str], resources: Sequence[str]) -> NodeStatics:
        """Build the table of nodes; `pools` says which pool a node (by name) belongs to."""
        ordered = tuple(sorted(nodes, key=lambda node: node.name))
        columns = tuple(sorted({*resources, *(name for node in ordered for name in node.allocatable)}))
        allocatable = np.array([[n.allocatable[r] for n in ordered] for r in columns], dtype=np.int64)
        return cls(
            ordered,
            columns,
            allocatable.reshape(len(columns), len(ordered)),
            tuple(pools.get(node.name, "") for node in ordered),
            {node.name: row for row, node in enumerate(ordered)},
        )

    def in_pool(self, pool: str) -> Mask:
        """The nodes of a pool whose room counts as capacity."""
        mask = self._pool_masks.get(pool)
        if mask is None:
            members = [p == pool and n.counts for p, n in zip(self.pools, self.nodes, strict=True)]
            mask = self._pool_masks[pool] = np.array(members, dtype=np.bool_)
        return mask

    def allowed(self, pool: str, constraints: Constraints, tolerations: tuple[Toleration, ...]) -> Mask:
        """The pool's nodes that selectors, affinity and taints allow (the pool's own tolerations included)."""
        key = (pool, constraints, tolerations)
        mask = self._masks.get(key)
        if mask is None:
            wanted = constraints.tolerating(tolerations)
            mask = self.in_pool(pool).copy()
            for row in np.flatnonzero(mask):
                node = self.nodes[row]
                mask[row] = wanted.allow(node.name, node.labels, node.taints)
            self._masks[key] = mask
        return mask

    def vector(self, amounts: Amounts) -> Numbers | None:
        """Amounts as one column, or None where a resource is asked for that no node has."""
        if any(n > 0 and name not in self.resources for name, n in amounts.items()):
            return None
        return np.array([amounts[name] for name in self.resources], dtype=np.int64)

    def total(self, matrix: Numbers, mask: Mask) -> Amounts:
        """Sum over the masked nodes."""
        sums = matrix[:, mask].sum(axis=1)
        return Amounts({name: int(n) for name, n in zip(self.resources, sums, strict=True)})


@dataclass(frozen=True, slots=True)
class NodeTable:
    """The nodes and what is used on them: by everybody, and by pods of no tenant."""

    statics: NodeStatics
    used: Numbers  # resources × nodes; bound or nominated by us, not terminal, every scheduler's
    foreign: Numbers  # the part of it that pods of no tenant use

    @classmethod
    def empty(cls) -> NodeTable:
        """No nodes."""
        statics = NodeStatics.of((), {}, ())
        return cls(statics, statics.allocatable.copy(), statics.allocatable.copy())

    def capacity(self, pool: str) -> Amounts:
        """Allocatable of the pool's Ready, schedulable nodes minus what pods of no tenant use."""
        free = self.statics.allocatable - self.foreign
        return self.statics.total(free, self.statics.in_pool(pool))


class Room:
    """The room left on one pool's nodes, as a turn fills it."""

    def __init__(self, table: NodeTable, pool: str, tolerations: tuple[Toleration, ...]) -> None:
        self._statics = table.statics
        self._pool = pool
        self._tolerations = tolerations
        self._mask = table.statics.in_pool(pool)
        self._free = table.statics.allocatable - table.used
        self._emptiness = self._measure(slice(None))
        self.present = table.capacity(pool)  # what the pool's nodes of now can hold
        self.free = table.statics.total(np.maximum(self._free, 0), self._mask)
        self._vectors: dict[Amounts, Numbers | None] = {}

    def _measure(self, rows: slice | int) -> Numbers:
        allocatable = self._statics.allocatable[:, rows]
        free = self._free[:, rows]
        # Thousandths of each resource that are free, summed: what a node has none of does not count.
        parts = np.where(allocatable > 0, free * 1000 // np.maximum(allocatable, 1), 0)
        return np.asarray(parts.sum(axis=0), dtype=np.int64)

    def _vector(self, asked: Amounts) -> Numbers | None:
        if asked not in self._vectors:
            self._vectors[asked] = self._statics.vector(asked)
        return self._vectors[asked]

    def find(self, asked: Amounts, constraints: Constraints, *, pack: bool) -> str | Reason:
        """The name of the node to take; NO_ROOM where none has room now, NO_NODE_FITS where none ever could."""
        allowed = self._statics.allowed(self._pool, constraints, self._tolerations)
        vector = self._vector(asked)
        if vector is None or not allowed.any():
            return Reason.NO_NODE_FITS
        fits = allowed.copy()
        for row in np.flatnonzero(vector):
            fits &= self._free[row] >= vector[row]
        if not fits.any():
            able = allowed & (self._statics.allocatable >= vector[:, None]).all(axis=0)
            return Reason.NO_ROOM if able.any() else Reason.NO_NODE_FITS
        candidates = np.flatnonzero(fits)
        emptiness = self._emptiness[candidates]
        chosen = candidates[emptiness.argmin() if pack else emptiness.argmax()]
        return self._statics.nodes[int(chosen)].name

    def take(self, node: str, asked: Amounts) -> None:
        """Use room on a node (a negative amount gives it back)."""
        row = self._statics.rows[node]
        vector = self._statics.vector(asked)
        assert vector is not None  # `find` chose the node, so every resource is known
        self._free[:, row] -= vector
        self._emptiness[row] = self._measure(row)
        self.free = self.free.minus(asked)

    def take_anywhere(self, asked: Amounts) -> None:
        """Use room of the pool for a pod whose node is not ours to choose."""
        self.free = self.free.minus(asked)
