"""A model of GCRA in its simplest form, which is a token bucket, and a clock that the test controls."""

from fractions import Fraction
from math import ceil

from service.access.token_bucket import Rate, RateDecision


class Clock:
    """Seconds since some moment; exact as long as it advances by multiples of a power of two."""

    def __init__(self) -> None:
        self.now = 4096.0

    def __call__(self) -> float:
        return self.now


class Bucket:
    """A bucket of a rate: `full` is when the whole burst is available again."""

    def __init__(self, rate: Rate) -> None:
        self._interval = Fraction(rate.seconds, rate.requests)
        self._burst = rate.burst
        self._full = Fraction(0)

    def take(self, now: float) -> RateDecision:
        """Decide about a request, rounding only the returned seconds."""
        full = max(self._full, Fraction(now)) + self._interval
        remaining = self._burst - (full - Fraction(now)) / self._interval
        if remaining < 0:
            return RateDecision(allowed=False, remaining=0, seconds=max(1, ceil(-remaining * self._interval)))
        self._full = full
        until_more = (1 - remaining % 1) * self._interval
        return RateDecision(allowed=True, remaining=int(remaining), seconds=max(1, ceil(until_more)))
