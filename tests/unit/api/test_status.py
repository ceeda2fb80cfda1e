"""The conditions that our own objects carry."""

from __future__ import annotations

import pytest

from fairberth.api import status, times
from fairberth.api.v1alpha1.shared import Condition
from fairberth.model.faults import Fault
from fairberth.model.reasons import Reason
from tests.kit import builders

NOW, THEN = builders.T0, times.timestamp(builders.T0 - 60_000)
WEIGHT = Fault("spec.weight", "must be at least 1")
POOL = Fault("spec.quotas[0].pool", "there is no CapacityPool 'gpu'")


def test_an_object_without_faults_is_ready() -> None:
    assert status.ready((), 4, NOW, None) == {
        "type": "Ready",
        "status": "True",
        "reason": "InForce",
        "message": Reason.IN_FORCE.sentence,
        "observedGeneration": 4,
        "lastTransitionTime": times.timestamp(NOW),
    }


def test_every_fault_is_told_with_its_path() -> None:
    said = status.ready((WEIGHT, POOL), 4, NOW, None)
    assert (said["status"], said["reason"]) == ("False", "InvalidConfig")
    assert said["message"] == f"{WEIGHT}; {POOL}"


def test_a_policy_that_is_not_the_default_says_so() -> None:
    said = status.ready((), 1, NOW, None, in_force=False)
    assert (said["status"], said["reason"]) == ("False", "NotDefault")
    assert status.ready((WEIGHT,), 1, NOW, None, in_force=False)["reason"] == "InvalidConfig", "its faults come first"


@pytest.mark.parametrize(
    ("before", "faults", "since"),
    [
        ({"status": "True", "lastTransitionTime": THEN}, (), THEN),
        ({"status": "False", "lastTransitionTime": THEN}, (WEIGHT,), THEN),
        ({"status": "True", "lastTransitionTime": THEN}, (WEIGHT,), times.timestamp(NOW)),
        ({"status": "False", "lastTransitionTime": THEN}, (), times.timestamp(NOW)),
        ({"status": "True"}, (), times.timestamp(NOW)),
    ],
    ids=["still ready", "still faulty", "faulty now", "ready now", "a time was never said"],
)
def test_the_time_is_that_of_the_last_flip(before: dict[str, str], faults: tuple[Fault, ...], since: str) -> None:
    assert status.ready(faults, 2, NOW, before)["lastTransitionTime"] == since


def test_what_we_write_fits_the_schema_however_many_faults_there_are() -> None:
    many = tuple(Fault(f"spec.quotas[{n}].pool", "x" * 500) for n in range(500))
    for said in (status.ready(many, 1, NOW, None), status.warning(Reason.GUARANTEES_OVERSUBSCRIBED, "too much", NOW)):
        Condition.model_validate(said)


def test_quantities_are_written_as_people_read_them_in_a_fixed_order() -> None:
    amounts = builders.amounts(memory="2Gi", cpu="1500m", pods=3)
    assert list(status.quantities(amounts).items()) == [("cpu", "1.5"), ("memory", "2Gi"), ("pods", "3")]
