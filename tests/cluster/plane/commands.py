"""The command line of each program of the control plane, and the configuration files that they read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.plane.credentials import Credentials

SERVICE_RANGE = "10.96.0.0/16"
ISSUER = "https://kubernetes.default.svc"
CONTROLLERS = (
    "namespace-controller",
    "garbage-collector-controller",
    "pod-garbage-collector-controller",
    "serviceaccount-controller",
    "clusterrole-aggregation-controller",
    "replicaset-controller",
    "deployment-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "disruption-controller",
    "taint-eviction-controller",
)  # no node-lifecycle-controller: it taints nodes by hand-made conditions and leases


def etcd(program: Path, data: Path, client_port: int, peer_port: int, *, durable: bool) -> list[str]:
    """etcd with its data in `data`; not `durable` saves the disk flushes, so it may lose the last writes in a crash."""
    client = f"http://127.0.0.1:{client_port}"
    return [
        str(program),
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
        "--log-level=warn",
        *([] if durable else ["--unsafe-no-fsync"]),
    ]


def apiserver(
    program: Path, certs: Path, credentials: Credentials, ports: tuple[int, int], unserved: tuple[str, ...]
) -> list[str]:
    """kube-apiserver with RBAC on `ports` (etcd's and its own).

    `unserved` are admission policy kinds that it doesn't serve, as older servers don't.

    TaintNodesByCondition is off: with it every node keeps a not-ready taint, as no controller here removes it.
    """
    etcd_port, port = ports
    return [
        str(program),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={certs}",
        f"--token-auth-file={credentials.tokens_file}",
        f"--service-account-key-file={credentials.signing_key}",
        f"--service-account-signing-key-file={credentials.signing_key}",
        f"--service-account-issuer={ISSUER}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--authorization-mode=RBAC",
        f"--disable-admission-plugins={','.join(['TaintNodesByCondition', *unserved])}",
        *([f"--runtime-config={_switched_off(unserved)}"] if unserved else []),
        "--allow-privileged=true",
        "--endpoint-reconciler-type=none",
    ]


def controller_manager(program: Path, kubeconfig: Path, credentials: Credentials, ca_file: Path) -> list[str]:
    """kube-controller-manager; each controller acts as its own service account, as in real clusters."""
    return [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={credentials.signing_key}",
        f"--root-ca-file={ca_file}",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        f"--controllers={','.join(CONTROLLERS)}",
    ]


def scheduler(program: Path, config: Path) -> list[str]:
    """kube-scheduler with a configuration file and no port."""
    return [str(program), f"--config={config}", "--secure-port=0"]


def kwok(program: Path, kubeconfig: Path, config: Path) -> list[str]:
    """kwok as the kubelet of every node."""
    return [str(program), f"--kubeconfig={kubeconfig}", f"--config={config}"]


def kwok_config(stages: list[Path]) -> str:
    """Our configuration and stages followed by stock ones, as one document stream."""
    own = Path(__file__).with_name("fake_kubelet.yaml")
    return "\n---\n".join(path.read_text() for path in (own, *stages))


def scheduler_config(given: Mapping[str, Any], kubeconfig: Path) -> str:
    """A KubeSchedulerConfiguration: `given`, with what tests need wherever it says nothing.

    That is: the kubeconfig, no leader election, and clients fast enough not to be the limit.
    """
    client = {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 2000, **given.get("clientConnection", {})}
    election = {"leaderElect": False, **given.get("leaderElection", {})}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return yaml.safe_dump({**head, **given, "clientConnection": client, "leaderElection": election})


def _switched_off(kinds: tuple[str, ...]) -> str:
    stems = [kind.lower().removesuffix("y") for kind in kinds]
    resources = [name for stem in stems for name in (f"{stem}ies", f"{stem}ybindings")]
    return ",".join(f"admissionregistration.k8s.io/v1/{resource}=false" for resource in resources)
