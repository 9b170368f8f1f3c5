"""Rates over HTTP: 429, and what a client is told of its rate.

The fields are those of draft-ietf-httpapi-ratelimit-headers-10.
"""

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from service.access.rate_decision import RateDecision
from service.access.request_rate import Rate
from service.model.errors import TooManyRequests
from service.model.operation import RATE_LIMIT, RATE_LIMIT_POLICY
from service.web.answer import header_lines
from service.web.policy import Policy
from service.web.telemetry.events import Event
from service.web.telemetry.observer import Exchange

if TYPE_CHECKING:
    from service.access.rate_limiter import RateLimiter


class RateLimits:
    """Judges requests of keys that have a rate."""

    def __init__(self, limiter: "RateLimiter", count: Callable[[Event], None], *, tells: bool) -> None:
        """Judge by a limiter; `tells` says whether answers tell what is left."""
        self._limiter = limiter
        self._count = count
        self._tells = tells

    def judge(self, exchange: Exchange, name: str, rate: Rate) -> Awaitable[None] | None:
        """Judge a request; there is something to wait for only where others are asked. Raises `TooManyRequests`."""
        taken = self._limiter.take(name, rate)
        if not isinstance(taken, RateDecision):
            return self._wait(exchange, rate, taken)
        self._heed(exchange, rate, taken)
        return None

    async def close(self) -> None:
        """Let go of what was asked."""
        await self._limiter.close()

    async def _wait(self, exchange: Exchange, rate: Rate, taken: Awaitable[RateDecision]) -> None:
        self._heed(exchange, rate, await taken)

    def _heed(self, exchange: Exchange, rate: Rate, taken: RateDecision) -> None:
        if self._tells:
            exchange.lines = _fields(rate, taken)
        if not taken.allowed:
            self._count(Event.RATE_REFUSED)
            raise TooManyRequests(taken.seconds)
        self._count(Event.RATE_ALLOWED)


def make_rate_limits(policy: Policy, count: Callable[[Event], None]) -> RateLimits | None:
    """Return what judges on some terms, and counts what it decides; None where no key may have a rate."""
    if not policy.rates:
        return None
    from service.access.memory_limiter import MemoryLimiter  # noqa: PLC0415 - as above
    from service.access.rate_limiter import RateLimiter  # noqa: PLC0415 - where no key has a rate, the start need not wait for it
    from service.access.redis_limiter import RedisLimiter  # noqa: PLC0415 - as above

    store = RedisLimiter(policy.rate_store) if policy.rate_store else None
    limiter = RateLimiter(MemoryLimiter(policy.processes), store, failed=partial(count, Event.RATE_STORE_FAILED))
    return RateLimits(limiter, count, tells=policy.rate_fields)


@lru_cache
def _fields(rate: Rate, taken: RateDecision) -> str:
    """Return the two fields, which are lists of structured fields (RFC 9651)."""
    return header_lines(
        {
            RATE_LIMIT_POLICY: f'"default";q={rate.requests};w={rate.seconds}',
            RATE_LIMIT: f'"default";r={taken.remaining};t={taken.seconds}',
        }
    )
