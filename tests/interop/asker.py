"""Uses a rate store as one process of several: `python -m tests.interop.asker URL REQUESTS`.

Prints how many requests passed.
"""

import asyncio
import sys

from service.access.redis_limiter import RedisLimiter
from service.access.request_rate import Rate

RATE = Rate(1, 3600, 200)
AT_ONCE = 8


async def ask(url: str, requests: int) -> int:
    """Return how many requests of one key pass."""
    store = RedisLimiter(url, timeout_seconds=30)
    passed = 0
    for _ in range(requests // AT_ONCE):
        decisions = await asyncio.gather(*(store.take("a", RATE) for _ in range(AT_ONCE)))
        passed += sum(each.allowed for each in decisions)
    await store.close()
    return passed


if __name__ == "__main__":
    print(asyncio.run(ask(sys.argv[1], int(sys.argv[2]))))  # noqa: T201 - that is what it is for
