"""An API server for one Lease: it guards writes by resourceVersion, and can be made to fail."""

import json

from aiohttp import web

from fairberth.kube.lease import Lease
from tests.unit.kube.stub import Object, Stub, status

LEASES = "/apis/coordination.k8s.io/v1/namespaces/fairberth/leases"


class LeaseServer(Stub):
    """Serves one Lease, from absent on."""

    def __init__(self) -> None:
        super().__init__()
        self.lease: Object | None = None
        self.writes = 0
        self.failing = 0  # HTTP code that every request is refused with, 0 for none
        self.version_moved_before_write = False  # as if somebody else wrote in between

    @property
    def spec(self) -> Object:
        """The lease's spec."""
        assert self.lease is not None
        spec: Object = self.lease["spec"]
        return spec

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """GET, POST and merge PATCH of the lease."""
        if self.failing:
            return web.json_response(status(self.failing, "Broken"), status=self.failing)
        if request.method == "GET":
            return self._shown() if request.path == f"{LEASES}/turn" else _refused(404, "NotFound")
        sent = json.loads(await request.read())
        return self._created(sent) if request.method == "POST" else self._patched(sent)

    def _created(self, sent: Object) -> web.Response:
        if self.lease is not None:
            return _refused(409, "AlreadyExists")
        self.lease = {"metadata": {"name": sent["metadata"]["name"], "labels": {"kept": "yes"}}, "spec": sent["spec"]}
        return self._written()

    def _patched(self, sent: Object) -> web.Response:
        if self.lease is None:
            return _refused(404, "NotFound")
        if self.version_moved_before_write or sent["metadata"]["resourceVersion"] != self._version():
            return _refused(409, "Conflict")
        self.lease["spec"] |= sent["spec"]
        return self._written()

    def _written(self) -> web.Response:
        self.writes += 1
        assert self.lease is not None
        self.lease["metadata"]["resourceVersion"] = self._version()
        return self._shown()

    def _shown(self) -> web.Response:
        return _refused(404, "NotFound") if self.lease is None else web.json_response(self.lease)

    def _version(self) -> str:
        return str(100 + self.writes)


def _refused(code: int, reason: str) -> web.Response:
    return web.json_response(status(code, reason), status=code)


async def lead(lease: Lease) -> bool:
    """One attempt; whether it leads then."""
    await lease.contend()
    return lease.held
