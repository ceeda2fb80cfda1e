"""What a turn decides on: one immutable view of everything, at one moment.

`state.ClusterState.snapshot` makes it by structural sharing; the simulator and the tests make it the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fairberth.model.amounts import Amounts
from fairberth.model.objects import (
    LEVELS,
    CapacityPool,
    FairnessPolicy,
    PrioritySLA,
    Tenant,
    ValueClass,
    shipped_slas,
)
from fairberth.model.rules import RoutingRule
from fairberth.model.selectors import Constraints
from fairberth.model.workload import Millis, Namespace, Node, Pod
from fairberth.policy.classification import Classified
from fairberth.policy.hierarchy import Hierarchy
from fairberth.policy.ledger import Ledger
from fairberth.policy.nodes import NodeTable


@dataclass(frozen=True, slots=True)
class Setup:
    """The objects in force. Levels that no PrioritySLA names keep the shipped ones."""

    tenants: Mapping[str, Tenant] = field(default_factory=dict)
    slas: Mapping[int, PrioritySLA] = field(default_factory=lambda: {s.level: s for s in shipped_slas()})
    policy: FairnessPolicy = FairnessPolicy()
    pools: Mapping[str, CapacityPool] = field(default_factory=dict)
    hierarchy: Hierarchy = Hierarchy({}, {"": ()})
    rules: tuple[RoutingRule, ...] = ()  # by creation, then name
    reserved: frozenset[str] = frozenset({"kube-system"})  # namespaces that no tenant can own

    @classmethod
    def of(
        cls,
        tenants: Mapping[str, Tenant],
        slas: Mapping[int, PrioritySLA],
        policy: FairnessPolicy,
        pools: Mapping[str, CapacityPool],
        rules: Iterable[RoutingRule] = (),
    ) -> Setup:
        """Join them. Raises ValueError where parents make a cycle."""
        complete = {sla.level: sla for sla in shipped_slas()} | dict(slas)
        ordered = {level: complete[level] for level in LEVELS}
        by_name = {name: tenants[name] for name in sorted(tenants)}
        in_order = tuple(sorted(rules, key=lambda rule: (rule.created, rule.name)))
        return cls(by_name, ordered, policy, dict(sorted(pools.items())), Hierarchy.of(by_name.values()), in_order)

    def pool_of(self, node: Node) -> str:
        """The pool that a node belongs to: the oldest whose selector matches, then by name; "" for none."""
        matching = [p for p in self.pools.values() if p.selector.matches(node.labels)]
        return min(matching, key=lambda p: (p.created, p.name)).name if matching else ""

    def owner_of(self, namespace: Namespace) -> str:
        """The tenant that claims a namespace: the oldest claim, then by name; "" for none."""
        if namespace.name in self.reserved:
            return ""
        claims = [tenant for tenant in self.tenants.values() if claims_namespace(tenant, namespace)]
        return min(claims, key=lambda t: (t.created, t.name)).name if claims else ""

    def route(self, level: int) -> tuple[str, ...]:
        """The pools that a level may use, in the order in which they are tried: by role, then name."""
        allowed = [p for p in self.pools.values() if level in p.levels]
        return tuple(p.name for p in sorted(allowed, key=lambda p: (p.role, p.name)))


def claims_namespace(tenant: Tenant, namespace: Namespace) -> bool:
    """Whether a tenant's spec names or selects the namespace."""
    if namespace.name in tenant.namespaces:
        return True
    return tenant.namespace_selector is not None and tenant.namespace_selector.matches(namespace.labels)


@dataclass(frozen=True, slots=True)
class LaneKey:
    """What the pods of one lane have in common: everything that decisions look at but age and name.

    A group is a lane of its own; there `level`, `requests` and the rest are those of its first member.
    """

    tenant: str
    team: str
    level: int
    raw: int
    value: ValueClass
    base_priority: int
    requests: Amounts
    constraints: Constraints
    foreign_gates: tuple[str, ...] = ()
    group: str = ""
    group_size: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting pod, classified."""

    pod: Pod
    team: str
    classified: Classified
    base_priority: int

    @property
    def order(self) -> tuple[Millis, str]:
        """Creation time, then namespace/name: the order within a lane."""
        return self.pod.created, self.pod.key


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Waiting pods that are alike, oldest first. One refusal holds for all of them, so a turn looks at one."""

    key: LaneKey
    candidates: tuple[Candidate, ...]
    running: int = 0  # members of the group that are admitted already


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a turn looks at. `capacity` per pool is that of §5.5; `unplaced` what admitted pods will take
    of a pool on nodes that nobody knows yet."""

    now: Millis
    setup: Setup
    lanes: Mapping[str, tuple[Lane, ...]]  # by tenant
    ledger: Ledger  # fork before changing
    nodes: NodeTable
    capacity: Mapping[str, Amounts]
    unplaced: Mapping[str, Amounts]
