"""Asking a limiter whose store is some Redis."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_decision import RateDecision
from service.access.rate_limiter import RateLimiter
from service.access.redis_limiter import RedisLimiter


@asynccontextmanager
async def limited(
    store: RedisLimiter, failures: list[None], *, pause: float, processes: int = 2
) -> AsyncIterator[RateLimiter]:
    """Decide by a store until the test is over; each failure of it is one of `failures`."""
    limiter = RateLimiter(MemoryLimiter(processes), store, failed=lambda: failures.append(None), pause_seconds=pause)
    try:
        yield limiter
    finally:
        await limiter.close()


async def decided(told: RateDecision | Awaitable[RateDecision]) -> RateDecision:
    """Return what was decided, once it is."""
    return told if isinstance(told, RateDecision) else await told
