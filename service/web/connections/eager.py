"""Coroutines that are run at once, up to where they wait."""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


def run_eagerly(coroutine: Coroutine[Any, None, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None] | None:
    """Run a coroutine up to where it first waits; return the task that continues it, None if it has ended.

    Most requests are answered without waiting, and a task for each would be a tenth of their cost, even an eager one as
    Python 3.12 has. Until it waits, the coroutine has no current task, which `asyncio.timeout` needs.
    """
    try:
        pending = coroutine.send(None)
    except StopIteration:
        return None
    return loop.create_task(_rest(coroutine, pending))


async def _rest(coroutine: Coroutine[Any, None, None], pending: object) -> None:
    await _Started(coroutine, pending)


class _Started:
    """A coroutine that waits for something."""

    def __init__(self, coroutine: Coroutine[Any, None, None], pending: object) -> None:
        self._coroutine, self._pending = coroutine, pending

    def __await__(self) -> Generator[Any, Any, None]:
        """Wait for it, and continue."""
        pending = self._pending
        try:
            while True:
                try:
                    sent = yield pending
                except BaseException as error:  # noqa: BLE001 - the task's cancellation is the coroutine's
                    pending = self._coroutine.throw(error)
                else:
                    pending = self._coroutine.send(sent)
        except StopIteration:
            return
