"""What a turn wants done, as values. `perform.py` turns each into requests."""

from __future__ import annotations

from dataclasses import dataclass

from fairberth.model.objects import CapacityPool
from fairberth.model.workload import Grant, Pod
from fairberth.policy.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Admit:
    """Let a pod go: nominate the node if one was chosen, then remove the gate and write the grant in one patch."""

    pod: Pod
    grant: Grant
    pool: CapacityPool


@dataclass(frozen=True, slots=True)
class Tell:
    """Write on the pod why it waits."""

    pod: Pod
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class LabelNamespace:
    """Write whose namespace it is; "" takes the label away."""

    name: str
    tenant: str


Command = Admit | Tell | LabelNamespace
