"""Our Helm chart on a test control plane: installed, upgraded, removed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.plane.plane import ControlPlane

NAMESPACE = "fairberth-system"
RELEASE = "fairberth"
CHART = Path(__file__).parents[3] / "charts" / "fairberth"


def install(plane: ControlPlane, values: Mapping[str, Any] | None = None) -> None:
    """Installs the chart, or upgrades what is installed; `values` go over the chart's own, nested as in its file.

    Nothing is waited for but the API objects: where no node is, the pods of its Deployments just wait. Raises
    `PlaneError` with what Helm says.
    """
    file = plane.folder / "values.json"
    file.write_text(json.dumps(values or {}))  # JSON is YAML
    where = ("--namespace", NAMESPACE, "--create-namespace")
    plane.helm("upgrade", "--install", RELEASE, str(CHART), *where, "--values", str(file))


def uninstall(plane: ControlPlane) -> None:
    """Removes the release; our definitions and the objects that people may edit stay, as in real life."""
    plane.helm("uninstall", RELEASE, "--namespace", NAMESPACE)
