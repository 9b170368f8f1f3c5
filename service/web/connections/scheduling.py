"""Scheduling on the event loop: turns of connections."""

from collections import deque
from collections.abc import Callable


class Turns:
    """The turns of connections of a listener that wait for them, first come, first served.

    In each pass of the event loop one of them has its turn, and one more for each request of an authenticated client:
    of two requests one may be theirs.

    authenticated  requests of authenticated clients in this pass
    """

    def __init__(self, call_soon: Callable[[Callable[[], None]], object]) -> None:
        """Let connections have their turns in calls that the event loop makes soon."""
        self._call_soon = call_soon
        self._waiting: deque[Callable[[], object]] = deque()
        self._scheduled = self._postponed = False
        self.authenticated = 0

    def add(self, take_turn: Callable[[], object]) -> None:
        """Let a connection have a turn, in which it sends the next part of a response, or answers one request."""
        self._waiting.append(take_turn)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._call_soon(self._pass)

    def _pass(self) -> None:
        self._scheduled = False
        # The requests of authenticated clients in this pass come first, but not those of the next pass.
        self._postponed = self.authenticated > 0 and not self._postponed
        try:
            if not self._postponed:
                turns, self.authenticated = 1 + self.authenticated, 0
                for _ in range(min(turns, len(self._waiting))):
                    self._waiting.popleft()()
        finally:
            if self._waiting:
                self._schedule()
