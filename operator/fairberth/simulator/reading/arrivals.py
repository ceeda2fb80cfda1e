"""The `arrivals` of a scenario: who comes when, asking for what. Deterministic: nothing is drawn by lot.

Times: ``at`` (all at once), ``between`` two moments (evenly spread), or ``every`` so often (within ``between``, if
given). ``runFor`` may be a list: the pods take its durations in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairberth.model import keys
from fairberth.model.amounts import PODS, Amounts
from fairberth.model.selectors import Constraints, Selector, Toleration
from fairberth.model.workload import Millis, Pod
from fairberth.simulator.reading.fields import Fields
from fairberth.simulator.scenario import Arrival, grouped
from fairberth.simulator.times import TimeError, parse_moment

MOST_PODS = 500_000  # of one entry: beyond that it is a slip of the keyboard


@dataclass(frozen=True, slots=True)
class Template:
    """What each pod of an entry is like."""

    requests: Amounts
    labels: dict[str, str]
    priority_class: str
    constraints: Constraints
    run_for: tuple[Millis, ...]  # taken in turn; empty: they never end
    group_size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of `arrivals`, read."""

    path: str
    name: str
    namespace: str
    tenant: str  # given instead of the namespace
    times: tuple[Millis, ...]
    template: Template


def read_entry(fields: Fields, index: int, start: Millis, end: Millis) -> Entry:
    """Read one entry; faults go where `fields` collects them."""
    namespace, tenant = fields.text("namespace"), fields.text("tenant")
    if bool(namespace) == bool(tenant):
        fields.fault("namespace", "give either a namespace or a tenant (meaning its first namespace)")
    name = fields.text("name", f"arrival-{index}")
    times = _times(fields, start, end)
    template = _template(fields.inner("template"))
    if template.group_size and len(times) % template.group_size:
        fields.fault("count", f"{len(times)} pods do not make whole groups of {template.group_size}")
    fields.close()
    return Entry(fields.path, name, namespace, tenant, times, template)


def _times(fields: Fields, start: Millis, end: Millis) -> tuple[Millis, ...]:
    count = fields.count("count", 1, most=MOST_PODS)
    at = _moment(fields, "at", fields.raw("at"), start, end)
    every = fields.duration("every")
    window = _between(fields, start, end)
    if (at is not None) + (every is not None or window is not None) != 1:
        if not fields.has("at") or fields.has("every") or fields.has("between"):
            fields.fault("at", "say when, in one way: at, between, or every")
        return ()
    if at is not None:
        return (at,) * count
    first, last = window or (start, end)
    if every is None:
        return tuple(first + (last - first) * n // count for n in range(count))
    if (last - first) // every * count > MOST_PODS:
        fields.fault("every", f"makes more than {MOST_PODS} pods")
        return ()
    return tuple(moment for moment in range(first, last, every) for _ in range(count))


def _between(fields: Fields, start: Millis, end: Millis) -> tuple[Millis, Millis] | None:
    items = fields.items("between")
    if not items:
        if fields.has("between"):
            fields.fault("between", "must be two moments, such as [09:30, 11:00]")
        return None
    if len(items) != 2:
        fields.fault("between", f"must be two moments, such as [09:30, 11:00], not {len(items)}")
        return start, end
    first = _moment(fields, "between[0]", items[0], start, end)
    last = _moment(fields, "between[1]", items[1], start, end)
    if first is None or last is None:
        return start, end
    if first >= last:
        fields.fault("between", f"{items[1]} is not after {items[0]}")
    return first, last


def _moment(fields: Fields, name: str, value: object, start: Millis, end: Millis) -> Millis | None:
    if value is None:
        return None
    try:
        moment = parse_moment(value, start)
    except TimeError as error:
        fields.fault(name, str(error))
        return None
    if moment > end:
        fields.fault(name, f"{value} is after the end of the run")
    return moment


def _template(fields: Fields) -> Template:
    requests = fields.amounts("requests", required=True)
    if PODS in requests:
        fields.fault("requests.pods", "every pod takes one of `pods` anyway")
    if fields.has("requests") and not requests.anything():
        fields.fault("requests", "asks for nothing")
    labels = fields.strings("labels")
    for key in labels:
        if key.startswith(keys.GRANTED_PREFIX):
            fields.fault(f"labels.{key}", "only Fairberth says this")
        elif key.startswith(keys.USER_PREFIX) and key not in keys.USER_KEYS:
            fields.fault(f"labels.{key}", f"no such label (known: {', '.join(sorted(keys.USER_KEYS))})")
    selector = fields.strings("nodeSelector")
    template = Template(
        requests=requests.plus(Amounts({PODS: 1})),
        labels=labels,
        priority_class=fields.text("priorityClassName"),
        constraints=Constraints(Selector.exact(selector), tolerations=tuple(_tolerations(fields))),
        run_for=fields.durations("runFor"),
        group_size=fields.count("groupSize", 0, least=2, most=1_000),
    )
    fields.close()
    return template


def _tolerations(fields: Fields) -> Iterator[Toleration]:
    for inner in fields.each("tolerations"):
        yield Toleration(inner.text("key"), inner.text("operator", "Equal"), inner.text("value"), inner.text("effect"))
        inner.close()


def pods_of(entry: Entry, namespace: str) -> Iterator[Arrival]:
    """The entry's pods, in order."""
    template, width = entry.template, len(str(len(entry.times)))
    first = Pod(
        uid="",
        namespace=namespace,
        name="",
        created=0,
        requests=template.requests,
        constraints=template.constraints,
        labels=template.labels,
        scheduler=keys.SCHEDULER,
        priority_class=template.priority_class,
        gated=True,
    )
    size = template.group_size
    for index, at in enumerate(entry.times):
        name = f"{entry.name}-{index + 1:0{width}}"
        labels = template.labels if not size else grouped(template.labels, f"{entry.name}-{index // size + 1}", size)
        pod = replace(first, uid=f"{namespace}/{name}", name=name, created=at, labels=labels)
        durations = template.run_for
        yield Arrival(pod, durations[index % len(durations)] if durations else None)
