"""Starts a control plane in the foreground, with nodes to run pods on; Ctrl-C stops and removes it all."""

import argparse
import signal
import sys

from tests.cluster.plane import objects
from tests.cluster.plane.plane import ControlPlane, Options


def main() -> None:
    """Starts a control plane with nodes and keeps it until Ctrl-C."""
    options = _arguments()
    print("Starting a control plane …", file=sys.stderr, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ControlPlane.start(Options(policy_api=not options.no_policy_api)) as plane:
        for number in range(options.nodes):
            plane.api.create(objects.node(f"node-{number}", options.cpu, options.memory))
        print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
        print(f"{options.nodes} nodes. Logs: {plane.logs_dir}. Ctrl-C stops it.", file=sys.stderr, flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("Stopping …", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.plane", description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=3, help="how many fake nodes (%(default)s)")
    parser.add_argument("--cpu", default="8", help="cpu of each node (%(default)s)")
    parser.add_argument("--memory", default="32Gi", help="memory of each node (%(default)s)")
    parser.add_argument("--no-policy-api", action="store_true", help="don't serve MutatingAdmissionPolicy")
    return parser.parse_args()


if __name__ == "__main__":
    main()
