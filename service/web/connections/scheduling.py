"""Scheduling on the event loop: turns of connections; coroutines run eagerly, with a task only if they wait."""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Protocol


class Waiting(Protocol):
    """A connection with buffered bytes."""

    def take_turn(self) -> None:
        """Process at most one buffered request."""


class Turns:
    """The connections of a listener that wait for their turn, first come, first served.

    In each pass of the event loop one of them has its turn, and one more for each request of an authenticated client:
    of two requests one may be theirs.

    authenticated  requests of authenticated clients in this pass
    """

    def __init__(self, call_soon: Callable[[Callable[[], None]], object]) -> None:
        """Let connections have their turns in calls that the event loop makes soon."""
        self._call_soon = call_soon
        self._waiting: deque[Waiting] = deque()
        self._scheduled = self._postponed = False
        self.authenticated = 0

    def add(self, connection: Waiting) -> None:
        """Let a connection have a turn."""
        self._waiting.append(connection)
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
                    self._waiting.popleft().take_turn()
        finally:
            if self._waiting:
                self._schedule()


EagerCoroutine = Coroutine[Any, None, None]


async def resume(coroutine: EagerCoroutine, pending: object) -> None:
    """Continue an eager coroutine, which waits for `pending`, in a task.

    Python 3.12 has eager tasks for this. Until it waits, the coroutine has no current task, which `asyncio.timeout`
    needs: code that uses one waits before.
    """
    continuation = _Continuation(coroutine, pending)
    del pending  # as in `_taken`
    await continuation


class _Continuation:
    def __init__(self, coroutine: EagerCoroutine, pending: object) -> None:
        self._coroutine, self._pending = coroutine, pending

    def __await__(self) -> Generator[Any, Any, None]:
        try:
            while True:
                try:
                    sent = yield self._taken()
                except BaseException as error:  # noqa: BLE001 - the task's cancellation is the coroutine's
                    self._pending = self._coroutine.throw(error)
                else:
                    self._pending = self._coroutine.send(sent)
        except StopIteration:
            return

    def _taken(self) -> object:
        """Return what the task waits for; without the reference, an error in it and the task are no cycle."""
        pending, self._pending = self._pending, None
        return pending
