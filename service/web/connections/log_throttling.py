"""Log throttling: events that clients can cause at will are logged at a bounded rate."""

from typing import Final

THROTTLE_SECONDS: Final = 60


class LogThrottle:
    """Admits one message per interval, and counts the suppressed ones."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = float("-inf")
        self._suppressed = 0

    def admit(self, now: float) -> int | None:
        """Return the number of messages suppressed since the last admitted one, or None if this one is suppressed."""
        if now < self._next:
            self._suppressed += 1
            return None
        self._next = now + self._seconds
        suppressed, self._suppressed = self._suppressed, 0
        return suppressed
