"""Rates kept by one process, in its memory."""

from datetime import timedelta
from functools import lru_cache
from typing import Final

from throttled import MemoryStore, Throttled, rate_limiter

from service.access.rate_decision import RateDecision, rate_decision, remaining
from service.access.request_rate import Rate

# How many keys are told apart, some 300 bytes each; beyond that the one that asked longest ago begins anew.
MOST_KEYS: Final = 100_000
# How many different rates: one that is used again finds its keys as they were.
_MOST_RATES: Final = 1024


class MemoryLimiter:
    """Lets through what a process may of each key: the rate, or its share of it where several processes answer."""

    def __init__(self, processes: int = 1) -> None:
        self._processes = processes
        self._store = MemoryStore(options={"MAX_SIZE": MOST_KEYS})
        self._of = lru_cache(_MOST_RATES)(self._made)

    def take(self, name: str, rate: Rate) -> RateDecision:
        """Decide about a request of a key."""
        return rate_decision(self._of(rate).limit(name), rate, share=self._processes)

    def peek(self, name: str, rate: Rate) -> RateDecision:
        """Return what is left for a key, as after a request that was let through."""
        return remaining(self._of(rate).peek(name), rate, share=self._processes)

    def _made(self, rate: Rate) -> Throttled:
        quota = rate_limiter.per_duration(
            timedelta(seconds=rate.seconds * self._processes),  # exact, where a part of the requests would be rounded
            rate.requests,
            max(1, rate.burst // self._processes),
        )
        return Throttled(using="gcra", quota=quota, store=self._store, key_prefix=bucket(rate))


def bucket(rate: Rate) -> str:
    """Return what stands before the name of a key where its requests are counted: a key whose rate changes is new."""
    return f"store-directory:{rate.requests}:{rate.seconds}:{rate.burst}"
