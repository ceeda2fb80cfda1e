"""One control plane: started in a few seconds on free loopback ports, stopped without leaving anything behind."""

import atexit
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.cluster.plane import binaries, commands
from tests.cluster.plane.api import Api, ApiError
from tests.cluster.plane.credentials import (
    ADMIN,
    CONTROLLER_MANAGER,
    SCHEDULER,
    make_credentials,
    write_kubeconfig,
)
from tests.cluster.plane.ports import free_ports
from tests.cluster.plane.processes import Program, Programs, StopOrder

_STARTUP = 60.0  # seconds until the API server must be ready; it takes about 3
_STAGES = ("node-initialize.yaml", "pod-ready.yaml")


class PlaneError(RuntimeError):
    """The control plane, or a command against it, failed; the message holds the end of the log or the output."""


@dataclass(frozen=True)
class Options:
    """What a control plane is made of. The admission policy kinds can be off, to be like an older server."""

    policy_api: bool = True  # serve MutatingAdmissionPolicy
    validating_policy_api: bool = True  # serve ValidatingAdmissionPolicy
    scheduler: bool = True  # a kube-scheduler for default-scheduler
    controllers: bool = True  # kube-controller-manager
    kubelet: bool = True  # kwok
    durable: bool = False  # etcd flushes to the disk, for tests that kill it

    @property
    def unserved(self) -> tuple[str, ...]:
        """The policy kinds that are off."""
        served = {"MutatingAdmissionPolicy": self.policy_api, "ValidatingAdmissionPolicy": self.validating_policy_api}
        return tuple(kind for kind, on in served.items() if not on)


class ControlPlane:
    """A running control plane; made by `ControlPlane.start()`, also usable in `with`. Several may run at once."""

    def __init__(self, options: Options, programs_built: Mapping[str, Path]) -> None:
        """Makes folders and credentials; starts nothing."""
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="fairberth-plane-"))
        self.logs_dir = self.folder / "logs"
        self.logs_dir.mkdir()
        self.ca_file = self.folder / "certs" / "apiserver.crt"
        self.kubeconfig = self.folder / "admin.kubeconfig"
        self.programs = Programs(self.logs_dir)
        self._built = programs_built
        self._credentials = make_credentials(self.folder)
        self._etcd_port, self._peer_port, self._port = free_ports(3)
        self._api: Api | None = None
        self._clients: list[Api] = []
        self.url = f"https://127.0.0.1:{self._port}"
        self.admin_token = self._credentials.tokens[ADMIN]

    @classmethod
    def start(cls, options: Options | None = None) -> Self:
        """Builds what is missing (minutes, the first time), starts everything and returns when pods can be created.

        Raises `PlaneError` with the end of the log of what failed; nothing is left running then.
        """
        plane = cls(options or Options(), binaries.ensure())
        atexit.register(plane.stop)
        try:
            plane._start()
        except BaseException:
            plane.stop(keep_logs=True)
            raise
        return plane

    def stop(self, *, keep_logs: bool = False) -> None:
        """Stops everything and removes its folder, all but the logs if they are to be kept. May be called twice."""
        atexit.unregister(self.stop)
        for client in self._clients:
            client.close()
        self.programs.stop_all()
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        for entry in self.folder.iterdir():
            if entry != self.logs_dir:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def __enter__(self) -> Self:
        """The plane itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stops it, and keeps the logs if the block failed."""
        self.stop(keep_logs=error is not None)

    @property
    def api(self) -> Api:
        """A client with all rights."""
        if self._api is None:
            self._api = self._client(self.admin_token)
        return self._api

    def _client(self, token: str) -> Api:
        client = Api(self.url, str(self.ca_file), token)
        self._clients.append(client)
        return client

    def kubectl(self, *args: str, input: str | None = None) -> str:
        """Runs kubectl with all rights; returns its standard output, or raises `PlaneError` with its error output."""
        return self._command([self._built["kubectl"], *args], {"KUBECACHEDIR": str(self.folder / "kubectl")}, input)

    def helm(self, *args: str) -> str:
        """Runs helm with all rights and no configuration of the user's; as `kubectl` otherwise."""
        homes = {f"HELM_{kind}_HOME": str(self.folder / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        return self._command([self._built["helm"], *args], homes, None)

    def token_for(self, namespace: str, service_account: str) -> str:
        """A token of an existing service account, valid for an hour; `ApiError` 404 if there is no such account."""
        target = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        return str(self.api.request("POST", target, request)["status"]["token"])

    def api_for(self, namespace: str, service_account: str) -> Api:
        """A client with the rights of this service account and no other."""
        return self._client(self.token_for(namespace, service_account))

    def kubeconfig_for(self, namespace: str, service_account: str) -> Path:
        """A kubeconfig file with the rights of this service account and no other."""
        path = self.folder / f"{namespace}.{service_account}.kubeconfig"
        return write_kubeconfig(path, self.url, self.ca_file, self.token_for(namespace, service_account))

    def run(self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Program:
        """Starts any program that uses this control plane, such as ours; logged and stopped with it."""
        return self.programs.start(name, command, StopOrder.CLIENT, env)

    def start_scheduler(
        self, config: Path | Mapping[str, Any], name: str = "fairberth-scheduler", kubeconfig: Path | None = None
    ) -> Program:
        """Starts one more kube-scheduler. `config` is a KubeSchedulerConfiguration, or a file that holds one.

        Where it names no kubeconfig it gets `kubeconfig`, else that of the cluster's own scheduler.
        """
        given = yaml.safe_load(config.read_text()) if isinstance(config, Path) else config
        identity = kubeconfig or self._kubeconfig_of(SCHEDULER)
        file = self._write(f"{name}.yaml", commands.scheduler_config(given, identity))
        return self.run(name, commands.scheduler(self._built["kube-scheduler"], file))

    def _start(self) -> None:
        self._start_etcd()
        self._start_apiserver()
        write_kubeconfig(self.kubeconfig, self.url, self.ca_file, self.admin_token)
        if self.options.kubelet:
            self._start_kubelet()
        if self.options.scheduler:
            self.start_scheduler({}, "default-scheduler")
        if self.options.controllers:
            self._start_controllers()
            self.api.wait_for("serviceaccounts", "default", namespace="default", within=_STARTUP)
        self._raise_if_dead()

    def _start_etcd(self) -> None:
        command = commands.etcd(
            self._built["etcd"], self.folder / "etcd", self._etcd_port, self._peer_port, durable=self.options.durable
        )
        self.programs.start("etcd", command, StopOrder.ETCD)

    def _start_apiserver(self) -> None:
        command = commands.apiserver(
            self._built["kube-apiserver"],
            self.ca_file.parent,
            self._credentials,
            (self._etcd_port, self._port),
            self.options.unserved,
        )
        self.programs.start("kube-apiserver", command, StopOrder.APISERVER)
        deadline = time.monotonic() + _STARTUP
        while not self._ready():
            self._raise_if_dead()
            if time.monotonic() > deadline:
                raise PlaneError(f"kube-apiserver is not ready after {_STARTUP} s; logs: {self.logs_dir}")
            time.sleep(0.05)

    def _ready(self) -> bool:
        if not self.ca_file.exists():
            return False
        try:
            self.api.request("GET", "/readyz")
        except (ApiError, OSError, ssl.SSLError):
            self.api.close()
            self._api = None  # the certificate may only have been half written
            return False
        return True

    def _start_kubelet(self) -> None:
        config = self._write("kwok.yaml", commands.kwok_config([self._built[stage] for stage in _STAGES]))
        self.run("kwok", commands.kwok(self._built["kwok"], self.kubeconfig, config))

    def _start_controllers(self) -> None:
        program, kubeconfig = self._built["kube-controller-manager"], self._kubeconfig_of(CONTROLLER_MANAGER)
        command = commands.controller_manager(program, kubeconfig, self._credentials, self.ca_file)
        self.run("kube-controller-manager", command)

    def _kubeconfig_of(self, user: str) -> Path:
        path = self.folder / f"{user.rpartition(':')[2]}.kubeconfig"
        return write_kubeconfig(path, self.url, self.ca_file, self._credentials.tokens[user])

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def _command(self, command: Sequence[str | Path], env: Mapping[str, str], given: str | None) -> str:
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig), **env}
        done = subprocess.run(command, env=environment, input=given, capture_output=True, text=True)
        if done.returncode:
            raise PlaneError(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def _raise_if_dead(self) -> None:
        for program in self.programs.dead():
            raise PlaneError(f"{program.name} ended at once; logs: {self.logs_dir}\n{program.log_tail()}")
