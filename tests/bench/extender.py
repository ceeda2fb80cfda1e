"""The extender alone: one call's work, from the body's bytes to the answer's bytes."""

from __future__ import annotations

import json

from fairberth.api import grants
from fairberth.control.answers import Answers
from fairberth.extender import verbs
from fairberth.model.keys import ADMISSION
from fairberth.model.workload import Grant
from fairberth.policy.snapshot import Setup
from fairberth.state.facts import NamespaceSeen, NodeSeen, SetupChanged
from tests.bench.figures import Figures, quantile, timed
from tests.kit import builders

CALLS = 300


def run(figures: Figures) -> None:
    """filter and prioritize for one, 500 and 5000 names."""
    answers = Answers()
    pools = {"main": builders.pool()}
    answers.apply(SetupChanged(Setup.of({"a": builders.tenant("a")}, {}, Setup().policy, pools)))
    answers.apply(NamespaceSeen(builders.namespace("a", "a")))
    names = [f"node-{index:04}" for index in range(5000)]
    for name in names:
        answers.apply(NodeSeen(builders.node(name, cpu=16, memory="64Gi")))
    grant = grants.encode(Grant(1, "main", 4, "t-1", names[0]))
    metadata = {"name": "p", "namespace": "a", "uid": "u", "annotations": {ADMISSION: grant}}
    pod = {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "x" * 2000}]}}
    for count in (1, 500, 5000):
        body = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names[:count]}).encode()
        for verb, answer in verbs.VERBS.items():
            answer(body, answers)
            seconds = timed(CALLS, lambda answer=answer, body=body: answer(body, answers))
            for q in (0.5, 0.99):
                figures.add(f"extender {verb}, {count} names, p{q * 100:g}", quantile(seconds, q) * 1000, "ms")
