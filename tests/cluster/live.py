"""`make live`: a local control plane with fake nodes, Fairberth installed from its chart, and two tenants at work.

Runs until Ctrl-C (or for `--seconds`), and stops everything that it started.
"""

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.table import Table

from tests.cluster.plane import objects
from tests.cluster.plane.api import Object
from tests.cluster.plane.plane import ControlPlane, Options
from tests.cluster.plane.product import Product

TENANTS = {"research": 1, "trading": 3}
QUEUE = 40  # pods that each tenant keeps waiting
RUN_FOR = ("6s", "9s", "12s")


def main(arguments: Sequence[str] | None = None) -> None:
    """Start, keep both tenants busy, show who holds what."""
    options = _arguments(arguments)
    console = Console()
    console.print("starting a control plane (a few seconds) …")
    with ControlPlane.start(Options(scheduler=False)) as plane:
        for index in range(options.nodes):
            plane.api.create(objects.node(f"node-{index:02}", cpu="8"))
        product = Product.start(plane)
        for name, weight in TENANTS.items():
            product.tenant(name, weight=weight)
        console.print(f"Fairberth runs on {options.nodes} nodes. Look with:")
        for look in ("get tenants", "get pods -A", "describe tenant trading", "get fairberth"):
            console.print(f"  kubectl --kubeconfig {plane.kubeconfig} {look}", soft_wrap=True, highlight=False)
        console.print("Ctrl-C stops everything.")
        try:
            _work(product, console, options.seconds)
        except KeyboardInterrupt:
            console.print("stopping …")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make live", description=__doc__)
    parser.add_argument("--nodes", type=int, default=20, help="fake nodes of 8 cpus (default 20)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop by itself after so long")
    return parser.parse_args(arguments)


def _work(product: Product, console: Console, seconds: float) -> None:
    numbers = itertools.count()
    end = time.monotonic() + seconds
    with Live(console=console, refresh_per_second=2, transient=True) as live:
        while time.monotonic() < end:
            pods = product.plane.api.list_all("pods", fields="status.phase!=Succeeded,status.phase!=Failed")
            _top_up(product, pods, numbers)
            if console.is_terminal:
                live.update(_table(pods))
            else:
                console.print(_line(pods), highlight=False)
            time.sleep(min(2.0, max(0.0, end - time.monotonic())))


def _top_up(product: Product, pods: Sequence[Object], numbers: "itertools.count[int]") -> None:
    """Fill both queues, in turns, so that neither comes first by more than a pod."""
    waiting = _waiting(pods)
    for rank in range(QUEUE):
        for tenant in TENANTS:
            if waiting[tenant] + rank < QUEUE:
                number = next(numbers)
                run_for = RUN_FOR[number % len(RUN_FOR)]
                product.plane.api.create(objects.pod(f"job-{number:05}", tenant, cpu="1", run_for=run_for, grace=1))


def _waiting(pods: Sequence[Object]) -> Counter[str]:
    return Counter(pod["metadata"]["namespace"] for pod in pods if not pod["spec"].get("nodeName"))


def _running(pods: Sequence[Object]) -> Counter[str]:
    return Counter(pod["metadata"]["namespace"] for pod in pods if pod["spec"].get("nodeName"))


def _table(pods: Sequence[Object]) -> Table:
    table = Table("tenant", "weight", "running", "waiting")
    for name, weight in TENANTS.items():
        table.add_row(name, str(weight), str(_running(pods)[name]), str(_waiting(pods)[name]))
    return table


def _line(pods: Sequence[Object]) -> str:
    running, waiting = _running(pods), _waiting(pods)
    return ", ".join(f"{name}: {running[name]} running, {waiting[name]} waiting" for name in TENANTS)


if __name__ == "__main__":
    main()
