"""A run: the production engine under a virtual clock."""

import dataclasses
import os
import random
import subprocess
import sys

import pytest

from fairberth.model.amounts import CPU
from fairberth.policy.engine import admit
from fairberth.policy.ledger import Ledger
from fairberth.simulator.books import InvariantBroken
from fairberth.simulator.output import as_json
from fairberth.simulator.reading import file
from fairberth.simulator.report import report
from fairberth.simulator.run import run
from fairberth.simulator.times import HOUR, MINUTE, SECOND
from fairberth.simulator.world import World
from tests.unit.simulator.scenarios import SMALL, day, no_level_guarantees, policy, tenant

T = 9 * HOUR


def lives(history, prefix=""):
    return {name: life for name, life in history.lives.items() if name.startswith(prefix)}


def test_the_same_scenario_twice_gives_the_same_report():
    first, second = (as_json(report(run(file.load(SMALL)))) for _ in range(2))
    assert first == second


def test_a_pod_runs_at_once_where_there_is_room_and_ends_after_its_time():
    history = run(day('- {tenant: a, at: "09:10", template: {requests: {cpu: "1"}, runFor: 5m}}', tenant("a")))
    (life,) = history.lives.values()
    assert (life.created, life.admitted, life.ended) == (T + 10 * MINUTE, T + 10 * MINUTE, T + 15 * MINUTE)


def test_a_pod_waits_until_another_ends():
    history = run(
        day(
            '- {tenant: a, at: "09:00", count: 2, template: {requests: {cpu: "8"}, runFor: 5m}}',
            tenant("a"),
            no_level_guarantees(),
            nodes='{name: n, allocatable: {cpu: "8"}}',
        )
    )
    assert [life.wait(history.scenario.end) for life in history.lives.values()] == [0, 5 * MINUTE]


def test_a_pod_without_a_duration_never_ends_and_what_never_fits_waits():
    history = run(
        day(
            '- {tenant: a, at: "09:00", count: 2, template: {requests: {cpu: "5"}}}',
            tenant("a"),
            nodes='{name: n, allocatable: {cpu: "9"}}',
        )
    )
    first, second = history.lives.values()
    assert (first.admitted, first.ended) == (T, None)
    assert (second.admitted, second.wait(history.scenario.end)) == (None, HOUR)


def test_pods_that_arrive_within_a_round_interval_share_a_turn():
    arrivals = """
- {name: x, tenant: a, at: "09:00", count: 3, template: {requests: {cpu: 100m}}}
- {name: y, tenant: a, at: +200ms, template: {requests: {cpu: 100m}}}
- {name: z, tenant: a, at: +900ms, template: {requests: {cpu: 100m}}}
"""
    history = run(day(arrivals, tenant("a")))
    assert history.turns == 2
    assert {life.admitted for life in lives(history, "a/x").values()} == {T}
    assert {life.admitted for n, life in history.lives.items() if n[2] in "yz"} == {T + SECOND}


def test_a_group_starts_together_or_not_at_all():
    arrivals = """
- {name: big, tenant: a, at: "09:00", count: 4, template: {requests: {cpu: "8"}, groupSize: 4}}
- {name: two, tenant: a, at: "09:00", count: 2, template: {requests: {cpu: "8"}, groupSize: 2}}
"""
    history = run(
        day(arrivals, tenant("a"), no_level_guarantees(), nodes='{name: n, count: 3, allocatable: {cpu: "8"}}')
    )
    assert {life.admitted for life in lives(history, "a/big").values()} == {None}
    assert {life.admitted for life in lives(history, "a/two").values()} == {T}


THREE = [tenant("a", 1), tenant("b", 2), tenant("c", 3), no_level_guarantees()]
ENDLESS = "\n".join(
    f'- {{tenant: {name}, at: "09:00", count: 400, template: {{requests: {{cpu: "1"}}, runFor: [{runs}]}}}}'
    for name, runs in (("a", "4m, 9m"), ("b", "5m, 7m"), ("c", "3m, 8m, 6m"))
)
SIX = '{name: n, count: 6, allocatable: {cpu: "8"}}'


def held_while_contended(history):
    """What a, b and c hold in cpus, sample by sample, while all of them wait and nobody starves yet."""
    samples = [sample for sample in history.samples if sample.at < T + 12 * MINUTE]
    return [[sample.held[name][CPU] / 1000 for name in "abc"] for sample in samples]


def test_three_tenants_with_endless_demand_share_by_weight():
    history = run(day(ENDLESS, *THREE, policy("windows: {perTenant: unlimited}"), nodes=SIX))
    held = held_while_contended(history)
    assert len(held) == 120
    assert all(shares == [pytest.approx(fair, abs=1) for fair in (8, 16, 24)] for shares in held)
    assert [history.samples[0].fair[name][CPU] for name in "abc"] == [8_000, 16_000, 24_000]


def test_with_windows_an_empty_cluster_is_filled_by_weight_too():
    history = run(day(ENDLESS, *THREE, nodes=SIX))
    assert held_while_contended(history)[0] == [8, 16, 24]


def test_nobody_is_ever_above_its_limit():
    history = run(
        day(
            '- {tenant: a, at: "09:00", count: 30, template: {requests: {cpu: "2"}, runFor: 7m}}',
            tenant("a", spec="quotas: [{pool: default, limit: {cpu: 10}}]"),
        )
    )
    assert max(sample.held["a"][CPU] for sample in history.samples) == 10_000
    assert all(life.admitted is not None for life in history.lives.values())


def cheating(change):
    """An engine that changes its first admission."""

    def decide(snapshot):
        turn = admit(snapshot)
        return dataclasses.replace(turn, admissions=change(turn.admissions))

    return decide


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            lambda all_: tuple(dataclasses.replace(a, node="n-1") for a in all_),
            "was sent to n-1, which lacks 1000 of cpu",
            id="too many on one node",
        ),
        pytest.param(lambda all_: (*all_, *all_[:1]), "was admitted twice", id="one pod twice"),
    ],
)
def test_an_engine_that_cheats_is_caught(change, message):
    scenario = day('- {tenant: a, at: "09:00", count: 9, template: {requests: {cpu: "1"}}}', tenant("a"))
    with pytest.raises(InvariantBroken, match=message):
        run(scenario, cheating(change))


def test_an_engine_that_forgets_a_limit_is_caught():
    arrivals = '- {tenant: a, at: "09:00", count: 3, template: {requests: {cpu: "1"}}}'
    limited = day(arrivals, tenant("a", spec="quotas: [{pool: default, limit: {cpu: 2}}]"))
    generous = day(arrivals, tenant("a"))

    def decide(snapshot):
        return admit(
            dataclasses.replace(
                snapshot, setup=generous.setup, ledger=Ledger(generous.setup.tenants, generous.setup.hierarchy)
            )
        )

    with pytest.raises(InvariantBroken, match="a holds 3000 of cpu in pool default, above its limit of 2000"):
        run(limited, decide)


def random_tenant(name: str, lot: random.Random) -> str:
    guaranteed = lot.choice([0, 0, 4, 8])
    limit = max(3, guaranteed + lot.choice([0, 3, 99]))
    borrowing = lot.choice(["true", "true", "false"]) if guaranteed else "true"
    claim = f"pool: default, guaranteed: {{cpu: {guaranteed}, pods: 99}}, limit: {{cpu: {limit}}}"
    quota = f"quotas: [{{{claim}, borrowing: {{enabled: {borrowing}}}}}]"
    return tenant(name, lot.randint(1, 4), f"levels: {{mostUrgent: 0}}\n{quota}")


def random_entry(index: int, lot: random.Random) -> str:
    size = lot.choice([0, 0, 0, 2, 3])
    template = [
        f"labels: {{fairberth.io/type: t{lot.randint(0, 6)}}}",
        f"requests: {{cpu: {lot.randint(1, 5) * 500}m}}",
        f"runFor: {lot.randint(1, 20)}m",
        *([f"groupSize: {size}"] if size else []),
    ]
    when = f"at: +{lot.randint(0, 30)}m, count: {6 * lot.randint(1, 3)}"
    return f"- {{name: e{index}, tenant: {lot.choice('abcd')}, {when}, template: {{{', '.join(template)}}}}}"


def random_day(seed: int):
    """Tenants with guarantees and limits, every level, groups, and more work than room."""
    lot = random.Random(seed)
    types = ", ".join(f"{{name: t{level}, level: {level}}}" for level in range(7))
    tenants = [random_tenant(name, lot) for name in "abcd"]
    return day("\n".join(random_entry(index, lot) for index in range(14)), *tenants, policy(f"types: [{types}]"))


@pytest.mark.parametrize("seed", range(12))
def test_after_a_turn_that_admitted_nobody_nobody_goes_however_old_the_waiting_are(seed):
    # This is why a run needs no turns between its events.
    scenario = random_day(seed)
    world, waiting = World(scenario), 0
    for at in sorted({arrival.at for arrival in scenario.arrivals}):
        for arrival in scenario.arrivals:
            if arrival.at == at:
                world.arrive(arrival.pod)
        while (turn := world.turn(at)).admissions:
            pass
        waiting += len(turn.refusals)
        for later in (SECOND, 5 * MINUTE, HOUR):
            assert world.turn(at + later).admissions == ()
    assert waiting > 0


@pytest.mark.parametrize("seed", range(12))
def test_books_and_ledger_agree_after_any_day(seed):
    history = run(random_day(seed))  # checks each step itself, and everything at the end
    assert any(life.ended is not None for life in history.lives.values())


def test_progress_is_told_and_never_goes_back():
    told: list[float] = []
    run(day("- {tenant: a, every: 2s, template: {requests: {cpu: 10m}, runFor: 1m}}", tenant("a")), watch=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 3


def test_the_order_of_hashes_does_not_matter():
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from fairberth.simulator.output import as_json\n"
        "from fairberth.simulator.reading import file\n"
        "from fairberth.simulator.report import report\n"
        "from fairberth.simulator.run import run\n"
        "print(as_json(report(run(file.load(Path(sys.argv[1]))))))\n"
    )

    def told(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", program, str(SMALL)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert told("1") == told("2") != ""
