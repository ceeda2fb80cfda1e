"""Alibaba's GPU-sharing cluster: real nodes, filled with real pods that arrive in their order and never leave.

As the authors of the trace use it: a replay by their real ends would leave the cluster close to empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairberth.model import keys
from fairberth.model.amounts import CPU, MEMORY, PODS, Amounts
from fairberth.model.objects import Tenant
from fairberth.model.workload import Node, Pod
from fairberth.simulator.scenario import Arrival, Scenario, in_order
from fairberth.simulator.times import HOUR, SECOND
from fairberth.simulator.traces import Row, rows, setup_of

GPU_MILLI = "nvidia.com/gpu-milli"
DEFAULT_LEVELS = {"ls": 4, "guaranteed": 4, "burstable": 4, "be": 6}  # by QoS class; best effort is batch


def scenario(folder: Path, scale: float) -> Scenario:
    """Read it. Raises OSError, KeyError or ValueError where the files are not as expected."""
    tenants = [Tenant(name, namespaces=(name,), default_level=level) for name, level in DEFAULT_LEVELS.items()]
    setup, namespaces = setup_of(*tenants)
    nodes = tuple(_nodes(folder / "nodes.csv", scale))
    arrivals = in_order(_arrival(row) for row in rows(folder / "pods.csv.gz"))
    gpus = sum(node.allocatable[GPU_MILLI] for node in nodes) // 1000
    return Scenario(
        name="openb",
        text="Alibaba's GPU-sharing cluster (FGD, ATC'23): pods arrive in their order and never leave.",
        start=0,
        end=max((arrival.at for arrival in arrivals), default=0) + HOUR,
        setup=setup,
        namespaces=namespaces,
        nodes=nodes,
        arrivals=arrivals,
        notes=(
            f"The cluster is {scale:g} times the published one: {len(nodes)} nodes with {gpus} GPUs.",
            "Tenants are the trace's QoS classes, with equal weights; BE is batch (P6), the others standard (P4).",
            f"Parts of a GPU count as {GPU_MILLI}; that one pod's part must come from one device is not modelled.",
        ),
    )


def _nodes(path: Path, scale: float) -> Iterator[Node]:
    for index, row in enumerate(rows(path)):
        if int((index + 1) * scale) == int(index * scale):
            continue  # a smaller cluster leaves nodes out evenly
        allocatable = {
            CPU: int(row["cpu_milli"]),
            MEMORY: int(row["memory_mib"]) << 20,
            GPU_MILLI: int(row["gpu"]) * 1000,
            PODS: 110,
        }
        yield Node(row["sn"], 0, Amounts(allocatable), {"gpu.model": row["model"]} if row["model"] else {})


def _arrival(row: Row) -> Arrival:
    asked = {
        CPU: int(row["cpu_milli"]),
        MEMORY: int(row["memory_mib"]) << 20,
        GPU_MILLI: int(row["num_gpu"]) * int(row["gpu_milli"]),
        PODS: 1,
    }
    pod = Pod(
        uid=row["name"],
        namespace=row["qos"].lower(),
        name=row["name"],
        created=int(row["creation_time"]) * SECOND,
        requests=Amounts(asked),
        scheduler=keys.SCHEDULER,
        gated=True,
    )
    return Arrival(pod)
