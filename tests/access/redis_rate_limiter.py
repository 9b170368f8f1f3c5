"""A rate limiter with a Redis, real or fake, as its rate store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.access.rate_limiter import RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate, RateDecision


@asynccontextmanager
async def redis_rate_limiter(
    store: RedisLimiter, failures: list[None], *, probe: float, processes: int = 2
) -> AsyncIterator[RateLimiter]:
    """Yield a limiter with this store; each failure of the store adds one to `failures`."""
    limiter = RateLimiter(MemoryLimiter(processes), store, failed=lambda: failures.append(None), probe_seconds=probe)
    try:
        yield limiter
    finally:
        await limiter.close()


async def take_concurrently(
    limiter: RateLimiter, name: str, rate: Rate, times: int
) -> list[asyncio.Task[RateDecision]]:
    """Take concurrently, this many times; decisions that need no store are made before this returns."""
    tasks = [asyncio.create_task(limiter.take(name, rate)) for _ in range(times)]
    await asyncio.sleep(0)
    return tasks
