"""Microsoft Philly: ten days of GPU jobs of eleven virtual clusters, gangs among them.

At the published size nothing queues; a smaller cluster (0.35, 0.3) is contended, and the report says its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairberth.model import keys
from fairberth.model.amounts import PODS, Amounts
from fairberth.model.objects import Tenant
from fairberth.model.workload import Node, Pod
from fairberth.simulator.scenario import Arrival, Scenario, grouped, in_order
from fairberth.simulator.times import DAY, SECOND
from fairberth.simulator.traces.tables import Row, rows, setup_of, sized

GPU = "nvidia.com/gpu"
LARGEST = 8  # GPUs of the largest node: a larger job is a gang of several pods
GPUS_PER_WEIGHT = 8  # nodes of a virtual cluster per unit of its weight (8 to 64 nodes: weights 1 to 8)
LENGTH = 10 * DAY


def scenario(folder: Path, scale: float) -> Scenario:
    """Read it. Raises OSError, KeyError or ValueError where the files are not as expected."""
    setup, namespaces = setup_of(*(_tenant(row) for row in rows(folder / "tenants.csv") if _took_part(row)))
    nodes = tuple(node for row in rows(folder / "nodes.csv") for node in _nodes(row, scale))
    jobs = [*rows(folder / "carryover.csv"), *rows(folder / "jobs.csv.gz")]
    gpus = sum(node.allocatable[GPU] for node in nodes)
    return Scenario(
        name="philly",
        text="Microsoft Philly, 2017-09-29 to 2017-10-09: GPU jobs of eleven virtual clusters.",
        start=0,
        end=LENGTH,
        setup=setup,
        namespaces=namespaces,
        nodes=nodes,
        arrivals=in_order(arrival for row in jobs for arrival in _pods(row)),
        notes=(
            f"The cluster is {sized(scale)}: {len(nodes):,} nodes with {gpus:,} GPUs.",
            "Weights follow the virtual clusters' sizes (8 nodes count 1). The log knows GPUs only, no CPUs or memory.",
            "A job of more than 8 GPUs is a gang of pods that start together or not at all.",
        ),
    )


def _took_part(row: Row) -> bool:
    return int(row["jobs"]) + int(row["carryover_jobs"]) > 0


def _tenant(row: Row) -> Tenant:
    name, nodes = row["tenant"], row["helios_artifact_vc_nodes"]
    return Tenant(name, weight=max(1, int(nodes or 0) // GPUS_PER_WEIGHT), namespaces=(name,))


def _nodes(row: Row, scale: float) -> Iterator[Node]:
    gpus = int(row["gpus_per_node"])
    count = round(int(row["node_count"]) * scale)
    for index in range(1, count + 1):
        allocatable = Amounts({GPU: gpus, PODS: 110})
        yield Node(f"gpu{gpus}-{index:03}", 0, allocatable, {"gpu.memory": row["gpu_memory"]})


def _pods(row: Row) -> Iterator[Arrival]:
    submitted, duration, left = int(row["submit_s"]), int(row["duration_s"]), int(row["gpus"])
    # A job from before the window runs on at 0 with what it has left.
    duration = submitted + duration if submitted < 0 else duration
    pods = -(-left // LARGEST)
    labels = grouped({}, row["job_id"], pods) if pods > 1 else {}
    for index in range(pods):
        gpus = min(left, LARGEST)
        left -= gpus
        name = row["job_id"].lower() + (f"-{index}" if pods > 1 else "")
        pod = Pod(
            uid=name,
            namespace=row["tenant"],
            name=name,
            created=max(submitted, 0) * SECOND,
            requests=Amounts({GPU: gpus, PODS: 1}),
            labels=labels,
            scheduler=keys.SCHEDULER,
            gated=True,
        )
        yield Arrival(pod, max(duration, 1) * SECOND)
