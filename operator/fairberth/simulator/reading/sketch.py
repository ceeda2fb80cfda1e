"""The `Scenario` document: when it starts and ends, its nodes, its named moments, who arrives."""

from __future__ import annotations

from fairberth.model.workload import Millis
from fairberth.simulator.reading.arrivals import read_entry
from fairberth.simulator.reading.fields import Fields
from fairberth.simulator.reading.hosts import read_group
from fairberth.simulator.scenario import Moment
from fairberth.simulator.times import HOUR, TimeError, parse_clock, parse_moment

GROUP_VERSION = "sim.fairberth.io/v1alpha1"


class Sketch:
    """The Scenario document, read."""

    def __init__(self, fields: Fields) -> None:
        fields.raw("apiVersion")
        fields.raw("kind")
        metadata = fields.inner("metadata")
        self.name = metadata.text("name", "scenario", required=True)
        metadata.close()
        spec = fields.inner("spec")
        fields.close()
        self.text = " ".join(spec.text("description").split())
        self.start = _clock(spec, "start")
        self.end = self.start + (spec.duration("duration", required=True) or HOUR)
        self.nodes = [pair for group in spec.each("nodes") for pair in read_group(group)]
        self.moments = [_named_moment(moment, self.start, self.end) for moment in spec.each("moments")]
        arrivals = spec.each("arrivals")
        if not arrivals:
            spec.fault("arrivals", "nobody arrives")
        self.entries = [read_entry(entry, n, self.start, self.end) for n, entry in enumerate(arrivals, 1)]
        names: set[str] = set()
        for entry, arrival in zip(self.entries, arrivals, strict=True):
            if entry.name in names:
                arrival.fault("name", f"{entry.name!r} is the name of an earlier entry")
            names.add(entry.name)
        spec.close()


def _clock(spec: Fields, name: str) -> Millis:
    value = spec.raw(name)
    try:
        return parse_clock(value) if value is not None else 0
    except TimeError as error:
        spec.fault(name, str(error))
        return 0


def _named_moment(fields: Fields, start: Millis, end: Millis) -> Moment:
    name, text, value = fields.text("name", required=True), fields.text("text"), fields.raw("at")
    fields.close()
    try:
        at = parse_moment(value, start)
        if at > end:
            fields.fault("at", f"{value} is after the end of the run")
        return Moment(at, name, text)
    except TimeError as error:
        fields.fault("at", str(error) if value is not None else "is required")
        return Moment(start, name, text)
