"""Rate limiting in the memory of one process."""

from datetime import timedelta
from functools import lru_cache
from typing import Final

from throttled import MemoryStore, Throttled, rate_limiter

from service.access.rate_decision import RateDecision, rate_decision, remaining
from service.access.request_rate import Rate

# Buckets in memory, of some 300 bytes each; beyond that the least recently used key starts with a full bucket.
MAX_KEYS: Final = 100_000
# Different rates with a limiter in memory. Buckets outlive their limiter.
_MAX_RATES: Final = 1024


class MemoryLimiter:
    """Limits each key to its rate, or to this process's share of it if several processes serve."""

    def __init__(self, processes: int = 1) -> None:
        self._processes = processes
        self._store = MemoryStore(options={"MAX_SIZE": MAX_KEYS})
        self._limiter = lru_cache(_MAX_RATES)(self._make_limiter)

    def take(self, name: str, rate: Rate) -> RateDecision:
        """Take one request from the bucket of a key, if it has one left."""
        return rate_decision(self._limiter(rate).limit(name), rate, share=self._processes)

    def peek(self, name: str, rate: Rate) -> RateDecision:
        """Return what remains in the bucket of a key, as after an allowed request."""
        return remaining(self._limiter(rate).peek(name), rate, share=self._processes)

    def _make_limiter(self, rate: Rate) -> Throttled:
        quota = rate_limiter.per_duration(
            timedelta(seconds=rate.seconds * self._processes),  # exact; a share of the requests would be rounded
            rate.requests,
            max(1, rate.burst // self._processes),
        )
        return Throttled(using="gcra", quota=quota, store=self._store, key_prefix=bucket_prefix(rate))


def bucket_prefix(rate: Rate) -> str:
    """Return the prefix of the buckets of a rate: a key whose rate changes starts with a full bucket."""
    return f"store-directory:{rate.requests}:{rate.seconds}:{rate.burst}"
