"""§4: which level a pod gets, with every term kept for `explain`.

Terms are hundredths of a level. Halves go to the more urgent level, and nothing that a pod says passes its tenant's
`most_urgent` level or its `allowed_contexts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairberth.model import keys
from fairberth.model.objects import LEVELS, MOST_BASE_PRIORITY, FairnessPolicy, PrioritySLA, Scoring, Tenant
from fairberth.model.selectors import Labels

CONTEXTS: Mapping[str, tuple[str, str, int]] = {
    "alert": (keys.TRIGGERED_BY, "alert", -200),
    "retry": (keys.RETRY, "true", -50),
    "user-waiting": (keys.USER_WAITING, "true", -100),
}


@dataclass(frozen=True, slots=True)
class Classified:
    """A level and how it came about (all in hundredths but `level`)."""

    level: int
    raw: int  # unrounded, unclamped: orders pods within a level
    base: int
    base_from: str
    tier: int
    context: int
    clamped: bool


def round_half_urgent(raw: int) -> int:
    """Hundredths to a level; a half goes to the more urgent one: 250 → 2, 350 → 3, 251 → 3, −50 → −1."""
    return -((-raw + 50) // 100)


def classify(
    labels: Labels, priority_class: str, tenant: Tenant, policy: FairnessPolicy, slas: Mapping[int, PrioritySLA]
) -> Classified:
    """Classify a pod by its labels, the PriorityClass that its owner asked for, and its tenant."""
    base, base_from = _base(labels, priority_class, tenant, policy, slas)
    context = _context(labels, tenant, policy)
    raw = 100 * base + tenant.tier.value + context
    hinted = max(raw, 100 * hint) if (hint := _level_in(labels.get(keys.PRIORITY_HINT, ""))) is not None else raw
    wished = round_half_urgent(hinted)
    level = min(max(wished, tenant.most_urgent), LEVELS[-1])
    return Classified(level, hinted, 100 * base, base_from, tenant.tier.value, context, level != wished)


def _base(
    labels: Labels, priority_class: str, tenant: Tenant, policy: FairnessPolicy, slas: Mapping[int, PrioritySLA]
) -> tuple[int, str]:
    kind = labels.get(keys.TYPE)
    if kind is not None and kind in policy.types:
        return policy.types[kind], f"type {kind}"
    if priority_class:
        for level in sorted(slas):
            if slas[level].priority_class == priority_class:
                return level, f"PriorityClass {priority_class}"
    return tenant.default_level, "the tenant's default"


def _context(labels: Labels, tenant: Tenant, policy: FairnessPolicy) -> int:
    total = sum(
        boost
        for name, (key, value, boost) in CONTEXTS.items()
        if name in tenant.allowed_contexts and labels.get(key) == value
    )
    return max(total, -policy.max_context_boost)


def _level_in(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) in LEVELS else None


def base_priority(labels: Labels, level: int, scoring: Scoring) -> int:
    """§5.1: what the pod says (0 to 100; anything else counts as unsaid), else the level's."""
    said = labels.get(keys.BASE_PRIORITY, "")
    if said.isascii() and said.isdigit() and int(said) <= MOST_BASE_PRIORITY:
        return int(said)
    return scoring.base_priority[level]
