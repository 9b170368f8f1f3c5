"""The decision of a rate limiter about one request."""

from math import ceil
from typing import TYPE_CHECKING

import msgspec

from service.access.request_rate import Rate

if TYPE_CHECKING:
    from throttled.rate_limiter import RateLimitResult, RateLimitState


class RateDecision(msgspec.Struct, frozen=True):
    """Whether a request is allowed.

    remaining  number of further requests that would be allowed at once
    seconds    until one more is allowed, rounded up, at least 1
    """

    allowed: bool
    remaining: int
    seconds: int


def rate_decision(result: "RateLimitResult", rate: Rate, *, share: int = 1) -> RateDecision:
    """Return the decision of the library, for one of `share` processes that divide a rate among them."""
    state = result.state
    if result.limited:
        return RateDecision(allowed=False, remaining=0, seconds=max(1, ceil(state.retry_after)))
    return remaining(state, rate, share=share)


def remaining(state: "RateLimitState", rate: Rate, *, share: int = 1) -> RateDecision:
    """Return what remains, as after an allowed request. The library's own `retry_after` of a peek is wrong."""
    interval = rate.seconds * share / rate.requests
    # The bucket is full after as many intervals as requests are missing, the first of which has begun.
    missing = state.limit - state.remaining
    return RateDecision(
        allowed=True,
        remaining=state.remaining,
        seconds=max(1, ceil(state.reset_after - (missing - 1) * interval)),
    )
