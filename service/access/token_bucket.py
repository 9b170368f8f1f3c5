"""Token buckets: a key has a burst of requests, and those taken come back evenly over time."""

from math import ceil
from typing import Final

import msgspec

from service.access.request_rate import Rate

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
