"""A small synchronous client of the API server for tests: plain dicts in and out, and waiting by watch.

A resource is named as in a URL: `"pods"`, `"apps/v1/daemonsets"`, `"fairberth.io/v1alpha1/tenants"`. One `Api` may be
used by several threads: each has a connection of its own, kept open.
"""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

Object = dict[str, Any]
Params = Mapping[str, str | int | None]

WITHIN = 60.0  # seconds that a wait may take unless told otherwise: ample on a busy machine
_PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}

# What a kept connection says when the server gave it up meanwhile.
_CLOSED_BY_SERVER = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)


class ApiError(Exception):
    """The server refused; `status` is the HTTP code, `reason` and `body` are the Status object's."""

    def __init__(self, status: int, body: Object) -> None:
        """Keeps the whole Status object, whose `message` becomes the error's text."""
        super().__init__(f"{status} {body.get('reason', '')}: {body.get('message', '')}")
        self.status = status
        self.reason = str(body.get("reason", ""))
        self.body = body


class Api:
    """The API server as one user sees it."""

    def __init__(self, url: str, ca_file: str, token: str, timeout: float = 30.0) -> None:
        """`timeout` is in seconds, for each request that is not a watch."""
        self._address = urlsplit(url).netloc
        self._tls = ssl.create_default_context(cafile=ca_file)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._timeout = timeout
        self._local = threading.local()
        self._opened: list[http.client.HTTPSConnection] = []

    def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """One object; `ApiError` 404 if there is none."""
        return self.request("GET", path(resource, namespace, name))

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None if there is none."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list_all(
        self, resource: str, namespace: str | None = None, labels: str | None = None, fields: str | None = None
    ) -> list[Object]:
        """All objects in the namespace (of all, if None) that match the selectors."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        return _items(self.request("GET", path(resource, namespace), params=query))

    def create(self, obj: Object, **params: str | int) -> Object:
        """Creates an object where its own kind and namespace say; returns it as stored."""
        target = path(resource_of(obj), obj["metadata"].get("namespace"))
        return self.request("POST", target, obj, params=params)

    def replace(self, obj: Object, sub: str | None = None) -> Object:
        """Writes the whole object, or its subresource `sub`; `ApiError` 409 if it changed meanwhile."""
        meta = obj["metadata"]
        return self.request("PUT", path(resource_of(obj), meta.get("namespace"), meta["name"], sub), obj)

    def patch(
        self,
        resource: str,
        name: str,
        body: object,
        namespace: str | None = None,
        *,
        how: str = "merge",
        sub: str | None = None,
    ) -> Object:
        """Patches an object or its subresource `sub`; `how` is merge, strategic, json or apply."""
        params = {"fieldManager": "tests", "force": "true"} if how == "apply" else {}
        return self.request("PATCH", path(resource, namespace, name, sub), body, _PATCHES[how], params)

    def delete(self, resource: str, name: str, namespace: str | None = None, grace: int | None = None) -> Object:
        """Deletes one object; `grace` in seconds, its own if None. `ApiError` 404 if there is none."""
        return self.request("DELETE", path(resource, namespace, name), params={"gracePeriodSeconds": grace})

    def delete_all(
        self, resource: str, namespace: str | None = None, labels: str | None = None, grace: int | None = None
    ) -> None:
        """Deletes all objects of the namespace that match; some may still be terminating afterwards."""
        params = {"labelSelector": labels, "gracePeriodSeconds": grace, "propagationPolicy": "Background"}
        self.request("DELETE", path(resource, namespace), params=params)

    def evict(self, pod: str, namespace: str) -> Object:
        """Asks for a pod's eviction; `ApiError` 429 if a disruption budget forbids it."""
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
        return self.request("POST", path("pods", namespace, pod, "eviction"), eviction)

    def wait_for(
        self,
        resource: str,
        name: str,
        predicate: Callable[[Object], object] = bool,
        namespace: str | None = None,
        within: float = WITHIN,
    ) -> Object:
        """The object, once it exists and `predicate(object)` holds; TimeoutError after `within` seconds."""

        def holds(found: list[Object]) -> object:
            return found and predicate(found[0])

        return self.wait_all(resource, holds, namespace, fields=f"metadata.name={name}", within=within)[0]

    def wait_gone(self, resource: str, name: str, namespace: str | None = None, within: float = WITHIN) -> None:
        """Returns once the object is gone; TimeoutError after `within` seconds."""
        self.wait_all(resource, lambda found: not found, namespace, fields=f"metadata.name={name}", within=within)

    def wait_all(
        self,
        resource: str,
        predicate: Callable[[list[Object]], object],
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        within: float = WITHIN,
    ) -> list[Object]:
        """All matching objects, once `predicate(objects)` holds; TimeoutError after `within` seconds."""
        deadline = time.monotonic() + within
        known: dict[str, Object] = {}
        try:
            for known in self.follow(resource, namespace, labels=labels, fields=fields, deadline=deadline):
                found = list(known.values())
                if predicate(found):
                    return found
        except TimeoutError:
            pass
        seen = json.dumps([_summary(obj) for obj in known.values()], indent=1)
        raise TimeoutError(
            f"{resource} in {namespace or 'all namespaces'}: not so within {within} s. Last seen: {seen}"
        )

    def follow(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        deadline: float,
    ) -> Iterator[dict[str, Object]]:
        """Matching objects by uid, now and after each change; TimeoutError at `deadline` (of time.monotonic)."""
        target, query = path(resource, namespace), {"labelSelector": labels, "fieldSelector": fields}
        while True:
            listed = self.request("GET", target, params=query)
            known = {obj["metadata"]["uid"]: obj for obj in _items(listed)}
            yield known
            since = {**query, "resourceVersion": listed["metadata"]["resourceVersion"]}
            for event in self.watch(target, since, deadline):
                if event["type"] == "ERROR":
                    break  # too old a version: list again
                uid = event["object"]["metadata"]["uid"]
                known.pop(uid, None)
                if event["type"] != "DELETED":
                    known[uid] = event["object"]
                yield known

    def watch(self, target: str, params: Params, deadline: float) -> Iterator[Object]:
        """Watch events until the server ends the stream; TimeoutError at `deadline` (of time.monotonic)."""
        connection = self._connect()
        try:
            connection.request("GET", _url(target, {**params, "watch": "true"}), headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                raise ApiError(response.status, json.loads(response.read()))
            while line := _line_before(connection, response, deadline):
                yield json.loads(line)
        finally:
            connection.close()

    def request(
        self,
        method: str,
        target: str,
        body: object = None,
        content: str = "application/json",
        params: Params | None = None,
    ) -> Object:
        """One request to a URL path; the decoded answer, or `ApiError`."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content}
        status, answer = self._send(method, _url(target, params or {}), data, headers)
        # Health checks answer in plain text, and theirs may start with a bracket: "[+]ping ok".
        decoded = json.loads(answer) if answer[:1] == b"{" else {"message": answer.decode()}
        if status >= 400:
            raise ApiError(status, decoded)
        return cast(Object, decoded)

    def _send(self, method: str, url: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        reused = connection is not None
        self._local.connection = connection = connection or self._connect()
        try:
            connection.request(method, url, data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            self._local.connection = None
            if reused and isinstance(error, _CLOSED_BY_SERVER):
                return self._send(method, url, data, headers)  # the server had closed an idle connection
            raise

    def close(self) -> None:
        """Closes every thread's connection; a later request opens another."""
        for connection in self._opened:
            connection.close()
        self._opened.clear()

    def _connect(self) -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection(self._address, context=self._tls, timeout=self._timeout)
        self._opened.append(connection)
        return connection


def wait_until(holds: Callable[[], bool], within: float = WITHIN) -> None:
    """Asks again and again, for what cannot be watched; TimeoutError after `within` seconds."""
    deadline = time.monotonic() + within
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {within} s")
        time.sleep(0.05)


def path(resource: str, namespace: str | None = None, name: str | None = None, sub: str | None = None) -> str:
    """The URL path of a collection, an object or a subresource."""
    group, _, plural = resource.rpartition("/")
    root = f"/apis/{group}" if group else "/api/v1"
    parts = [root, f"namespaces/{namespace}" if namespace else "", plural, name, sub]
    return "/".join(part for part in parts if part)


def resource_of(obj: Object) -> str:
    """The resource of an object, from its apiVersion and kind: `apps/v1/daemonsets`."""
    kind, version = str(obj["kind"]).lower(), str(obj["apiVersion"])
    ending = "ies" if kind.endswith("y") else "es" if kind.endswith("s") else "s"
    plural = kind.removesuffix("y") + ending
    return plural if version == "v1" else f"{version}/{plural}"


def _url(target: str, params: Params) -> str:
    query = urlencode({key: value for key, value in params.items() if value is not None})
    return f"{target}?{query}" if query else target


def _items(listed: Object) -> list[Object]:
    return cast(list[Object], listed["items"])


def _line_before(connection: http.client.HTTPSConnection, response: http.client.HTTPResponse, deadline: float) -> bytes:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    if connection.sock:
        connection.sock.settimeout(remaining)
    return response.readline()


def _summary(obj: Object) -> Object:
    name = {key: obj["metadata"].get(key) for key in ("name", "namespace", "deletionTimestamp", "annotations")}
    return {"metadata": name, "status": obj.get("status")}
