"""On a real control plane: what the second scheduler, the extender and the whole path cost, beside the stock ones.

Everything of one table is measured in one run on one control plane, in turns, so that the machine's own ups and downs
fall on all alike: read the ratios, not the absolute figures.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from typing import Any

from rich.console import Console

from fairberth.api import grants
from fairberth.model.keys import ADMISSION
from fairberth.model.workload import Grant
from tests.bench.figures import Figures, quantile
from tests.cluster.plane import objects
from tests.cluster.plane.api import Api, Object, path
from tests.cluster.plane.plane import ControlPlane, Options
from tests.cluster.plane.ports import free_ports
from tests.cluster.plane.product import Product

AT_ONCE = 32  # requests of the load generator
REPEATS = 3
WITHIN = 600.0


class Echo(BaseHTTPRequestHandler):
    """An extender that only echoes: what the protocol itself costs."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        """Echo the names, or score them all alike."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer: Any = []
        if self.path.endswith("filter"):
            answer = {"NodeNames": json.loads(body)["NodeNames"]}
        encoded = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def run(figures: Figures, console: Console, nodes: int, pods: int) -> None:
    """All sections on one control plane with so many nodes."""
    with ControlPlane.start(Options()) as plane:
        _each(
            lambda index: plane.api.create(objects.node(f"node-{index:04}", cpu="32", memory="128Gi")),
            nodes,
            console,
            "nodes",
        )
        product = Product.start(plane)
        _scheduling(figures, console, product, nodes, pods)
        product.start_operator()
        product.start_scheduler()
        _path(figures, console, product, pods)
        _latency(figures, console, product)
        _telling(figures, console, product)


# -- the scheduler alone --------------------------------------------------------------------------------------------


def _scheduling(figures: Figures, console: Console, product: Product, nodes: int, pods: int) -> None:
    product.stop("operator")
    product.stop("scheduler")
    echo_port = free_ports(1)[0]
    echo = ThreadingHTTPServer(("127.0.0.1", echo_port), Echo)
    threading.Thread(target=echo.serve_forever, daemon=True).start()
    variants: dict[str, tuple[int | None, bool]] = {
        "stock": (None, False),
        "echo": (echo_port, False),
        "fairberth": (product.extender_port, True),
    }
    rates: dict[str, list[float]] = {name: [] for name in variants}
    for repeat in range(REPEATS):
        for name, (port, nominate) in variants.items():
            console.print(f"scheduling: {name}, {repeat + 1} of {REPEATS}")
            rates[name].append(_rate(product.plane, f"{name}-{repeat}", port, nodes, pods, nominate=nominate))
    echo.shutdown()
    stock = median(rates["stock"])
    figures.add(f"kube-scheduler, stock, {nodes} nodes", stock, "pods/s")
    figures.add("with an extender that echoes ÷ stock", median(rates["echo"]) / stock, "×")
    aim = 1.5 if nodes >= 5000 else 1.0
    figures.add(
        "with Fairberth (nominated, extender on) ÷ stock", median(rates["fairberth"]) / stock, "×", at_least=aim
    )


def _rate(plane: ControlPlane, namespace: str, port: int | None, nodes: int, pods: int, *, nominate: bool) -> float:
    """Pods bound per second, from the first bind to the last, by a scheduler that finds them all waiting."""
    api, scheduler = plane.api, f"bench-{namespace}"
    api.create(objects.namespace(namespace))
    api.wait_for("serviceaccounts", "default", namespace=namespace)
    _each(lambda i: api.create(objects.pod(f"pod-{i:04}", namespace, cpu="1", grace=0, scheduler=scheduler)), pods)
    if nominate:
        api.patch("namespaces", namespace, {"metadata": {"labels": {"fairberth.io/tenant": namespace}}})
        _each(lambda i: _grant(api, namespace, f"pod-{i:04}", f"node-{i % nodes:04}"), pods)
    config: dict[str, Any] = {"profiles": [{"schedulerName": scheduler}]}
    if port is not None:
        extender = {"urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "filter", "prioritizeVerb": "prioritize"}
        config["extenders"] = [{**extender, "weight": 13, "nodeCacheCapable": True, "httpTimeout": "5s"}]
    with ThreadPoolExecutor(1) as watcher:
        watching = watcher.submit(_bound_at, api, namespace, pods)
        program = plane.start_scheduler(config, scheduler)
        bound = watching.result()
    plane.programs.stop(program)
    api.delete_all("pods", namespace, grace=0)
    api.wait_all("pods", lambda found: not found, namespace, within=WITHIN)
    return (pods - 1) / (bound[-1] - bound[0])


def _grant(api: Api, namespace: str, pod: str, node: str) -> None:
    grant = grants.encode(Grant(1, "default", 4, "bench", node))
    api.patch("pods", pod, {"metadata": {"annotations": {ADMISSION: grant}}}, namespace)
    api.patch("pods", pod, {"status": {"nominatedNodeName": node}}, namespace, sub="status")


def _bound_at(api: Api, namespace: str, pods: int) -> list[float]:
    """When each pod was seen bound, in order."""
    times: dict[str, float] = {}
    for event in api.watch(path("pods", namespace), {}, time.monotonic() + WITHIN):
        pod: Object = event["object"]
        if pod["spec"].get("nodeName"):
            times.setdefault(pod["metadata"]["name"], time.monotonic())
            if len(times) == pods:
                break
    return sorted(times.values())


# -- the whole path -------------------------------------------------------------------------------------------------


def _path(figures: Figures, console: Console, product: Product, pods: int) -> None:
    seconds: dict[str, list[float]] = {"plain": [], "fair": []}
    for repeat in range(REPEATS):
        for kind in seconds:
            console.print(f"burst of {pods}: {kind}, {repeat + 1} of {REPEATS}")
            seconds[kind].append(_burst(product, f"{kind}-{repeat}", pods, tenant=kind == "fair"))
    plain, fair = median(seconds["plain"]), median(seconds["fair"])
    figures.add(f"burst of {pods}, created → bound, plain", pods / plain, "pods/s")
    figures.add("the same with Fairberth ÷ plain", plain / fair, "×", at_least=0.6)


def _burst(product: Product, namespace: str, pods: int, *, tenant: bool) -> float:
    api = product.plane.api
    _make_namespace(product, namespace, tenant=tenant)
    started = time.monotonic()
    with ThreadPoolExecutor(1) as watcher:
        bound = watcher.submit(_bound_at, api, namespace, pods)
        _each(lambda i: api.create(objects.pod(f"pod-{i:04}", namespace, cpu="1", grace=0)), pods)
        last = bound.result()[-1]
    api.delete_all("pods", namespace, grace=0)
    api.wait_all("pods", lambda found: not found, namespace, within=WITHIN)
    return last - started


def _make_namespace(product: Product, name: str, *, tenant: bool) -> None:
    if tenant:
        product.tenant(name)
        return
    product.plane.api.create(objects.namespace(name))
    product.plane.api.wait_for("serviceaccounts", "default", namespace=name)


def _latency(figures: Figures, console: Console, product: Product, count: int = 60) -> None:
    seconds: dict[str, list[float]] = {"plain": [], "fair": []}
    for kind in seconds:
        _make_namespace(product, f"{kind}-single", tenant=kind == "fair")
    console.print(f"one at a time, {count} of each kind, in turns")
    for index in range(count):
        for kind, taken in seconds.items():
            taken.append(_single(product.plane.api, f"{kind}-single", f"pod-{index}"))
    for q in (0.5, 0.99):
        plain, fair = (quantile(seconds[kind], q) * 1000 for kind in ("plain", "fair"))
        figures.add(f"one at a time, created → bound, plain, p{q * 100:g}", plain, "ms")
        figures.add(f"the same, more with Fairberth, p{q * 100:g}", fair - plain, "ms", at_most=15)


def _single(api: Api, namespace: str, name: str) -> float:
    started = time.monotonic()
    api.create(objects.pod(name, namespace, cpu="1", grace=0))
    api.wait_for("pods", name, lambda pod: pod["spec"].get("nodeName"), namespace=namespace)
    return time.monotonic() - started


def _telling(figures: Figures, console: Console, product: Product, count: int = 30) -> None:
    api = product.plane.api
    product.tenant("full", quotas=[{"pool": "default", "limit": {"cpu": "1m"}}])
    console.print(f"{count} pods over their tenant's limit, one at a time")
    taken = []
    for index in range(count):
        started = time.monotonic()
        api.create(objects.pod(f"pod-{index}", "full", cpu="1", grace=0))
        api.wait_for("pods", f"pod-{index}", _is_told, namespace="full")
        taken.append(time.monotonic() - started)
    figures.add("created → told why it waits, p50", quantile(taken, 0.5) * 1000, "ms", at_most=100)
    figures.add("created → told why it waits, p99", quantile(taken, 0.99) * 1000, "ms")


def _is_told(pod: Mapping[str, Any]) -> bool:
    conditions: Sequence[Mapping[str, Any]] = pod.get("status", {}).get("conditions", ())
    return any(c["type"] == "fairberth.io/Admitted" for c in conditions)


def _each(work: Callable[[int], object], count: int, console: Console | None = None, what: str = "") -> None:
    """Do it for 0 … count − 1, many at a time."""
    if console is not None:
        console.print(f"{count} {what} …")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results: Iterator[object] = pool.map(work, range(count))
        for _ in results:
            pass
