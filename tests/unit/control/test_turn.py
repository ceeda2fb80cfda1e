"""The wheel: what it writes, what it assumes, and what becomes of writes that fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from fairberth.api.requests import Request
from fairberth.control.turn import Wheel
from fairberth.model.amounts import Amounts
from fairberth.model.outcomes import Conflict, Done, Fatal, Gone, Outcome, Retry
from fairberth.model.workload import Pod
from fairberth.policy.snapshot import Setup
from fairberth.state.cluster import ClusterState
from fairberth.state.facts import NamespaceSeen, NodeSeen, PodSeen, SetupChanged
from tests.kit.builders import limits, namespace, node, pod, pool, quota, slas, tenant
from tests.kit.ports import HandClock, RecordingWriter, SilentObserver, ToldLeadership


class Bench:
    """A wheel on fakes, with one tenant `a` that may hold two cpus, and one node."""

    def __init__(self, answer: Callable[[Request], Outcome] = lambda request: Done()) -> None:
        self.clock, self.writer, self.leadership = HandClock(), RecordingWriter(answer), ToldLeadership()
        self.observer = SilentObserver()
        self.wheel = Wheel(ClusterState(), self.writer, self.clock, self.leadership, self.observer, identity="test")
        tenants = {"a": tenant("a", of=quota(limit=limits(cpu=2)))}
        policy = Setup().policy
        self.wheel.apply(SetupChanged(Setup.of(tenants, slas(), policy, {"main": pool()})))
        self.wheel.apply(NamespaceSeen(namespace("a", "a")))
        self.wheel.apply(NodeSeen(node("n1", cpu=8)))

    def add(self, *pods: Pod) -> None:
        for each in pods:
            self.wheel.apply(PodSeen(each))

    async def turn(self) -> int:
        """One turn with all its writes done; how many it admitted."""
        turn = await self.wheel.turn()
        await self.wheel.settled()
        return len(turn.admissions)

    def held(self) -> Amounts:
        return self.wheel.state.ledger.held("main", "a")


def test_an_admission_is_a_nomination_with_the_condition_and_then_one_patch() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.add(pod("p", "a"))
        assert await bench.turn() == 1
        status, patch = bench.writer.sent
        assert status.path == "/api/v1/namespaces/a/pods/p/status"
        assert json.loads(status.body)["status"]["nominatedNodeName"] == "n1"
        assert json.loads(status.body)["status"]["conditions"][0]["status"] == "True"
        assert patch.path == "/api/v1/namespaces/a/pods/p"
        assert json.loads(patch.body)["spec"]["schedulingGates"] == [{"$patch": "delete", "name": "fairberth.io/turn"}]

    asyncio.run(scenario())


def test_what_was_decided_counts_before_the_api_server_shows_it() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.add(*(pod(f"p{n}", "a") for n in range(4)))
        assert await bench.turn() == 2
        assert await bench.turn() == 0
        assert bench.held()["cpu"] == 2000

    asyncio.run(scenario())


@pytest.mark.parametrize("outcome", [Conflict("made anew"), Gone("deleted")], ids=["conflict", "gone"])
def test_an_admission_that_certainly_did_not_happen_returns_its_reservation(outcome: Outcome) -> None:
    async def scenario() -> None:
        bench = Bench(lambda request: outcome)
        bench.add(pod("p", "a"))
        assert await bench.turn() == 1
        assert bench.held() == Amounts()

    asyncio.run(scenario())


def test_an_admission_is_sent_again_until_the_answer_is_definite() -> None:
    answers = iter([Done(), Retry(0.5, "busy"), Retry(0.0, "busy"), Done()])

    async def scenario() -> None:
        bench = Bench(lambda request: next(answers))
        bench.add(pod("p", "a"))
        assert await bench.turn() == 1
        assert [what for what, _ in bench.observer.outcomes] == ["admit"]
        assert bench.clock.slept[:2] == [0.5, 0.2]
        assert bench.held()["cpu"] == 1000

    asyncio.run(scenario())


def test_a_refused_admission_is_told_holds_its_place_for_a_while_and_is_then_withdrawn() -> None:
    def answer(request: Request) -> Outcome:
        return Done() if request.path.endswith("/status") else Fatal("forbidden by policy X")

    async def scenario() -> None:
        bench = Bench(answer)
        bench.add(pod("p", "a"))
        await bench.turn()
        condition = bench.writer.bodies("/status")[-1]["status"]["conditions"][0]
        assert condition["reason"] == "AdmissionFailed"
        assert "forbidden by policy X" in condition["message"]
        assert bench.clock.slept[-1] == 30.0
        assert bench.held() == Amounts()

    asyncio.run(scenario())


def test_whoever_lost_the_lease_writes_nothing_and_takes_back_what_it_assumed() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.add(pod("p", "a"))
        bench.leadership.held = False
        await bench.turn()
        assert bench.writer.sent == []
        assert bench.held() == Amounts()

    asyncio.run(scenario())


def test_a_waiting_pod_is_told_once_with_the_numbers() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.add(*(pod(f"p{n}", "a") for n in range(3)))
        telling = asyncio.create_task(bench.wheel._telling.run())
        for _ in range(3):
            await bench.turn()
            for _ in range(50):
                await asyncio.sleep(0)
        telling.cancel()
        told = [
            body["status"]["conditions"][0]
            for body in bench.writer.bodies("/p2/status")
            if body["status"]["conditions"][0]["status"] == "False"
        ]
        assert [condition["reason"] for condition in told] == ["QuotaExhausted"]
        assert "a cpu: limit 2, held 2, asked 1 (pool main)" in told[0]["message"]

    asyncio.run(scenario())


def test_namespaces_get_the_label_of_the_tenant_that_claims_them() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.wheel.apply(NamespaceSeen(namespace("a")))
        bench.wheel.apply(NamespaceSeen(namespace("free", "gone-tenant")))
        await bench.turn()
        assert bench.writer.bodies("/namespaces/a") == [{"metadata": {"labels": {"fairberth.io/tenant": "a"}}}]
        assert bench.writer.bodies("/namespaces/free") == [{"metadata": {"labels": {"fairberth.io/tenant": None}}}]

    asyncio.run(scenario())


def test_a_gated_pod_of_no_tenant_is_told_so() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.add(pod("p", "nobodys"))
        telling = asyncio.create_task(bench.wheel._telling.run())
        await bench.turn()
        for _ in range(20):
            await asyncio.sleep(0)
        telling.cancel()
        (body,) = bench.writer.bodies("/p/status")
        assert body["status"]["conditions"][0]["reason"] == "NoTenant"

    asyncio.run(scenario())
