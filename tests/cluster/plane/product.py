"""Fairberth itself on a test control plane: installed from its chart, its processes under the chart's own accounts.

The operator, the extender and the second kube-scheduler run as processes beside the control plane, each with the
rights of the ServiceAccount that the chart made for it and no others, so a missing permission fails a test.
"""

import datetime
import ipaddress
import signal
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.cluster.plane import chart
from tests.cluster.plane.api import Object, wait_until
from tests.cluster.plane.plane import ControlPlane
from tests.cluster.plane.ports import free_ports
from tests.cluster.plane.processes import Program

NAMESPACE = "fairberth-system"
_COMMAND = str(Path(sys.executable).with_name("fairberth"))


@dataclass
class Product:
    """A running Fairberth. `start` it; its programs stop with the control plane."""

    plane: ControlPlane
    webhook_port: int
    extender_port: int
    operator_metrics: int
    extender_metrics: int
    tls: Path
    net: bool
    programs: dict[str, Program] = field(default_factory=dict)

    @classmethod
    def start(cls, plane: ControlPlane, *, net: bool = True, values: Mapping[str, Any] | None = None) -> "Product":
        """Install the chart and start everything; returns once all of it answers."""
        ports = free_ports(4)
        tls = plane.folder / "webhook-tls"
        authority = write_certificate(tls)
        product = cls(plane, *ports, tls=tls, net=net)
        url = f"https://127.0.0.1:{product.webhook_port}/mutate/pods"
        webhook = {"url": url, "tls": {"mode": "provided", "caBundle": authority}}
        chart.install(
            plane, {"webhook": webhook, "admission": {"mode": "both" if net else "webhook"}, **(values or {})}
        )
        product.start_operator()
        product.start_extender()
        product.start_scheduler()
        return product

    # -- the three programs ---------------------------------------------------------------------------------------

    def start_operator(self, name: str = "operator", *, wait: bool = True, metrics_port: int | None = None) -> Program:
        """One replica of the operator."""
        port = self.operator_metrics if metrics_port is None else metrics_port
        net = "--safety-net" if self.net else "--no-safety-net"
        command = [_COMMAND, "operator", "--kubeconfig", self._account("fairberth-operator"), "--lease-seconds", "6"]
        command += ["--webhook-host", "127.0.0.1", "--webhook-port", str(self.webhook_port), net]
        command += ["--tls-dir", str(self.tls), "--metrics-port", str(port)]
        self.programs[name] = self.plane.run(name, command)
        if wait:
            self._await(name, f"http://127.0.0.1:{port}/readyz")
        return self.programs[name]

    def start_extender(self) -> Program:
        """The extender."""
        command = [_COMMAND, "extender", "--kubeconfig", self._account("fairberth-scheduler")]
        command += ["--port", str(self.extender_port), "--metrics-port", str(self.extender_metrics)]
        self.programs["extender"] = self.plane.run("extender", command)
        self._await("extender", f"http://127.0.0.1:{self.extender_port}/readyz")
        return self.programs["extender"]

    def start_scheduler(self) -> Program:
        """The second kube-scheduler, with the chart's own configuration."""
        stored = self.plane.api.get("configmaps", "fairberth-scheduler", NAMESPACE)
        config = yaml.safe_load(next(iter(stored["data"].values())))
        config["leaderElection"] = {"leaderElect": False}
        config["extenders"][0]["urlPrefix"] = f"http://127.0.0.1:{self.extender_port}"
        account = Path(self._account("fairberth-scheduler"))
        self.programs["scheduler"] = self.plane.start_scheduler(config, "fairberth-scheduler", account)
        return self.programs["scheduler"]

    def kill(self, name: str) -> None:
        """kill -9, as if its machine had lost power."""
        program = self.programs.pop(name)
        program.signal(signal.SIGKILL)
        program.process.wait()
        self.plane.programs.stop(program)

    def stop(self, name: str) -> None:
        """Ask a program to stop, and wait until it has."""
        self.plane.programs.stop(self.programs.pop(name))

    def _account(self, name: str) -> str:
        return str(self.plane.kubeconfig_for(NAMESPACE, name))

    def _await(self, name: str, url: str) -> None:
        program = self.programs[name]

        def ready() -> bool:
            if not program.running:
                raise RuntimeError(f"{name} ended at once:\n{program.log_tail(40)}")
            try:
                with urllib.request.urlopen(url, timeout=2) as answer:
                    return bool(answer.status == 200)
            except OSError:
                return False

        wait_until(ready, within=60.0)

    # -- objects --------------------------------------------------------------------------------------------------

    def apply(self, *objects: Object) -> None:
        """Create or change objects of ours (or any others)."""
        self.plane.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(objects))

    def tenant(self, name: str, **spec: Any) -> None:
        """A tenant with one namespace of its own name, ready for pods."""
        self.plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        spec.setdefault("namespaces", {"names": [name]})
        self.apply(fairberth("Tenant", name, **spec))
        labelled = {"fairberth.io/tenant": name}
        self.plane.api.wait_for(
            "namespaces", name, lambda obj: labelled.items() <= obj["metadata"].get("labels", {}).items()
        )
        self.plane.api.wait_for("serviceaccounts", "default", namespace=name)


def fairberth(kind: str, name: str, **spec: Any) -> Object:
    """A manifest of ours."""
    return {"apiVersion": "fairberth.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def write_certificate(folder: Path) -> str:
    """A certificate for 127.0.0.1 and its key (`tls.crt`, `tls.key`), good for a day; returns its authority as PEM."""
    folder.mkdir(parents=True, exist_ok=True)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
    authority = _certificate(issuer, issuer, authority_key, authority_key, is_authority=True)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fairberth webhook")])
    leaf = _certificate(subject, issuer, key, authority_key, is_authority=False)
    (folder / "tls.crt").write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return authority.public_bytes(serialization.Encoding.PEM).decode()


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
