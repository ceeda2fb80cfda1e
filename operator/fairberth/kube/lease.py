"""Leader election on a `coordination.k8s.io/v1` Lease, as client-go does it.

Another's lease is over when it has not changed for its whole duration by *our* clock, whatever times it carries.
Our own is over when we could not renew it for `renew_deadline`: `held` then turns False by itself, at the moment it
is read, so that a process that was stopped or starved cannot go on believing that it leads. A write that was begun
while held must therefore end within `lease_duration - renew_deadline`, or it may meet the next leader's.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from fairberth.api.requests import MERGE_PATCH
from fairberth.kube.client import ApiClient
from fairberth.kube.errors import NO_ANSWER, Refused, classify
from fairberth.model.outcomes import Done, Outcome

OnChange = Callable[[bool], None]
OnTrouble = Callable[[str], None]

_TROUBLE = (*NO_ANSWER, Refused, msgspec.MsgspecError)


@dataclass(frozen=True, slots=True)
class Terms:
    """The times of an election, in seconds: lease_duration > renew_deadline > retry."""

    lease_duration: int = 15
    renew_deadline: float = 10.0
    retry: float = 2.0


class LeaseSpec(msgspec.Struct):
    """`spec` of a Lease. The times are for people; the holder is empty after a release."""

    holderIdentity: str | None = ""
    leaseDurationSeconds: int | None = 0
    acquireTime: str | None = None
    renewTime: str | None = None
    leaseTransitions: int | None = 0


class _Meta(msgspec.Struct, omit_defaults=True):
    name: str
    resourceVersion: str = ""


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)
    apiVersion: str = "coordination.k8s.io/v1"
    kind: str = "Lease"


class Lease:
    """One contender for one Lease. `run` it as a task; cancelling the task releases the lease."""

    def __init__(
        self,
        client: ApiClient,
        namespace: str,
        name: str,
        identity: str,
        *,
        terms: Terms | None = None,
        on_change: OnChange = lambda _held: None,
        on_trouble: OnTrouble = lambda _details: None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """`identity` must be of this process alone: two that share one would both lead."""
        self._client = client
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name
        self._identity = identity
        self._terms = terms or Terms()
        self._on_change = on_change
        self._on_trouble = on_trouble
        self._clock = clock
        self._now = now
        self._sleep = sleep
        self._draw = draw
        self._seen: LeaseSpec | None = None  # the lease as it was when it last changed,
        self._seen_at = clock()  # and when we saw that
        self._renewed_at: float | None = None  # when the last renewal that succeeded was begun
        self._told = False  # what on_change was last told
        self._taken = asyncio.Event()

    @property
    def held(self) -> bool:
        """Whether we lead, right now."""
        return self._renewed_at is not None and self._clock() - self._renewed_at < self._terms.renew_deadline

    @property
    def holder(self) -> str:
        """Who was last seen to hold it, "" if nobody."""
        return (self._seen and self._seen.holderIdentity) or ""

    async def wait_held(self) -> None:
        """Returns once we lead."""
        while not self.held:
            self._taken.clear()
            await self._taken.wait()

    async def run(self) -> None:
        """Contends and renews until cancelled, then releases. Stop what needs the lease before cancelling."""
        try:
            while True:
                await self.contend()
                await self._sleep(self._pause())
        finally:
            await self.release()

    async def contend(self) -> None:
        """One attempt to acquire or renew. Never raises for what the API server does."""
        began = self._clock()
        try:
            async with asyncio.timeout(self._left() if self.held else self._terms.renew_deadline):
                outcome = await self._attempt()
        except _TROUBLE as error:
            self._on_trouble(f"lease {self._name}: {type(error).__name__}: {error}")
        else:
            if outcome is None:
                self._renewed_at = None
            elif isinstance(outcome, Done):
                self._renewed_at = began  # not when it was answered: others may count from earlier
            else:
                self._on_trouble(f"lease {self._name}: {outcome.message}")
        self._tell()

    async def release(self) -> None:
        """Gives the lease up if it is ours, so that nobody waits for it to run out. Best effort."""
        ours, self._renewed_at = self._renewed_at is not None, None
        self._tell()
        if not ours:
            return
        try:
            lease = await self._get()
            if lease is not None and lease.spec.holderIdentity == self._identity:
                lease.spec.holderIdentity = ""
                lease.spec.leaseDurationSeconds = 1
                lease.spec.renewTime = self._stamp()
                await self._update(lease)
        except _TROUBLE as error:
            self._on_trouble(f"lease {self._name} was not released: {type(error).__name__}: {error}")

    async def _attempt(self) -> Outcome | None:
        """Done: it is ours now. None: it is another's. Anything else: nothing is known to have changed."""
        lease = await self._get()
        if lease is None:
            return await self._create()
        self._observe(lease.spec)
        renewing = lease.spec.holderIdentity == self._identity
        if not renewing and not self._over(lease.spec):
            return None
        lease.spec.leaseDurationSeconds = self._terms.lease_duration
        lease.spec.renewTime = self._stamp()
        if not renewing:
            lease.spec.holderIdentity = self._identity
            lease.spec.acquireTime = lease.spec.renewTime
            lease.spec.leaseTransitions = (lease.spec.leaseTransitions or 0) + 1
        outcome = await self._update(lease)
        if isinstance(outcome, Done):
            self._observe(lease.spec)
        return outcome

    def _observe(self, spec: LeaseSpec) -> None:
        if spec != self._seen:
            self._seen = msgspec.structs.replace(spec)
            self._seen_at = self._clock()

    def _over(self, spec: LeaseSpec) -> bool:
        if not spec.holderIdentity:
            return True
        return self._clock() - self._seen_at >= (spec.leaseDurationSeconds or self._terms.lease_duration)

    async def _get(self) -> _Lease | None:
        answer = await self._client.request("GET", f"{self._collection}/{self._name}")
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise Refused(answer.status, classify(answer.status, answer.body, answer.retry_after))
        return msgspec.json.decode(answer.body, type=_Lease)

    async def _create(self) -> Outcome:
        stamp = self._stamp()
        spec = LeaseSpec(self._identity, self._terms.lease_duration, stamp, stamp, 0)
        body = msgspec.json.encode(_Lease(_Meta(self._name), spec))
        answer = await self._client.request("POST", self._collection, body)
        outcome = classify(answer.status, answer.body, answer.retry_after)
        if isinstance(outcome, Done):
            self._observe(spec)
        return outcome

    async def _update(self, lease: _Lease) -> Outcome:
        # The patch carries the resourceVersion that was read: if anyone wrote since, the server answers Conflict.
        answer = await self._client.request(
            "PATCH", f"{self._collection}/{self._name}", msgspec.json.encode(lease), content_type=MERGE_PATCH
        )
        return classify(answer.status, answer.body, answer.retry_after)

    def _left(self) -> float:
        began = self._clock() if self._renewed_at is None else self._renewed_at
        return self._terms.renew_deadline - (self._clock() - began)

    def _pause(self) -> float:
        if self.held:
            return max(0.0, min(self._terms.retry, self._left()))
        return self._terms.retry * (1.0 + 1.2 * self._draw())

    def _stamp(self) -> str:
        return self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def _tell(self) -> None:
        held = self.held
        if held:
            self._taken.set()
        if held != self._told:
            self._told = held
            self._on_change(held)
