"""What is logged now and then, however often it happens."""

from typing import Final

# What clients cause is told of once in so long, however much they cause: the log may have a slow reader.
QUIET_SECONDS: Final = 60


class Seldom:
    """Decides what is told: the first of what happens within so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._again = float("-inf")
        self._untold = 0

    def untold(self, now: float) -> int | None:
        """Return how much went untold since the last time, or None where what happens at `now` does, too."""
        if now < self._again:
            self._untold += 1
            return None
        self._again = now + self._seconds
        untold, self._untold = self._untold, 0
        return untold
