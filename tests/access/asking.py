"""Asking a limiter whose store is some Redis."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from service.access.memory_limiter import Memory
from service.access.rate_decision import Taken
from service.access.rate_limiter import Limiter
from service.access.redis_limiter import Store


@asynccontextmanager
async def limited(store: Store, failures: list[None], *, pause: float, processes: int = 2) -> AsyncIterator[Limiter]:
    """Decide by a store until the test is over; each failure of it is one of `failures`."""
    limiter = Limiter(Memory(processes), store, failed=lambda: failures.append(None), pause_seconds=pause)
    try:
        yield limiter
    finally:
        await limiter.close()


async def decided(told: Taken | Awaitable[Taken]) -> Taken:
    """Return what was decided, once it is."""
    return told if isinstance(told, Taken) else await told
