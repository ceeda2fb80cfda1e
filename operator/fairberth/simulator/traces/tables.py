"""What the traces share: tables, and a setup with default policies."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from fairberth.model.objects import CapacityPool, FairnessPolicy, Tenant, shipped_slas
from fairberth.model.workload import Namespace
from fairberth.policy.snapshot import Setup
from fairberth.simulator.scenario import labelled

POOL: Final = "gpus"

Row = Mapping[str, str]


def rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file, compressed or not."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)
    else:
        with path.open(encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)


def sized(scale: float) -> str:
    """How large the cluster is, in words."""
    return "as large as published" if scale == 1 else f"{scale:g} times the published one"


def setup_of(*tenants: Tenant) -> tuple[Setup, tuple[Namespace, ...]]:
    """Default policies, one pool of all nodes, levels without guarantees; and the tenants' namespaces."""
    slas = {sla.level: replace(sla, guarantee=0) for sla in shipped_slas()}
    setup = Setup.of({t.name: t for t in tenants}, slas, FairnessPolicy(), {POOL: CapacityPool(POOL)})
    return setup, labelled(setup, [Namespace(name) for tenant in tenants for name in tenant.namespaces])
