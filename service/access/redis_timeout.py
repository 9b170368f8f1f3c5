"""A time limit for what others do, of which time in which this process itself was busy is no part."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

# Of so many parts each ends in a turn of the event loop of its own. Connecting to Redis takes about six turns.
_PARTS: Final = 10


@asynccontextmanager
async def redis_timeout(seconds: float) -> AsyncIterator[None]:
    """Wait for so long, and at least for some turns of the event loop, in which an answer that came is read.

    Raises `TimeoutError`. A loop that is held up by a crowd would else take its own delay for that of others.
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
