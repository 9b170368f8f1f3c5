"""A process that uses a rate store, as one of several: `python -m tests.interop.rate_store_client URL REQUESTS`.

Prints how many requests were allowed.
"""

import asyncio
import sys

from service.access.rate_limiter import RedisLimiter
from service.access.token_bucket import Rate

RATE = Rate(1, 3600, 200)
CONCURRENT = 8


async def take(url: str, requests: int) -> int:
    """Return how many requests of one key are allowed."""
    store = RedisLimiter(url, timeout_seconds=30)
    allowed = 0
    for _ in range(requests // CONCURRENT):
        decisions = await asyncio.gather(*(store.take("a", RATE) for _ in range(CONCURRENT)))
        allowed += sum(each.allowed for each in decisions)
    await store.close()
    return allowed


if __name__ == "__main__":
    print(asyncio.run(take(sys.argv[1], int(sys.argv[2]))))  # noqa: T201 - its result
