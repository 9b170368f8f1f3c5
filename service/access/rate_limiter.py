"""Whether a key may ask once more: by the store of rates where there is one, else by this process alone."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_bound import RateBound
from service.access.rate_decision import RateDecision
from service.access.redis_limiter import MOST_AT_ONCE, RedisFailed, RedisLimiter
from service.access.request_rate import Rate

# After a failure one request in so many seconds tries the store; the others do not wait for it.
PAUSE_SECONDS: Final = 1.0
# How long a request waits for its turn to ask, before it begins: a store that is busy has not failed.
LONGEST_WAIT_SECONDS: Final = 0.5
_log = logging.getLogger(__name__)


def _nothing() -> None:
    """Do nothing."""


class RateLimiter:
    """Decides about requests. Where the store does not, this process does, and lets its share through."""

    def __init__(
        self,
        memory: MemoryLimiter,
        store: RedisLimiter | None = None,
        *,
        failed: Callable[[], None] = _nothing,
        pause_seconds: float = PAUSE_SECONDS,
        wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        """Decide by the memory of this process, which holds its share, or by a store.

        `failed` is called for each request about which the store did not decide.
        """
        self._memory, self._store = memory, store
        self._failed = failed
        self._pause_seconds, self._wait_seconds = pause_seconds, wait_seconds
        self._bound = RateBound()
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._again: float | None = None  # when the store is tried again; None where it works

    def take(self, name: str, rate: Rate) -> RateDecision | Awaitable[RateDecision]:
        """Decide about a request of a key; there is something to wait for only where a store is asked."""
        if self._store is None:
            return self._memory.take(name, rate)
        if self._again is not None and monotonic() < self._again:
            return self._alone(name, rate)
        if refusal := self._bound.refusal(name, rate):
            return refusal
        tries = self._again is not None
        if tries:
            self._again = monotonic() + self._pause_seconds
        return self._in_turn(self._store, name, rate, tries=tries)

    async def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            await self._store.close()

    def _alone(self, name: str, rate: Rate) -> RateDecision:
        self._failed()
        return self._memory.take(name, rate)

    async def _in_turn(self, store: RedisLimiter, name: str, rate: Rate, *, tries: bool) -> RateDecision:
        with self._bound.asking(name, rate):
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await self._turns.acquire()
            except TimeoutError:
                return self._alone(name, rate)
            try:
                return await self._asked(store, name, rate, tries=tries)
            finally:
                self._turns.release()

    async def _asked(self, store: RedisLimiter, name: str, rate: Rate, *, tries: bool) -> RateDecision:
        if self._again is not None and not tries:  # it failed while this one waited
            return self._alone(name, rate)
        try:
            taken = await store.take(name, rate)
        except RedisFailed as failure:
            if self._again is None:
                _log.warning("the store of rates fails (%s): each process keeps its share of a rate", failure)
            self._again = monotonic() + self._pause_seconds
            return self._alone(name, rate)
        if tries:  # and did not begin before the failure, as others may have that end well
            self._again = None
            _log.info("the store of rates decides again")
        self._bound.heed(name, rate, taken)
        return taken
