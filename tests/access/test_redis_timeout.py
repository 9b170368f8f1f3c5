"""The timeout of Redis, which excludes the delay of this process."""

import asyncio
from time import monotonic, sleep

import pytest

from service.access.rate_limiter import redis_timeout

SECONDS = 0.05


async def test_a_silent_peer_times_out_after_the_given_time() -> None:
    start = monotonic()
    with pytest.raises(TimeoutError):
        async with redis_timeout(SECONDS):
            await asyncio.Event().wait()
    assert monotonic() - start >= SECONDS


async def test_a_response_that_arrived_while_the_event_loop_was_blocked_counts_and_no_timer_is_left() -> None:
    asyncio.get_running_loop().call_soon(sleep, 3 * SECONDS)
    async with redis_timeout(SECONDS):
        for _ in range(6):
            await asyncio.sleep(0)
    await asyncio.sleep(2 * SECONDS)
