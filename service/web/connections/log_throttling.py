"""Log throttling: what clients can cause is logged once in a while, however often they cause it."""

from typing import Final

# The log may have a slow reader.
THROTTLE_SECONDS: Final = 60


class LogThrottle:
    """Lets one message through in so many seconds and counts those that it suppresses."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = float("-inf")
        self._suppressed = 0

    def admit(self, now: float) -> int | None:
        """Return how many messages were suppressed since the last one, or None if this one is suppressed, too."""
        if now < self._next:
            self._suppressed += 1
            return None
        self._next = now + self._seconds
        suppressed, self._suppressed = self._suppressed, 0
        return suppressed
