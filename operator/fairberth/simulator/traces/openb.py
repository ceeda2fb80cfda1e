"""Alibaba's GPU-sharing cluster: real nodes, filled with real pods that arrive in their order and never leave.

As the authors of the trace use it: a replay by its real times would leave the cluster close to empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairberth.model import keys
from fairberth.model.amounts import CPU, MEMORY, PODS, Amounts
from fairberth.model.objects import Tenant
from fairberth.model.workload import Millis, Node, Pod
from fairberth.simulator.scenario import Arrival, Scenario
from fairberth.simulator.times import MINUTE, SECOND
from fairberth.simulator.traces.tables import Row, rows, setup_of, sized

GPU_MILLI = "nvidia.com/gpu-milli"
BETWEEN = SECOND  # from one pod to the next
AFTERWARDS = 15 * MINUTE
DEFAULT_LEVELS = {"ls": 4, "guaranteed": 4, "burstable": 4, "be": 6}  # by QoS class; best effort is batch


def scenario(folder: Path, scale: float) -> Scenario:
    """Read it. Raises OSError, KeyError or ValueError where the files are not as expected."""
    tenants = [Tenant(name, namespaces=(name,), default_level=level) for name, level in DEFAULT_LEVELS.items()]
    setup, namespaces = setup_of(*tenants)
    nodes = tuple(_nodes(folder / "nodes.csv", scale))
    pods = sorted(rows(folder / "pods.csv.gz"), key=lambda row: int(row["creation_time"]))
    gpus = sum(node.allocatable[GPU_MILLI] for node in nodes) // 1000
    return Scenario(
        name="openb",
        text="Alibaba's GPU-sharing cluster (FGD, ATC'23): pods arrive in their order and never leave.",
        start=0,
        end=len(pods) * BETWEEN + AFTERWARDS,
        setup=setup,
        namespaces=namespaces,
        nodes=nodes,
        arrivals=tuple(_arrival(row, index * BETWEEN) for index, row in enumerate(pods)),
        notes=(
            f"The cluster is {sized(scale)}: {len(nodes):,} nodes with {gpus:,} GPUs.",
            "Pods come in the order of their creation, one per second, and stay.",
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


def _arrival(row: Row, at: Millis) -> Arrival:
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
        created=at,
        requests=Amounts(asked),
        scheduler=keys.SCHEDULER,
        gated=True,
    )
    return Arrival(pod)
