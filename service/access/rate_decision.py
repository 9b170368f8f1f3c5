"""What was decided about one request."""

from math import ceil
from typing import TYPE_CHECKING

import msgspec

from service.access.request_rate import Rate

if TYPE_CHECKING:
    from throttled.rate_limiter import RateLimitResult, RateLimitState


class RateDecision(msgspec.Struct, frozen=True):
    """Whether a request is let through.

    remaining  how many more would be at once
    seconds    after which it is one more, in whole seconds and at least 1
    """

    allowed: bool
    remaining: int
    seconds: int


def rate_decision(result: "RateLimitResult", rate: Rate, *, share: int = 1) -> RateDecision:
    """Return what the library decided, of a rate of which one of `share` processes has its part."""
    state = result.state
    if result.limited:
        return RateDecision(allowed=False, remaining=0, seconds=max(1, ceil(state.retry_after)))
    return remaining(state, rate, share=share)


def remaining(state: "RateLimitState", rate: Rate, *, share: int = 1) -> RateDecision:
    """Return what is left, as after a request that was let through. The library's own seconds of a look are wrong."""
    interval = rate.seconds * share / rate.requests
    # The bucket is full when as many intervals are over as requests are missing, of which the first is under way.
    missing = state.limit - state.remaining
    return RateDecision(
        allowed=True,
        remaining=state.remaining,
        seconds=max(1, ceil(state.reset_after - (missing - 1) * interval)),
    )
