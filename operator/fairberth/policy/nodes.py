"""Node fit: which node of a pool holds a pod, over thousands of nodes at once (numpy, exact int64).

`NodeTable` is the immutable part: names in order, allocatable, what is used, which pool. `Room` is one turn's working
copy of one pool. Of the nodes that fit, a preemptible pod takes the fullest (nodes empty out for an autoscaler), any
other the emptiest; ties go by node name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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


_Item = TypeVar("_Item", bound=np.generic)
_NEVER = np.iinfo(np.int64).max
_LEAST = np.iinfo(np.int64).min  # what is not asked for is no obstacle, even on a node that is overcommitted


class Room:
    """The room left on one pool's nodes, as a turn fills it.

    Pods that ask alike are one *shape*; per shape the cost of each node is kept current (one row of `_costs`), so
    finding a node is one `argmin`, and using room on a node renews one column.
    """

    _MOST_SHAPES = 1024  # bounds memory; beyond it the shapes start anew

    def __init__(self, table: NodeTable, pool: str, tolerations: tuple[Toleration, ...]) -> None:
        self._statics = table.statics
        self._pool = pool
        self._tolerations = tolerations
        mask = table.statics.in_pool(pool)
        self._free = table.statics.allocatable - table.used
        self._emptiness = self._measure(slice(None))
        self.present = table.capacity(pool)  # what the pool's nodes of now can hold
        self.free = table.statics.total(np.maximum(self._free, 0), mask)
        self._shapes: dict[tuple[Amounts, Constraints, bool], int] = {}
        nodes = len(table.statics.nodes)
        self._costs = np.empty((8, nodes), dtype=np.int64)
        self._asked = np.empty((8, len(table.statics.resources)), dtype=np.int64)
        self._allowed = np.empty((8, nodes), dtype=np.bool_)
        self._signs = np.empty(8, dtype=np.int64)
        self._vectors: dict[Amounts, Numbers] = {}

    def _measure(self, rows: slice | int) -> Numbers:
        allocatable = self._statics.allocatable[:, rows]
        free = self._free[:, rows]
        # Thousandths of each resource that are free, summed: what a node has none of does not count.
        parts = np.where(allocatable > 0, free * 1000 // np.maximum(allocatable, 1), 0)
        return np.asarray(parts.sum(axis=0), dtype=np.int64)

    def find(self, asked: Amounts, constraints: Constraints, *, pack: bool) -> str | Reason:
        """The name of the node to take; NO_ROOM where none has room now, NO_NODE_FITS where none ever could."""
        key = (asked, constraints, pack)
        shape = self._shapes.get(key)
        if shape is None:
            vector = self._statics.vector(asked)
            allowed = self._statics.allowed(self._pool, constraints, self._tolerations)
            if vector is None or not (allowed & (self._statics.allocatable >= vector[:, None]).all(axis=0)).any():
                return Reason.NO_NODE_FITS
            shape = self._add_shape(key, vector, allowed)
        row = int(self._costs[shape].argmin())
        if self._costs[shape, row] == _NEVER:
            return Reason.NO_ROOM
        return self._statics.nodes[row].name

    def _add_shape(self, key: tuple[Amounts, Constraints, bool], vector: Numbers, allowed: Mask) -> int:
        if len(self._shapes) >= self._MOST_SHAPES:
            self._shapes.clear()
        shape = self._shapes[key] = len(self._shapes)
        if shape == len(self._costs):
            self._costs, self._asked = _doubled(self._costs), _doubled(self._asked)
            self._allowed, self._signs = _doubled(self._allowed), _doubled(self._signs)
        fits = allowed & (self._free >= np.where(vector > 0, vector, _LEAST)[:, None]).all(axis=0)
        self._signs[shape] = 1 if key[2] else -1
        self._asked[shape] = np.where(vector > 0, vector, _LEAST)
        self._allowed[shape] = allowed
        self._costs[shape] = np.where(fits, self._emptiness * self._signs[shape], _NEVER)
        return shape

    def take(self, node: str, asked: Amounts) -> None:
        """Use room on a node (a negative amount gives it back)."""
        row = self._statics.rows[node]
        vector = self._vectors.get(asked)
        if vector is None:
            vector = self._statics.vector(asked)
            assert vector is not None  # `find` chose the node, so every resource is known
            self._vectors[asked] = vector
        self._free[:, row] -= vector
        self._emptiness[row] = self._measure(row)
        shapes = len(self._shapes)
        fits = self._allowed[:shapes, row] & (self._asked[:shapes] <= self._free[:, row]).all(axis=1)
        self._costs[:shapes, row] = np.where(fits, self._signs[:shapes] * self._emptiness[row], _NEVER)
        self.free = self.free.minus(asked)

    def take_anywhere(self, asked: Amounts) -> None:
        """Use room of the pool for a pod whose node is not ours to choose."""
        self.free = self.free.minus(asked)


def _doubled(rows: NDArray[_Item]) -> NDArray[_Item]:
    return np.concatenate([rows, np.empty_like(rows)])
