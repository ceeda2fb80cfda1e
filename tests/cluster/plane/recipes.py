"""What is built from which Go module, and the key under which the result is kept."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"
_KUBERNETES = "k8s.io/kubernetes"
_KWOK = "sigs.k8s.io/kwok"


@dataclass(frozen=True)
class Recipe:
    """Programs that are built together: the name of each, and the Go package that it comes from."""

    name: str
    module: str  # folder under `tools`
    packages: Mapping[str, str]
    minutes: float  # cold, on two cores: only for telling people what to expect
    copies: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # file → (Go module, path inside it)


RECIPES = (
    Recipe(
        "kwok",
        "kwok",
        {"kwok": f"{_KWOK}/cmd/kwok"},
        minutes=1,
        copies={
            "node-initialize.yaml": (_KWOK, "kustomize/stage/node/fast/node-initialize.yaml"),
            "pod-ready.yaml": (_KWOK, "kustomize/stage/pod/fast/pod-ready.yaml"),
        },
    ),
    Recipe("helm", "helm", {"helm": "helm.sh/helm/v4/cmd/helm"}, minutes=3),
    Recipe(
        "controlplane",
        "controlplane",
        {
            "etcd": "go.etcd.io/etcd/server/v3",
            "kube-apiserver": f"{_KUBERNETES}/cmd/kube-apiserver",
            "kube-controller-manager": f"{_KUBERNETES}/cmd/kube-controller-manager",
            "kube-scheduler": f"{_KUBERNETES}/cmd/kube-scheduler",
        },
        minutes=10,
    ),
)
KUBECTL = Recipe("kubectl", "controlplane", {"kubectl": f"{_KUBERNETES}/cmd/kubectl"}, minutes=2)


def cache_key(recipe: Recipe, tools: Path, go_version: str, target: str) -> str:
    """16 hex digits that change with anything the built programs depend on."""
    ingredients = (sorted(recipe.packages.items()), sorted(recipe.copies.items()), go_version, target)
    digest = hashlib.sha256(repr(ingredients).encode())
    for name in ("go.mod", "go.sum"):
        digest.update(b"\0" + (tools / recipe.module / name).read_bytes())
    return digest.hexdigest()[:16]


def linker_flags(go_mod: str) -> str:
    """Strips symbols, and tells Kubernetes its version (it would call itself v0.0.0-master)."""
    found = re.search(rf"{re.escape(_KUBERNETES)} (v(\d+)\.(\d+)\.\S+)", go_mod)
    if not found:
        return "-s -w"
    names = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups(), strict=True)
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in names)
