"""Who we are to the API server: kubeconfig or in-cluster credentials, read by the official package and kept fresh.

Looked for in this order: the path that was given, `$KUBECONFIG`, the service account of the pod, the user's own
kubeconfig. In-cluster tokens and client certificates rotate, so everything is read again when it is a minute old
(and after a 401); a reading that fails keeps what was known.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import kubernetes.config
import yaml
from kubernetes.client import Configuration

FRESH: Final = 60.0  # seconds until credentials are read again
FRESH_AFTER_REFUSAL: Final = 1.0  # the same after a 401, so that a storm of them does not become a storm of readings

_loaders: Any = kubernetes.config  # the package ships py.typed, but leaves its loaders without annotations


class CredentialsError(Exception):
    """There are no usable credentials; the message says which were looked for and what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where the API server is and what to show it. `url` has no trailing slash, `authorization` may be empty."""

    url: str
    authorization: str
    tls: ssl.SSLContext | None
    server_name: str | None = None  # to expect in the server's certificate, if not the host of `url`
    proxy: str | None = None


class Credentials:
    """The access in force. Build it with `load`."""

    def __init__(self, read: Callable[[], Configuration], clock: Callable[[], float] = time.monotonic) -> None:
        """`read` gives a configuration of the official package, or raises CredentialsError; it may block."""
        self._read = read
        self._clock = clock
        self._lock = asyncio.Lock()
        self._read_at = clock()
        self._fresh = FRESH
        configuration = read()
        tls = _tls(configuration) if configuration.host.startswith("https") else None
        self._access = _access(configuration, tls)

    @classmethod
    def load(cls, kubeconfig: str | None = None, context: str | None = None) -> Credentials:
        """Reads them from the given kubeconfig, or from where the module says. Raises CredentialsError."""
        return cls(lambda: _configuration(kubeconfig, context))

    @property
    def url(self) -> str:
        """The server's address."""
        return self._access.url

    def refused(self) -> None:
        """The server did not know us (401): do not wait a whole minute for the next reading."""
        self._fresh = FRESH_AFTER_REFUSAL

    async def access(self) -> Access:
        """The access in force, read again if it is no longer fresh."""
        if self._stale:
            async with self._lock:
                if self._stale:
                    await self._renew()
        return self._access

    @property
    def _stale(self) -> bool:
        return self._clock() - self._read_at >= self._fresh

    async def _renew(self) -> None:
        self._read_at, self._fresh = self._clock(), FRESH
        try:
            # In a thread: it reads files, and a kubeconfig may run a command to get its token.
            configuration = await asyncio.to_thread(self._read)
            if self._access.tls is not None:
                _trust(self._access.tls, configuration)
        except (CredentialsError, OSError):
            return
        renewed = _access(configuration, self._access.tls)
        self._access = renewed if renewed.authorization else replace(renewed, authorization=self._access.authorization)


def _configuration(kubeconfig: str | None, context: str | None) -> Configuration:
    configuration = Configuration()
    path = kubeconfig or os.environ.get("KUBECONFIG")
    try:
        if path is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
            _loaders.load_incluster_config(client_configuration=configuration)
        else:
            _loaders.load_kube_config(
                config_file=path or "~/.kube/config",
                context=context,
                client_configuration=configuration,
                persist_config=False,
            )
    except (_loaders.ConfigException, yaml.YAMLError, OSError, ValueError, TypeError) as error:
        source = kubeconfig or (f"$KUBECONFIG ({path})" if path else "service account or ~/.kube/config")
        raise CredentialsError(f"no credentials for the API server in {source}: {error}") from error
    return configuration


def _access(configuration: Configuration, tls: ssl.SSLContext | None) -> Access:
    scheme, _, token = str(configuration.api_key.get("BearerToken", "")).partition(" ")
    return Access(
        url=configuration.host.rstrip("/"),
        authorization=f"{scheme.capitalize()} {token.strip()}" if token.strip() else "",
        tls=tls,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy if not _is_loopback(configuration.host) else None,
    )


def _is_loopback(url: str) -> bool:
    """Never behind a proxy, as in Go's clients, whatever the environment says."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _tls(configuration: Configuration) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        _trust(context, configuration)
    except OSError as error:
        raise CredentialsError(f"certificates of the API server's credentials: {error}") from error
    return context


def _trust(context: ssl.SSLContext, configuration: Configuration) -> None:
    if configuration.ssl_ca_cert:
        context.load_verify_locations(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
