"""§5.3: how many admissions a tenant and its teams have in one round, and how many of them may be forced.

Windows only interleave: rounds repeat within a turn until one admits nothing, so they cost no throughput, and being
weighted they cost no fairness.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairberth.model.objects import FairnessPolicy


class Windows:
    """One round's windows for the tenants that have candidates (name → weight)."""

    def __init__(self, policy: FairnessPolicy, weights: Mapping[str, int]) -> None:
        self._policy = policy
        self._weights = weights
        self._least = min(weights.values(), default=1)
        self._tenants: dict[str, int] = {}
        self._teams: dict[tuple[str, str], int] = {}
        self._forced: dict[str, int] = {}

    def allowance(self, tenant: str) -> int | None:
        """Admissions per round: window · weight ÷ the smallest weight, floored, at least 1. None is unlimited."""
        window = self._policy.per_tenant_window
        return None if window is None else max(1, window * self._weights[tenant] // self._least)

    def open(self, tenant: str, team: str) -> bool:
        """Whether the tenant, and the team if there is one, have an admission left."""
        allowed = self.allowance(tenant)
        if allowed is not None and self._tenants.get(tenant, 0) >= allowed:
            return False
        per_team = self._policy.per_team_window
        return not team or per_team is None or self._teams.get((tenant, team), 0) < per_team

    def may_force(self, tenant: str) -> bool:
        """Whether a starving pod of the tenant may still go first in this round."""
        return self._forced.get(tenant, 0) < self._policy.max_forced

    def count(self, tenant: str, team: str, *, forced: bool) -> None:
        """One admission happened."""
        self._tenants[tenant] = self._tenants.get(tenant, 0) + 1
        if team:
            self._teams[tenant, team] = self._teams.get((tenant, team), 0) + 1
        if forced:
            self._forced[tenant] = self._forced.get(tenant, 0) + 1

    @property
    def admitted(self) -> Mapping[str, int]:
        """Admissions of this round by tenant."""
        return self._tenants

    def deviation(self) -> float:
        """The largest difference between a tenant's admissions and its weight's part of the round's admissions."""
        total, weights = sum(self._tenants.values()), sum(self._weights.values())
        if not total or not weights:
            return 0.0
        return max(abs(self._tenants.get(name, 0) * weights - total * w) for name, w in self._weights.items()) / weights
