"""Our own kinds: from a manifest, as users write it, to the values that decisions see, or to every fault in it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from pydantic import ValidationError

from fairberth.api.v1alpha1 import capacitypool, fairnesspolicy, prioritysla, shared, tenant
from fairberth.model import objects
from fairberth.model.amounts import NOTHING, Amounts, Limits, parse_quantity
from fairberth.model.faults import Fault, InvalidInput
from fairberth.model.selectors import EVERYTHING, Requirement, Selector, Toleration

API_VERSION = "fairberth.io/v1alpha1"
Value = objects.Tenant | objects.PrioritySLA | objects.FairnessPolicy | objects.CapacityPool
_M = TypeVar("_M", bound=shared.Model)

_KINDS: Mapping[str, type[shared.Model]] = {
    "Tenant": tenant.Tenant,
    "PrioritySLA": prioritysla.PrioritySLA,
    "FairnessPolicy": fairnesspolicy.FairnessPolicy,
    "CapacityPool": capacitypool.CapacityPool,
}


def manifest(obj: Mapping[str, Any]) -> Value:
    """Decode one of our objects. Raises InvalidInput with every fault and its path."""
    kind = str(obj.get("kind", ""))
    name = str((obj.get("metadata") or {}).get("name", ""))
    where = f"{kind or 'object'}/{name}" if name else kind or "object"
    if kind not in _KINDS:
        raise InvalidInput(where, (Fault("kind", f"{kind!r} is none of {', '.join(_KINDS)}"),))
    if not name:
        raise InvalidInput(where, (Fault("metadata.name", "is missing"),))
    top = tuple(sorted(_top_level(obj)))
    if top:
        raise InvalidInput(where, top)
    read = _read(_KINDS[kind], {"spec": obj.get("spec") or {}}, where)
    faults = tuple(sorted(_faults(read, name)))
    if faults:
        raise InvalidInput(where, faults)
    return _value(read, name, _created(obj))


def _top_level(obj: Mapping[str, Any]) -> Iterator[Fault]:
    known = ("apiVersion", "kind", "metadata", "spec", "status")
    for name in obj:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            yield Fault(str(name), "is not a field here" + (f"; did you mean `{close[0]}`?" if close else ""))
    if obj.get("apiVersion", API_VERSION) != API_VERSION:
        yield Fault("apiVersion", f"{obj['apiVersion']!r} is not {API_VERSION}")
    try:
        _created(obj)
    except ValueError:
        yield Fault("metadata.creationTimestamp", f"{obj['metadata']['creationTimestamp']!r} is not a time")


def in_force(obj: Mapping[str, Any]) -> Value | None:
    """The version that the object's status remembers as in force; None if there is none, or none that still reads."""
    remembered = ((obj.get("status") or {}).get("inForce") or {}).get("spec")
    if remembered is None:
        return None
    try:
        return manifest({**obj, "spec": remembered})
    except InvalidInput:
        return None


def _created(obj: Mapping[str, Any]) -> int:
    stamp = obj["metadata"].get("creationTimestamp")
    if not stamp:
        return 0
    moment = stamp if isinstance(stamp, datetime) else datetime.fromisoformat(str(stamp))
    return int(moment.timestamp() * 1000)


# -- faults -------------------------------------------------------------------------------------------------------


def _read(model: type[_M], body: Mapping[str, Any], where: str) -> _M:
    try:
        encoded = msgspec.json.encode(body)
    except (TypeError, msgspec.MsgspecError) as error:
        raise InvalidInput(where, (Fault("spec", f"is not plain YAML or JSON: {error}"),)) from None
    try:
        return model.model_validate_json(encoded, strict=True)
    except ValidationError as error:
        found = {_fault(detail, model) for detail in error.errors(include_url=False)}
        raise InvalidInput(where, tuple(sorted(found))) from None


def _fault(detail: Any, model: type[shared.Model]) -> Fault:
    location = [part for part in detail["loc"] if part not in ("int", "str", "[key]")]
    path = path_of(location)
    if detail["type"] == "extra_forbidden":
        return Fault(path, f"is not a field here{_hint(location, model)}")
    if detail["type"] == "missing":
        return Fault(path, "is missing")
    message = detail["msg"].removeprefix("Value error, ")
    given = detail.get("input")
    said = f" (got {given!r})" if isinstance(given, int | str | float) else ""
    return Fault(path, f"{message[:1].lower()}{message[1:]}{said}")


def path_of(location: Iterable[int | str]) -> str:
    """``('spec', 'quotas', 0, 'limit')`` as ``spec.quotas[0].limit``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _hint(location: Sequence[int | str], model: type[shared.Model]) -> str:
    names = {field.alias or name for part in _models(model) for name, field in part.model_fields.items()}
    close = difflib.get_close_matches(str(location[-1]), sorted(names), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _models(model: type[shared.Model]) -> set[type[shared.Model]]:
    found: set[type[shared.Model]] = set()
    todo: list[Any] = [model]
    while todo:
        part = todo.pop()
        if isinstance(part, type) and issubclass(part, shared.Model):
            if part not in found:
                found.add(part)
                todo.extend(field.annotation for field in part.model_fields.values())
        else:
            todo.extend(getattr(part, "__args__", ()))
    return found


def _faults(read: shared.Model, name: str) -> Iterator[Fault]:
    """What a single field does not show."""
    if isinstance(read, tenant.Tenant):
        if read.spec.parent == name:
            yield Fault("spec.parent", "must be another tenant")
        yield from _doubles("spec.quotas", "pool", [quota.pool for quota in read.spec.quotas])
        yield from _doubles("spec.teams", "name", [team.name for team in read.spec.teams])
        for index, quota in enumerate(read.spec.quotas):
            guaranteed, limit = _amounts(quota.guaranteed), _limits(quota.limit)
            for resource in sorted(limit):
                if guaranteed[resource] > limit[resource]:
                    path = f"spec.quotas[{index}].limit.{resource}"
                    yield Fault(path, f"must not be below guaranteed ({quota.guaranteed[resource]})")
    if isinstance(read, fairnesspolicy.FairnessPolicy):
        yield from _doubles("spec.types", "name", [kind.name for kind in read.spec.types])


def _doubles(path: str, field: str, values: Sequence[str]) -> Iterator[Fault]:
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Fault(f"{path}[{index}].{field}", f"{value!r} is there twice")


# -- values -------------------------------------------------------------------------------------------------------


def _value(read: shared.Model, name: str, created: int) -> Value:
    if isinstance(read, tenant.Tenant):
        return _tenant(read.spec, name, created)
    if isinstance(read, prioritysla.PrioritySLA):
        return _sla(read.spec, name)
    if isinstance(read, fairnesspolicy.FairnessPolicy):
        return _policy(read.spec, name)
    assert isinstance(read, capacitypool.CapacityPool)
    return _pool(read.spec, name, created)


def _tenant(spec: tenant.TenantSpec, name: str, created: int) -> objects.Tenant:
    return objects.Tenant(
        name=name,
        created=created,
        weight=spec.weight,
        tier=objects.Tier[spec.tier.name],
        parent=spec.parent,
        namespaces=tuple(spec.namespaces.names),
        namespace_selector=_selector(spec.namespaces.selector),
        teams=tuple(objects.Team(t.name, tuple(t.namespaces), _selector(t.selector)) for t in spec.teams),
        quotas={quota.pool: _quota(quota) for quota in spec.quotas},
        backpressure=objects.Backpressure(
            spec.backpressure.max_queue,
            spec.backpressure.max_in_flight,
            spec.backpressure.on_full is tenant.OnFull.REJECT,
        ),
        cordoned=spec.cordoned,
        most_urgent=spec.levels.most_urgent,
        default_level=spec.levels.default,
        allowed_contexts=frozenset(context.value for context in spec.allowed_contexts),
    )


def _quota(quota: tenant.Quota) -> objects.Quota:
    return objects.Quota(
        guaranteed=_amounts(quota.guaranteed),
        limit=_limits(quota.limit),
        borrowing=objects.Borrowing(quota.borrowing.enabled, _limits(quota.borrowing.limit)),
        lending=objects.Lending(quota.lending.enabled, _limits(quota.lending.limit)),
    )


def _sla(spec: prioritysla.PrioritySLASpec, name: str) -> objects.PrioritySLA:
    best_effort = spec.max_latency == prioritysla.BEST_EFFORT
    whole, _, part = spec.objective.removesuffix("%").partition(".")
    return objects.PrioritySLA(
        name=name,
        level=spec.level,
        value=objects.ValueClass[spec.value_class.name],
        guarantee=spec.guarantee,
        lend_guarantee=spec.lend_guarantee,
        preemptible=spec.preemptible,
        max_latency=None if best_effort else shared.millis(spec.max_latency),
        objective=int(whole) * 100 + int(f"{part:0<2}"),
        priority_class=spec.priority_class_name,
    )


def _policy(spec: fairnesspolicy.FairnessPolicySpec, name: str) -> objects.FairnessPolicy:
    scoring, windows = spec.scoring, spec.windows
    return objects.FairnessPolicy(
        name=name,
        scoring=objects.Scoring(
            critical=scoring.value_weights.critical,
            standard=scoring.value_weights.standard,
            batch=scoring.value_weights.batch,
            base_priority=tuple(scoring.base_priority),
            aging_per_tick=scoring.aging_per_tick,
            max_aging_ticks=scoring.max_aging_ticks,
            starvation_ticks=scoring.starvation_ticks,
            aging_tick=shared.millis(scoring.aging_tick),
        ),
        fair_band=spec.fair_band,
        per_tenant_window=_window(windows.per_tenant),
        per_team_window=_window(windows.per_team),
        max_forced=spec.max_forced,
        round_interval=shared.millis(spec.round_interval),
        max_context_boost=fairnesspolicy.hundredths(spec.max_context_boost),
        types={kind.name: kind.level for kind in spec.types},
        lost_node_timeout=shared.millis(spec.lost_node_timeout),
    )


def _pool(spec: capacitypool.CapacityPoolSpec, name: str, created: int) -> objects.CapacityPool:
    return objects.CapacityPool(
        name=name,
        created=created,
        role=objects.PoolRole[spec.role.name],
        selector=_selector(spec.node_selector) or EVERYTHING,
        tolerations=tuple(
            Toleration(t.key, t.operator, t.value, t.effect, t.toleration_seconds) for t in spec.tolerations
        ),
        levels=frozenset(spec.levels),
        max_capacity=_amounts(spec.autoscaling.max_capacity) if spec.autoscaling else None,
    )


def _window(window: int | str) -> int | None:
    return window if isinstance(window, int) else None


def _amounts(quantities: Mapping[str, int | str]) -> Amounts:
    return Amounts.parse(quantities) if quantities else NOTHING


def _limits(quantities: Mapping[str, int | str]) -> Limits:
    return Limits({name: parse_quantity(name, text) for name, text in quantities.items()})


def _selector(written: shared.LabelSelector | None) -> Selector | None:
    if written is None:
        return None
    exact = Selector.exact(written.match_labels).requirements
    more = tuple(Requirement(e.key, e.operator, tuple(e.values)) for e in written.match_expressions)
    return Selector((*exact, *more))
