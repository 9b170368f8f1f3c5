"""Rate limiting in the memory of one process."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from service.access.request_rate import Rate
from service.access.token_bucket import TOLERANCE, RateDecision, burst, decision

# Buckets in memory, of some 300 bytes each; beyond that the least recently used key starts with a full bucket.
MAX_KEYS: Final = 100_000


class MemoryLimiter:
    """Limits each key to its rate, or to this process's share of it if several processes serve.

    A key whose rate changes starts with a full bucket.
    """

    def __init__(self, processes: int = 1, *, clock: Callable[[], float] = monotonic) -> None:
        self._processes, self._clock = processes, clock
        self._buckets: dict[tuple[str, Rate], tuple[float, float]] = {}  # requests taken, and when

    def take(self, name: str, rate: Rate) -> RateDecision:
        """Take one request from the bucket of a key, if it has one left."""
        now, key = self._clock(), (name, rate)
        taken = self._taken(key, now)
        allowed = taken + 1 <= burst(rate, self._processes) + TOLERANCE
        taken += allowed
        self._buckets.pop(key, None)  # so that the last one used is the last
        self._buckets[key] = taken, now
        if len(self._buckets) > MAX_KEYS:
            del self._buckets[next(iter(self._buckets))]
        return decision(rate, taken, allowed=allowed, share=self._processes)

    def peek(self, name: str, rate: Rate) -> RateDecision:
        """Return what remains in the bucket of a key, as after an allowed request."""
        taken = self._taken((name, rate), self._clock())
        return decision(rate, taken, allowed=True, share=self._processes)

    def _taken(self, key: tuple[str, Rate], now: float) -> float:
        """Return how many requests of the burst of a key are missing."""
        (_, rate), (taken, at) = key, self._buckets.get(key, (0.0, now))
        return max(0.0, taken - (now - at) * rate.requests / (rate.seconds * self._processes))
