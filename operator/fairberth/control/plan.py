"""From a decided turn to commands: admissions first, in their order; then what changed for those who wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairberth.control.commands import Admit, LabelNamespace, Tell
from fairberth.model.keys import TENANT_LABEL
from fairberth.model.reasons import Reason
from fairberth.model.workload import Grant, Millis, Namespace, Pod
from fairberth.policy.engine import Turn
from fairberth.policy.snapshot import Lane, Setup
from fairberth.policy.verdict import Verdict


class Teller:
    """Remembers what each lane was told, so that only changes are looked at (and written)."""

    def __init__(self) -> None:
        self._told: dict[object, tuple[Lane, int, Reason]] = {}

    def tell(self, turn: Turn) -> Iterator[Tell]:
        """A command for each waiting pod whose condition says something else than the turn decided."""
        told: dict[object, tuple[Lane, int, Reason]] = {}
        for refused in turn.refusals:
            lane, first, verdict = refused.lane, refused.first, refused.verdict
            said = (lane, first, verdict.reason)
            place = (lane.key, lane.key.group)
            known = self._told.get(place)
            told[place] = said
            if known is not None and known[0] is lane and known[1:] == said[1:]:
                continue
            code = str(verdict.reason)
            for candidate in lane.candidates[first:]:
                if candidate.pod.condition != code:
                    yield Tell(candidate.pod, verdict)
        self._told = told

    def forget(self) -> None:
        """Look at everybody again at the next turn (a write failed)."""
        self._told.clear()


def admissions(turn: Turn, setup: Setup, now: Millis, decision: str) -> Iterator[Admit]:
    """One command per admission. `decision` names the turn; each grant's id is unique within it."""
    for index, admission in enumerate(turn.admissions):
        level = admission.candidate.classified.level
        grant = Grant(now, admission.pool, level, f"{decision}-{index}", admission.node)
        yield Admit(admission.candidate.pod, grant, setup.pools[admission.pool])


def orphans(pods: Mapping[str, Pod]) -> Iterator[Tell]:
    """Gated pods whose namespace belongs to no tenant in force are told so."""
    verdict = Verdict(Reason.NO_TENANT)
    for uid in sorted(pods):
        if pods[uid].condition != str(Reason.NO_TENANT):
            yield Tell(pods[uid], verdict)


def labels(setup: Setup, namespaces: Mapping[str, Namespace]) -> Iterator[LabelNamespace]:
    """Namespaces whose tenant label is not what the tenants in force say."""
    for name in sorted(namespaces):
        namespace = namespaces[name]
        owner = setup.owner_of(namespace)
        if namespace.labels.get(TENANT_LABEL, "") != owner:
            yield LabelNamespace(name, owner)
