"""Asking a limiter whose store is some Redis."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from service.rates.limiter import Limiter
from service.rates.memory import Memory
from service.rates.store import Store
from service.rates.taken import Taken


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
