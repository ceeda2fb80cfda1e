"""The mirror tells its sink each change once, and what is gone."""

import json

import msgspec
import pytest

from fairberth.kube.mirror import Mirror
from tests.unit.kube.stub import Object, pod


class Recorder:
    """A sink that writes down what it hears: `+name@version`, `-key`, `synced`."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def seen(self, value: Object) -> None:
        meta = value["metadata"]
        self.heard.append(f"+{meta['name']}@{meta['resourceVersion']}")

    def gone(self, key: str) -> None:
        self.heard.append(f"-{key}")

    def synced(self) -> None:
        self.heard.append("synced")


def _decode(raw: msgspec.Raw) -> Object:
    value: Object = msgspec.json.decode(raw)
    if value.get("bad"):
        raise ValueError("spec.x: bad")
    return value


class Case:
    """A mirror, its recorder and its complaints."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.complaints: list[str] = []
        self.mirror = Mirror(
            _decode, lambda value: str(value["metadata"]["uid"]), self.recorder, self.complaints.append
        )

    def listing(self, *objects: Object) -> None:
        self.mirror.begin()
        self.show(*objects)
        self.mirror.end()

    def show(self, *objects: Object) -> None:
        for obj in objects:
            self.mirror.show(_raw(obj))

    def hide(self, obj: Object) -> None:
        self.mirror.hide(_raw(obj))

    def heard(self) -> list[str]:
        heard, self.recorder.heard = self.recorder.heard, []
        return heard


def _raw(obj: Object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(obj).encode())


@pytest.fixture
def case() -> Case:
    """A mirror that has listed a, at version 1."""
    case = Case()
    case.listing(pod("a", 1))
    assert case.heard() == ["+a@1", "synced"]
    return case


def test_a_version_that_was_seen_is_not_told_again(case: Case) -> None:
    case.listing(pod("a", 1), pod("b", 2))
    assert case.heard() == ["+b@2", "synced"]


def test_a_new_version_is_told(case: Case) -> None:
    case.show(pod("a", 2))
    assert case.heard() == ["+a@2"]


def test_what_a_new_listing_lacks_is_gone_before_it_is_synced(case: Case) -> None:
    case.show(pod("b", 2))
    case.listing(pod("b", 2))
    assert case.heard() == ["+b@2", "-uid-of-a", "synced"]
    assert len(case.mirror) == 1


def test_nothing_is_gone_by_a_listing_that_breaks_off(case: Case) -> None:
    case.mirror.begin()
    case.show(pod("b", 2))
    case.listing(pod("a", 1))
    assert case.heard() == ["+b@2", "-uid-of-b", "synced"]


def test_one_that_is_deleted_during_a_listing_is_gone_once(case: Case) -> None:
    case.mirror.begin()
    case.show(pod("a", 1))
    case.hide(pod("a", 1))
    case.mirror.end()
    assert case.heard() == ["-uid-of-a", "synced"]


def test_deleting_what_was_never_seen_tells_nothing(case: Case) -> None:
    case.hide(pod("z", 9))
    assert case.heard() == []


def test_one_that_was_made_again_under_its_name_is_gone_first(case: Case) -> None:
    case.listing(pod("a", 5, uid="second"))
    assert case.heard() == ["-uid-of-a", "+a@5", "synced"]
    case.hide(pod("a", 6, uid="second"))
    assert case.heard() == ["-second"]


def test_one_that_cannot_be_decoded_is_absent_and_complained_of(case: Case) -> None:
    case.show(pod("b", 2, bad=True))
    assert case.heard() == []
    assert case.complaints == ["bank/b: ValueError: spec.x: bad"]
    case.show(pod("b", 3))
    assert case.heard() == ["+b@3"]


def test_one_that_can_no_longer_be_decoded_stays_as_it_was_until_it_is_gone(case: Case) -> None:
    case.show(pod("a", 2, bad=True))
    case.listing(pod("a", 2, bad=True))
    assert case.heard() == ["synced"]
    assert len(case.complaints) == 2
    case.hide(pod("a", 3, bad=True))
    assert case.heard() == ["-uid-of-a"]


@pytest.mark.parametrize("text", [b"{}", b'{"metadata": null}', b'{"metadata": {"name": 7}}', b"[]"])
def test_an_object_without_readable_metadata_is_complained_of(case: Case, text: bytes) -> None:
    assert case.mirror.show(msgspec.Raw(text)) == ""
    assert case.mirror.hide(msgspec.Raw(text)) == ""
    assert len(case.complaints) == 2
    assert case.heard() == []


def test_an_object_without_a_namespace_is_told_too(case: Case) -> None:
    case.show({"metadata": {"name": "node-1", "uid": "n", "resourceVersion": "4"}})
    assert case.heard() == ["+node-1@4"]
