"""A clock for tests."""

import asyncio


class Clock:
    """A clock that the test moves; sleeping on it moves it too."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []
        self._sleeps = asyncio.Condition()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Moves the clock instead of waiting."""
        self.now += seconds
        async with self._sleeps:
            self.slept.append(seconds)
            self._sleeps.notify_all()
        await asyncio.sleep(0)

    async def until_slept(self, times: int) -> None:
        """Returns once it has been slept on that often."""
        async with self._sleeps:
            await self._sleeps.wait_for(lambda: len(self.slept) >= times)
