"""Request rate limits over HTTP: 429, and the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-10."""

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_limiter import RateLimiter
from service.access.redis_limiter import RedisLimiter
from service.access.request_rate import Rate
from service.access.token_bucket import RateDecision
from service.model.errors import TooManyRequests
from service.model.operation import RATE_LIMIT, RATE_LIMIT_POLICY
from service.web.answer import header_lines
from service.web.policy import Policy
from service.web.telemetry.events import Event
from service.web.telemetry.observer import Exchange


class RateLimits:
    """Checks requests of keys that have a rate limit."""

    def __init__(self, limiter: RateLimiter, count: Callable[[Event], None], *, send_fields: bool) -> None:
        """Check by a limiter; `send_fields` adds the RateLimit fields to responses."""
        self._limiter = limiter
        self._count = count
        self._send_fields = send_fields

    def check(self, exchange: Exchange, name: str, rate: Rate) -> Awaitable[None] | None:
        """Check a request; return an awaitable if the decision needs I/O. Either raises `TooManyRequests`."""
        decision = self._limiter.take(name, rate)
        if not isinstance(decision, RateDecision):
            return self._apply_later(exchange, rate, decision)
        self._apply(exchange, rate, decision)
        return None

    async def close(self) -> None:
        """Close the limiter's connections."""
        await self._limiter.close()

    async def _apply_later(self, exchange: Exchange, rate: Rate, decision: Awaitable[RateDecision]) -> None:
        self._apply(exchange, rate, await decision)

    def _apply(self, exchange: Exchange, rate: Rate, decision: RateDecision) -> None:
        if self._send_fields:
            exchange.rate_lines = _fields(rate, decision)
        if not decision.allowed:
            self._count(Event.RATE_REFUSED)
            raise TooManyRequests(decision.seconds)
        self._count(Event.RATE_ALLOWED)


def make_rate_limits(policy: Policy, count: Callable[[Event], None]) -> RateLimits:
    """Return the rate limits of a policy, which count their decisions."""
    store = RedisLimiter(policy.rate_store) if policy.rate_store else None
    limiter = RateLimiter(MemoryLimiter(policy.processes), store, failed=partial(count, Event.RATE_STORE_FAILED))
    return RateLimits(limiter, count, send_fields=policy.rate_fields)


@lru_cache
def _fields(rate: Rate, decision: RateDecision) -> str:
    """Return the lines of the two fields, which are structured fields (RFC 9651)."""
    return header_lines(
        {
            RATE_LIMIT_POLICY: f'"default";q={rate.requests};w={rate.seconds}',
            RATE_LIMIT: f'"default";r={decision.remaining};t={decision.seconds}',
        }
    )
