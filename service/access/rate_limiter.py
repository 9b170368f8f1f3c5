"""Rate limiting by a shared rate store, if there is one and it responds, else by this process alone."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import msgspec

from service.access.memory_limiter import MemoryLimiter
from service.access.redis_limiter import MAX_CONCURRENT, RedisFailed, RedisLimiter
from service.access.request_rate import Rate
from service.access.token_bucket import RateDecision

# After a failure one request per this interval probes the store; the others do not wait for it.
PROBE_SECONDS: Final = 1.0
# How long a request waits for a free connection to the store. A busy store has not failed.
QUEUE_SECONDS: Final = 0.5
_log = logging.getLogger(__name__)


class RateLimiter:
    """Limits request rates. While the store fails, this process enforces its share of each rate."""

    def __init__(
        self,
        memory: MemoryLimiter,
        store: RedisLimiter | None = None,
        *,
        failed: Callable[[], None] = lambda: None,
        probe_seconds: float = PROBE_SECONDS,
        queue_seconds: float = QUEUE_SECONDS,
    ) -> None:
        """Limit by a store, and by the memory of this process, which holds its share, without one.

        `failed` is called for each request that the store did not decide.
        """
        self._memory, self._store = memory, store
        self._failed = failed
        self._probe_seconds, self._queue_seconds = probe_seconds, queue_seconds
        self._bound = LocalBound()
        self._connections = asyncio.Semaphore(MAX_CONCURRENT)
        self._probe_at: float | None = None  # when the store is probed next; None while it works

    async def take(self, name: str, rate: Rate) -> RateDecision:
        """Decide about a request of a key; wait only if the rate store must decide."""
        if self._store is None:
            return self._memory.take(name, rate)
        if self._probe_at is not None and monotonic() < self._probe_at:
            return self._decide_locally(name, rate)
        if refusal := self._bound.refusal(name, rate):
            return refusal
        probes = self._probe_at is not None
        if probes:
            self._probe_at = monotonic() + self._probe_seconds
        return await self._queue(self._store, name, rate, probes=probes)

    async def close(self) -> None:
        """Close the connections to the store."""
        if self._store is not None:
            await self._store.close()

    def _decide_locally(self, name: str, rate: Rate) -> RateDecision:
        self._failed()
        return self._memory.take(name, rate)

    async def _queue(self, store: RedisLimiter, name: str, rate: Rate, *, probes: bool) -> RateDecision:
        with self._bound.pending(name, rate):
            await asyncio.sleep(0)  # a request that has not waited before has no task, which a timeout needs
            try:
                async with asyncio.timeout(self._queue_seconds):
                    await self._connections.acquire()
            except TimeoutError:
                return self._decide_locally(name, rate)
            try:
                return await self._ask(store, name, rate, probes=probes)
            finally:
                self._connections.release()

    async def _ask(self, store: RedisLimiter, name: str, rate: Rate, *, probes: bool) -> RateDecision:
        if self._probe_at is not None and not probes:  # the store failed while this request was queued
            return self._decide_locally(name, rate)
        try:
            decision = await store.take(name, rate)
        except RedisFailed as failure:
            if self._probe_at is None:
                _log.warning("the rate store failed (%s): each process enforces its share of each rate", failure)
            self._probe_at = monotonic() + self._probe_seconds
            return self._decide_locally(name, rate)
        if probes:  # a success of a request sent before the failure proves nothing
            self._probe_at = None
            _log.info("the rate store responds again")
        self._bound.record(name, rate, decision)
        return decision


class LocalBound:
    """Refuses requests that the rate store would refuse as well, without a round trip.

    For each key it knows what the store allowed this process and what is pending; other processes may have had more.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._allowed = MemoryLimiter(clock=clock)
        self._pending: Counter[tuple[str, Rate]] = Counter()

    def refusal(self, name: str, rate: Rate) -> RateDecision | None:
        """Return the refusal of a request that the store would refuse, else None."""
        left = self._allowed.peek(name, rate)
        if left.remaining > self._pending[name, rate]:
            return None
        return msgspec.structs.replace(left, allowed=False, remaining=0)

    @contextmanager
    def pending(self, name: str, rate: Rate) -> Iterator[None]:
        """Count a request as one that may be allowed, until the store has decided."""
        self._pending[name, rate] += 1
        try:
            yield
        finally:
            self._pending[name, rate] -= 1
            if not self._pending[name, rate]:
                del self._pending[name, rate]

    def record(self, name: str, rate: Rate, decision: RateDecision) -> None:
        """Count a decision of the store. A refused request costs nothing there either."""
        if decision.allowed:
            self._allowed.take(name, rate)
