"""A timeout for a peer that does not count the time in which this process itself was busy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

# The timeout runs as this many timers, one after the other, each in its own iteration of the event loop. Connecting to
# Redis takes about six iterations.
_PARTS: Final = 10


@asynccontextmanager
async def redis_timeout(seconds: float) -> AsyncIterator[None]:
    """Wait for at least this long, and for some iterations of the event loop, which read what has arrived.

    Raises `TimeoutError`. With a plain timer an overloaded event loop would blame its own delay on the peer.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle
    async with asyncio.timeout(None) as limit:

        def part(left: int) -> None:
            nonlocal timer
            if left:
                timer = loop.call_later(seconds / _PARTS, part, left - 1)
            else:
                limit.reschedule(loop.time())

        timer = loop.call_later(seconds / _PARTS, part, _PARTS - 1)
        try:
            yield
        finally:
            timer.cancel()
