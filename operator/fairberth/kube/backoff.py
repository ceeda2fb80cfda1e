"""How long to wait before trying again: doubling, capped, with jitter."""

from __future__ import annotations

import random
from collections.abc import Callable


class Backoff:
    """The n-th failure in a row waits between half and all of `base · 2ⁿ⁻¹` seconds, at most `cap`."""

    def __init__(self, base: float, cap: float, draw: Callable[[], float] = random.random) -> None:
        """`base` and `cap` in seconds; `draw` gives numbers in [0, 1)."""
        self._base = base
        self._cap = cap
        self._draw = draw
        self.failures = 0  # in a row

    def failed(self, at_least: float = 0.0) -> float:
        """Counts a failure and says how many seconds to wait, `at_least` what the server asked for."""
        ceiling = min(self._cap, self._base * 2.0 ** min(self.failures, 32))
        self.failures += 1
        return max(at_least, ceiling * (0.5 + 0.5 * self._draw()))

    def succeeded(self) -> None:
        """The next failure is the first again."""
        self.failures = 0
