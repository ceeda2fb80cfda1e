"""The simulator's own books: what runs where and who holds what, kept apart from the engine's, to catch it out.

Every step is checked: no node holds more than it has, nobody is above a limit, nobody goes twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fairberth.model.amounts import NOTHING, Amounts
from fairberth.model.workload import Node
from fairberth.policy.snapshot import Setup


class InvariantBroken(RuntimeError):
    """The engine did what it must never do. The message says where."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What an admitted pod holds; `node` "" while it has none."""

    pool: str
    tenant: str
    level: int
    requests: Amounts
    node: str = ""


class Books:
    """Free room by node, holdings by pod, and what each tenant holds by pool and level."""

    def __init__(self, setup: Setup, nodes: Iterable[Node]) -> None:
        self._setup = setup
        self._free = {node.name: dict(node.allocatable) for node in nodes}
        self._holdings: dict[str, Holding] = {}
        self._subtree: dict[tuple[str, str], dict[str, int]] = {}
        self.held: dict[tuple[str, str, int], Amounts] = {}  # by pool, tenant (its own pods) and level
        self.pods: dict[str, int] = {}  # admitted and not over, by tenant

    def __contains__(self, uid: str) -> bool:
        return uid in self._holdings

    def admit(self, uid: str, holding: Holding) -> None:
        """A pod was admitted. Raises InvariantBroken."""
        if uid in self._holdings:
            raise InvariantBroken(f"{uid} was admitted twice")
        self._holdings[uid] = holding
        self._book(holding, 1)
        self._check_limits(uid, holding)
        if holding.node:
            self._use(uid, holding.node, holding.requests)

    def place(self, uid: str, node: str) -> None:
        """A pod that was admitted without a node got one. Raises InvariantBroken."""
        known = self._holdings[uid]
        self._holdings[uid] = Holding(known.pool, known.tenant, known.level, known.requests, node)
        self._use(uid, node, known.requests)

    def end(self, uid: str) -> Holding:
        """A pod is over."""
        holding = self._holdings.pop(uid)
        self._book(holding, -1)
        if holding.node:
            free = self._free[holding.node]
            for name, n in holding.requests.items():
                free[name] += n
        return holding

    def has_room(self, node: str, requests: Amounts) -> bool:
        """Whether a node has room for the requests."""
        free = self._free[node]
        return all(free.get(name, 0) >= n for name, n in requests.items())

    def _use(self, uid: str, node: str, requests: Amounts) -> None:
        free = self._free[node]
        for name, n in requests.items():
            left = free.get(name, 0) - n
            if left < 0:
                raise InvariantBroken(f"{uid} was sent to {node}, which lacks {-left} of {name} for it")
            free[name] = left

    def _book(self, holding: Holding, sign: int) -> None:
        key = (holding.pool, holding.tenant, holding.level)
        amounts = holding.requests if sign > 0 else holding.requests.times(-1)
        self.held[key] = self.held.get(key, NOTHING).plus(amounts)
        self.pods[holding.tenant] = self.pods.get(holding.tenant, 0) + sign
        for tenant in self._setup.hierarchy.paths[holding.tenant]:
            if self._setup.tenants[tenant].quota(holding.pool).limit:
                held = self._subtree.setdefault((holding.pool, tenant), {})
                for name, n in amounts.items():
                    held[name] = held.get(name, 0) + n

    def _check_limits(self, uid: str, holding: Holding) -> None:
        for tenant in self._setup.hierarchy.paths[holding.tenant]:
            limit = self._setup.tenants[tenant].quota(holding.pool).limit
            for name, bound in limit.items():
                held = self._subtree[holding.pool, tenant].get(name, 0)
                if held > bound and holding.requests[name] > 0:
                    what = f"{held} of {name} in pool {holding.pool}, above its limit of {bound}"
                    raise InvariantBroken(f"with {uid}, {tenant} holds {what}")
