"""Builders: short words for values, so that a test says only what matters to it."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from fairberth.model import keys
from fairberth.model.amounts import Amounts, Limits, parse_quantity
from fairberth.model.objects import Borrowing, CapacityPool, Lending, PrioritySLA, Quota, Tenant, shipped_slas
from fairberth.model.selectors import ANYWHERE, Constraints
from fairberth.model.workload import Namespace, Node, Pod

POOL = "main"
T0 = 1_700_000_000_000  # some moment, in milliseconds
_counter = itertools.count()


def amounts(**of: Any) -> Amounts:
    """``amounts(cpu="2", memory="1Gi", gpu=1)``."""
    return Amounts.parse({name.replace("_", "."): value for name, value in of.items()})


def limits(**of: Any) -> Limits:
    """``limits(cpu="2")``; what is not named is unlimited."""
    return Limits({name: parse_quantity(name, value) for name, value in of.items()})


def quota(
    guaranteed: Amounts = Amounts(),
    limit: Limits = Limits(),
    *,
    borrow: bool = True,
    borrow_limit: Limits = Limits(),
    lend: bool = True,
    lend_limit: Limits = Limits(),
) -> Quota:
    """A claim on a pool."""
    return Quota(guaranteed, limit, Borrowing(borrow, borrow_limit), Lending(lend, lend_limit))


def tenant(name: str, weight: int = 1, of: Quota | None = None, **more: Any) -> Tenant:
    """A tenant that claims the namespace of its own name, with `of` as its quota in POOL."""
    more.setdefault("namespaces", (name,))
    more.setdefault("quotas", {POOL: of} if of else {})
    return Tenant(name=name, weight=weight, **more)


def pool(name: str = POOL, **more: Any) -> CapacityPool:
    """A pool of all nodes."""
    return CapacityPool(name=name, **more)


def node(name: str, **allocatable: Any) -> Node:
    """A Ready node; ``pods`` default to 110."""
    allocatable.setdefault("pods", 110)
    return Node(name=name, created=T0, allocatable=amounts(**allocatable))


def pod(
    name: str,
    namespace: str,
    created: int = T0,
    *,
    labels: dict[str, str] | None = None,
    constraints: Constraints = ANYWHERE,
    priority_class: str = "",
    gated: bool = True,
    **requests: Any,
) -> Pod:
    """A gated pod that asks for one cpu unless told otherwise."""
    asked = amounts(**(requests or {"cpu": 1}))
    return Pod(
        uid=f"{namespace}-{name}-{next(_counter)}",
        namespace=namespace,
        name=name,
        created=created,
        requests=asked.plus(Amounts({"pods": 1})),
        constraints=constraints,
        labels=labels or {},
        priority_class=priority_class,
        gated=gated,
        scheduler=keys.SCHEDULER,
    )


def namespace(name: str, tenant: str = "") -> Namespace:
    """A namespace, labelled with its tenant as the operator does."""
    return Namespace(name, {keys.TENANT_LABEL: tenant} if tenant else {})


def slas(**guarantees: int) -> dict[int, PrioritySLA]:
    """The shipped levels with no guarantees, except those named: ``slas(p0=20)``."""
    return {sla.level: dataclasses.replace(sla, guarantee=guarantees.get(f"p{sla.level}", 0)) for sla in shipped_slas()}
