"""A coroutine that has begun without a task, and waits."""

from collections.abc import Coroutine, Generator
from typing import Any

Started = Coroutine[Any, None, None]


async def resume(coroutine: Started, pending: object) -> None:
    """Continue a coroutine, which waits for `pending`, in a task.

    Python 3.12 has eager tasks for this. Until it waits, the coroutine has no current task, which `asyncio.timeout`
    needs: code that uses one waits before.
    """
    rest = _Rest(coroutine, pending)
    del pending  # as in `_taken`
    await rest


class _Rest:
    def __init__(self, coroutine: Started, pending: object) -> None:
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
        """Return what the task waits for, and forget it: an error in it, whose traceback has the task, is a cycle."""
        pending, self._pending = self._pending, None
        return pending
