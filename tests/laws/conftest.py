"""How many histories the laws are tried on: CI repeats the same ones each time, so that a red run can be repeated."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

HISTORIES = 10_000 if os.environ.get("CI") else 300

_slow = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
settings.register_profile("quick", max_examples=300, deadline=None, suppress_health_check=_slow)
settings.register_profile("ci", max_examples=2_500, deadline=None, derandomize=True, suppress_health_check=_slow)
settings.load_profile("ci" if os.environ.get("CI") else "quick")
