"""What is used on each node: by everybody's pods, and by those of no tenant. Rebuilt into arrays only where changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.workload import Node
from fairberth.policy.nodes import NodeStatics, NodeTable, Numbers


class NodeUsage:
    """Keeps nodes and their usage; `table()` gives the immutable view of now."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._pools: dict[str, str] = {}
        self._used: dict[str, Amounts] = {}
        self._foreign: dict[str, Amounts] = {}
        self._resources: set[str] = set()
        self._dirty: set[str] = set()
        self._table: NodeTable | None = None

    def set_node(self, node: Node, pool: str) -> bool:
        """A node as it is now, and the pool that it belongs to. Returns whether anything changed."""
        if self.nodes.get(node.name) == node and self._pools.get(node.name) == pool:
            return False
        self.nodes[node.name] = node
        self._pools[node.name] = pool
        self._table = None
        return True

    def drop_node(self, name: str) -> None:
        """A node is gone; what pods use of it stays known, should it come back."""
        self.nodes.pop(name, None)
        self._pools.pop(name, None)
        self._table = None

    def pool_of(self, node: str) -> str:
        """The pool that a node belongs to, "" for none or an unknown node."""
        return self._pools.get(node, "")

    def add(self, node: str, amounts: Amounts, *, foreign: bool) -> None:
        """A pod uses room on a node (negative amounts: not any more)."""
        used = self._used.get(node, NOTHING).plus(amounts)
        self._put(self._used, node, used)
        if foreign:
            self._put(self._foreign, node, self._foreign.get(node, NOTHING).plus(amounts))
        if not self._resources.issuperset(amounts):
            self._resources.update(amounts)
            self._table = None
        self._dirty.add(node)

    @staticmethod
    def _put(where: dict[str, Amounts], node: str, amounts: Amounts) -> None:
        if amounts:
            where[node] = amounts
        else:
            where.pop(node, None)

    def table(self) -> NodeTable:
        """The nodes and their usage as arrays; unchanged parts are shared with earlier tables."""
        if self._table is None:
            statics = NodeStatics.of(tuple(self.nodes.values()), self._pools, sorted(self._resources))
            self._table = NodeTable(statics, self._fill(statics, self._used), self._fill(statics, self._foreign))
        elif self._dirty:
            statics = self._table.statics
            used, foreign = self._table.used.copy(), self._table.foreign.copy()
            for name in self._dirty & statics.rows.keys():
                row = statics.rows[name]
                used[:, row] = _column(statics, self._used.get(name, NOTHING))
                foreign[:, row] = _column(statics, self._foreign.get(name, NOTHING))
            self._table = NodeTable(statics, used, foreign)
        self._dirty.clear()
        return self._table

    @staticmethod
    def _fill(statics: NodeStatics, amounts: Mapping[str, Amounts]) -> Numbers:
        matrix = np.zeros_like(statics.allocatable)
        for name, row in statics.rows.items():
            if name in amounts:
                matrix[:, row] = _column(statics, amounts[name])
        return matrix


def _column(statics: NodeStatics, amounts: Amounts) -> list[int]:
    return [amounts[resource] for resource in statics.resources]
