"""How long others are waited for."""

import asyncio
from time import monotonic, sleep

import pytest

from service.access.redis_timeout import redis_timeout

SECONDS = 0.05


async def test_who_says_nothing_is_waited_for_so_long() -> None:
    begins = monotonic()
    with pytest.raises(TimeoutError):
        async with redis_timeout(SECONDS):
            await asyncio.Event().wait()
    assert monotonic() - begins >= SECONDS


async def test_an_answer_that_came_while_the_loop_was_held_up_is_heard() -> None:
    asyncio.get_running_loop().call_soon(sleep, 3 * SECONDS)
    async with redis_timeout(SECONDS):
        for _ in range(6):
            await asyncio.sleep(0)


async def test_what_ends_in_time_leaves_no_timer_behind() -> None:
    async with redis_timeout(SECONDS):
        pass
    await asyncio.sleep(2 * SECONDS)
