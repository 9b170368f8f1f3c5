"""Helpers for a limiter whose rate store is a Redis, real or fake."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_limiter import RateLimiter
from service.access.redis_limiter import RedisLimiter
from service.access.token_bucket import RateDecision


@asynccontextmanager
async def limited(
    store: RedisLimiter, failures: list[None], *, probe: float, processes: int = 2
) -> AsyncIterator[RateLimiter]:
    """Yield a limiter with this store; each failure of the store adds one to `failures`."""
    limiter = RateLimiter(MemoryLimiter(processes), store, failed=lambda: failures.append(None), probe_seconds=probe)
    try:
        yield limiter
    finally:
        await limiter.close()


async def decided(decision: RateDecision | Awaitable[RateDecision]) -> RateDecision:
    """Return a decision, awaited if need be."""
    return decision if isinstance(decision, RateDecision) else await decision
