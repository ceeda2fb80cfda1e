"""Where credentials come from, and how they stay fresh."""

import asyncio
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from kubernetes.client import Configuration

from fairberth.kube.credentials import FRESH, FRESH_AFTER_REFUSAL, Access, Credentials, CredentialsError
from tests.unit.kube.clock import Clock


def kubeconfig(
    folder: Path, server: str = "http://10.0.0.1:8080/base/", user: Mapping[str, object] | None = None
) -> str:
    """Writes a kubeconfig with one cluster and one user; returns its path."""
    path = folder / "kubeconfig.yaml"
    content = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "clusters": [{"name": "one", "cluster": {"server": server}}],
        "users": [{"name": "one", "user": dict(user or {})}],
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def _configuration(token: str, host: str = "http://10.0.0.1") -> Configuration:
    configuration = Configuration(host=host)
    configuration.api_key = {"BearerToken": f"bearer {token}\n"} if token else {}
    return configuration


def _access_after(credentials: Credentials) -> Access:
    return asyncio.run(credentials.access())


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        pytest.param({"token": "abc"}, "Bearer abc", id="a token"),
        pytest.param({"username": "a", "password": "b"}, "Basic YTpi", id="a password"),
        pytest.param({}, "", id="nothing"),
    ],
)
def test_a_kubeconfig_gives_address_and_authorization(
    tmp_path: Path, user: dict[str, object], authorization: str
) -> None:
    access = _access_after(Credentials.load(kubeconfig(tmp_path, user=user)))
    assert access == Access("http://10.0.0.1:8080/base", authorization, tls=None)


def test_the_environment_names_the_kubeconfig_where_no_path_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, user={"token": "from-env"}))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.9.9.9")
    assert _access_after(Credentials.load()).authorization == "Bearer from-env"


def test_an_https_server_is_verified(tmp_path: Path) -> None:
    tls = _access_after(Credentials.load(kubeconfig(tmp_path, "https://10.0.0.1"))).tls
    assert tls is not None
    assert tls.verify_mode is ssl.CERT_REQUIRED
    assert tls.check_hostname


def test_a_server_on_loopback_is_never_behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    near = Credentials(lambda: Configuration(host="http://127.0.0.1:8080"))
    far = Credentials(lambda: Configuration(host="http://10.0.0.1:8080"))
    assert _access_after(near).proxy is None
    assert _access_after(far).proxy == "http://proxy.example:3128"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no such file"),
        pytest.param("", id="an empty file"),
        pytest.param("{]", id="no YAML"),
        pytest.param("[]", id="no mapping"),
        pytest.param("current-context: gone\ncontexts: []\n", id="an unknown context"),
    ],
)
def test_unusable_credentials_are_one_clear_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "broken.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CredentialsError, match=r"broken\.yaml"):
        Credentials.load(str(path))


def test_a_token_is_read_again_once_a_minute() -> None:
    clock = Clock()
    tokens = iter(["first", "second"])
    credentials = Credentials(lambda: _configuration(next(tokens)), clock)
    clock.now += FRESH - 1
    assert _access_after(credentials).authorization == "Bearer first"
    clock.now += 1
    assert _access_after(credentials).authorization == "Bearer second"
    assert _access_after(credentials).authorization == "Bearer second"


def test_a_refusal_makes_it_read_again_soon_but_not_at_every_request() -> None:
    clock = Clock()
    tokens = iter(["first", "second"])
    credentials = Credentials(lambda: _configuration(next(tokens)), clock)
    credentials.refused()
    assert _access_after(credentials).authorization == "Bearer first"
    clock.now += FRESH_AFTER_REFUSAL
    assert _access_after(credentials).authorization == "Bearer second"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(CredentialsError("half written"), id="an unreadable file"),
        pytest.param(OSError("gone"), id="a file that is gone"),
        pytest.param(_configuration(""), id="a file without a token"),
    ],
)
def test_a_reading_that_fails_keeps_what_was_known(second: Exception | Configuration) -> None:
    clock = Clock()
    readings = iter([_configuration("first"), second])

    def read() -> Configuration:
        reading = next(readings)
        if isinstance(reading, Exception):
            raise reading
        return reading

    credentials = Credentials(read, clock)
    clock.now += FRESH
    assert _access_after(credentials).authorization == "Bearer first"


def test_many_requests_at_once_read_once() -> None:
    clock = Clock()
    readings: list[int] = []

    def read() -> Configuration:
        readings.append(1)
        return _configuration("same")

    async def burst(credentials: Credentials) -> None:
        await asyncio.gather(*(credentials.access() for _ in range(20)))

    credentials = Credentials(read, clock)
    clock.now += FRESH
    asyncio.run(burst(credentials))
    assert len(readings) == 2
