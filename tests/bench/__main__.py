"""`make bench`: timings as ratios, measured side by side in one run."""

from __future__ import annotations

import argparse

from rich.console import Console

from tests.bench import cluster, decisions, extender, reflector
from tests.bench.figures import Figures

SECTIONS = ("reflector", "decisions", "extender", "cluster")


def main() -> None:
    """Run the sections and print their figures."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, action="append", help="just these sections (may be repeated)")
    parser.add_argument("--nodes", type=int, default=1000, help="nodes of the control plane (default 1000)")
    parser.add_argument("--pods", type=int, default=1000, help="pods of a burst (default 1000)")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    options = parser.parse_args()
    progress, figures = Console(stderr=True), Figures()
    chosen = options.only or SECTIONS
    if "reflector" in chosen:  # first, while the process weighs little
        progress.print("reflector …")
        reflector.run(figures)
    if "decisions" in chosen:
        progress.print("decisions …")
        decisions.run(figures)
    if "extender" in chosen:
        progress.print("extender …")
        extender.run(figures)
    if "cluster" in chosen:
        cluster.run(figures, progress, options.nodes, options.pods)
    figures.print(Console(), options.output)


if __name__ == "__main__":
    main()
