"""The webhook's server: reviews over TLS, a certificate renewed while it serves, and bodies that are no reviews."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from fairberth.admission import app as admission_app
from fairberth.admission.mutate import Rules
from fairberth.model import keys
from tests.cluster.plane.product import write_certificate
from tests.unit.admission.test_mutate import intake, new_pod


class Answers:
    def __init__(self) -> None:
        self.counted: list[str] = []

    def reviewed(self, answer: str) -> None:
        self.counted.append(answer)


def review(pod: dict[str, Any], namespace: str = "a") -> dict[str, Any]:
    request = {
        "uid": "r1",
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {"username": "dev"},
        "object": pod,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


Ask = Callable[[bytes, str], Awaitable[tuple[int, bytes]]]


def on_server(folder: Path, scenario: Callable[[Ask, admission_app.Certificate, str], Awaitable[None]]) -> Answers:
    counted = Answers()

    async def run() -> None:
        authority = write_certificate(folder)
        certificate = admission_app.Certificate(folder)
        runner = web.AppRunner(admission_app.application(intake(), Rules(), counted), access_log=None)
        await runner.setup()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=certificate.context).start()

        async def ask(body: bytes, trusted: str) -> tuple[int, bytes]:
            context = ssl.create_default_context(cadata=trusted)
            url = f"https://127.0.0.1:{port}/mutate/pods"
            async with aiohttp.ClientSession() as session, session.post(url, data=body, ssl=context) as response:
                return response.status, await response.read()

        try:
            await scenario(ask, certificate, authority)
        finally:
            await runner.cleanup()

    asyncio.run(run())
    return counted


def test_a_review_is_answered_with_a_patch(tmp_path: Path) -> None:
    async def scenario(ask: Ask, _: admission_app.Certificate, authority: str) -> None:
        status, body = await ask(json.dumps(review(new_pod())).encode(), authority)
        answer = json.loads(body)["response"]
        assert (status, answer["uid"], answer["allowed"], answer["patchType"]) == (200, "r1", True, "JSONPatch")
        patch = json.loads(base64.b64decode(answer["patch"]))
        assert {"op": "add", "path": "/spec/schedulingGates", "value": [{"name": keys.GATE}]} in patch

    assert on_server(tmp_path, scenario).counted == ["allowed"]


def test_a_refusal_carries_code_and_message(tmp_path: Path) -> None:
    async def scenario(ask: Ask, _: admission_app.Certificate, authority: str) -> None:
        _, body = await ask(json.dumps(review(new_pod(spec_nodeName="n1"))).encode(), authority)
        answer = json.loads(body)["response"]
        assert (answer["allowed"], answer["status"]["code"]) == (False, 403)
        assert "spec.nodeName" in answer["status"]["message"]

    assert on_server(tmp_path, scenario).counted == ["denied"]


def test_a_renewed_certificate_serves_new_connections_without_a_restart(tmp_path: Path) -> None:
    async def scenario(ask: Ask, certificate: admission_app.Certificate, old: str) -> None:
        body = json.dumps(review(new_pod(), "free")).encode()
        assert (await ask(body, old))[0] == 200
        assert not certificate.reload()
        new = write_certificate(tmp_path)
        for name in ("tls.crt", "tls.key"):  # a coarse clock may not have moved
            stat = (tmp_path / name).stat()
            os.utime(tmp_path / name, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))
        assert certificate.reload()
        assert (await ask(body, new))[0] == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(body, old)

    on_server(tmp_path, scenario)


BAD = {
    "not JSON": b"hello",
    "truncated": b'{"request": {"uid"',
    "no request": b"{}",
    "a request without uid": b'{"request": {}}',
    "a list": b"[]",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_no_review_is_refused_and_the_server_lives(tmp_path: Path, body: bytes) -> None:
    async def scenario(ask: Ask, _: admission_app.Certificate, authority: str) -> None:
        status, said = await ask(body, authority)
        assert status == 400
        assert b"not an AdmissionReview" in said
        assert (await ask(json.dumps(review(new_pod())).encode(), authority))[0] == 200

    assert on_server(tmp_path, scenario).counted == ["bad", "allowed"]


def test_a_pod_that_does_not_decode_is_refused_and_not_a_crash(tmp_path: Path) -> None:
    odd = new_pod(spec_containers=[{"name": "c", "resources": {"requests": {"cpu": "two"}}}])

    async def scenario(ask: Ask, _: admission_app.Certificate, authority: str) -> None:
        _, body = await ask(json.dumps(review(odd)).encode(), authority)
        answer = json.loads(body)["response"]
        assert (answer["allowed"], answer["status"]["code"]) == (False, 400)
        assert "'two' is not a quantity" in answer["status"]["message"]

    on_server(tmp_path, scenario)
