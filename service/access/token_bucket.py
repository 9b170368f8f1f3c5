"""Token buckets: a key has a burst of requests, and those taken come back evenly over time."""

import re
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import Final

import msgspec

_PERIODS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
MAX_REQUESTS: Final = 999_999_999
_FORM: Final = re.compile(rf"(?P<requests>[1-9][0-9]{{0,8}})/(?P<period>{'|'.join(_PERIODS)})")


class Rate(msgspec.Struct, frozen=True, gc=False):
    """A number of requests per period of seconds, spread evenly, with up to `burst` of them at once."""

    requests: int
    seconds: int
    burst: int


def parse_rate(text: str, burst: int | None = None) -> Rate:
    """Return the rate of a text such as `100/s`; the default burst is the requests of one period.

    Raises `ValueError` with the reason.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rate: write it as 100/s, with one of {', '.join(_PERIODS)}")
    requests = int(match["requests"])
    if burst is not None and not 1 <= burst <= MAX_REQUESTS:
        raise ValueError(f"a burst of {burst} is out of range: it must be 1 to {MAX_REQUESTS}")
    return Rate(requests, _PERIODS[match["period"]], requests if burst is None else burst)


# Times are rounded: this part of a request, or of a second, is not waited for.
TOLERANCE: Final = 1e-6


class RateDecision(msgspec.Struct, frozen=True):
    """Whether a request is allowed.

    remaining  number of further requests that would be allowed at once
    seconds    until one more is allowed, rounded up, at least 1
    """

    allowed: bool
    remaining: int
    seconds: int


def burst(rate: Rate, share: int) -> int:
    """Return the burst of one of `share` processes that divide a rate among them, at least 1."""
    return max(1, rate.burst // share)


def decision(rate: Rate, taken: float, *, allowed: bool, share: int = 1) -> RateDecision:
    """Return the decision about a request after which `taken` requests of the burst are missing, fractions included.

    For one of `share` processes that divide the rate among them.
    """
    left = burst(rate, share) - taken
    remaining = int(left + TOLERANCE)
    seconds = (remaining + 1 - left) * rate.seconds * share / rate.requests
    return RateDecision(allowed=allowed, remaining=remaining, seconds=max(1, ceil(seconds - TOLERANCE)))


# Buckets in memory, of some 300 bytes each; beyond that the least recently used one starts full again.
MAX_BUCKETS: Final = 100_000


class MemoryLimiter:
    """Limits each name, of a key or a client, to its rate, or to this process's share of it if several processes serve.

    One whose rate changes starts with a full bucket.
    """

    def __init__(self, processes: int = 1, *, clock: Callable[[], float] = monotonic) -> None:
        self._processes, self._clock = processes, clock
        self._buckets: dict[tuple[str, Rate], tuple[float, float]] = {}  # requests taken, and when

    def take(self, name: str, rate: Rate) -> RateDecision:
        """Take one request from the bucket of a name, if it has one left."""
        now, key = self._clock(), (name, rate)
        taken, at = self._buckets.pop(key, (0.0, now))  # so that the last one used is the last
        taken = max(0.0, taken - (now - at) * rate.requests / (rate.seconds * self._processes))
        allowed = taken + 1 <= burst(rate, self._processes) + TOLERANCE
        taken += allowed
        self._buckets[key] = taken, now
        if len(self._buckets) > MAX_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
        return decision(rate, taken, allowed=allowed, share=self._processes)

    def give_back(self, name: str, rate: Rate) -> None:
        """Give back a request that was taken, because another limit refuses it."""
        taken, at = self._buckets.get((name, rate), (0.0, 0.0))
        if taken:
            self._buckets[name, rate] = max(0.0, taken - 1), at
