"""How long a client is waited for."""

from fcntl import ioctl
from struct import unpack
from termios import TIOCOUTQ
from typing import Any, TypeAlias

from service.web.event import Event
from service.web.limits import Limits

# What a client is waited for, as the event if it takes too long, and how far it got: as long as both stay the same,
# its time runs.
Awaited: TypeAlias = tuple[Event | None, int]


class Patience:
    """Knows since when the same is awaited."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self.awaited: Awaited = (Event.HEAD_TIMEOUT, 0)
        self._since = now

    def exceeded(self, now: float, awaited: Awaited) -> Event | None:
        """Return what has been awaited beyond its limit, if anything is."""
        if awaited != self.awaited:
            self.awaited, self._since = awaited, now
            return None
        event, waited = awaited[0], now - self._since
        return None if event is None or waited < self._allowed(event) else event

    def _allowed(self, event: Event) -> float:
        limits = self._limits
        if event is Event.HEAD_TIMEOUT:
            return limits.head_seconds
        return limits.idle_seconds if event is Event.IDLE_TIMEOUT else limits.write_seconds


def unread(transport: Any) -> int:
    """Return how much the system holds that the client has not taken: a slow client gets on even where we do not."""
    file = transport.get_extra_info("socket").fileno()
    told: int = unpack("i", ioctl(file, TIOCOUTQ, bytes(4)))[0] if file >= 0 else 0
    return told
