"""Work in a thread runs to its end."""

import asyncio
import threading

import pytest

from service.publishing.source import run_to_end
from tests.program import SECONDS


async def test_results_and_exceptions_of_the_work_are_passed_on() -> None:
    assert await run_to_end(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await run_to_end(divmod, 7, 0)


async def test_a_cancelled_task_waits_for_the_end_of_the_work() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(SECONDS)
        done.set()

    waiting = asyncio.create_task(run_to_end(work))
    await asyncio.to_thread(begun.wait, SECONDS)
    waiting.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done.is_set()
