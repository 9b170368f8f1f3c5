"""Authentication by the key in `x-api-key`."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from time import time
from typing import TYPE_CHECKING, Final

from service.access.api_key import Principal
from service.access.keyring import Keyring
from service.access.rate_limiter import RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate, RateDecision
from service.model.errors import TooManyRequests, Unauthorized
from service.model.operation import KEY_HEADER, RATE_LIMIT, RATE_LIMIT_POLICY
from service.settings import Settings
from service.web.http.header_fields import HeaderLines, header_lines
from service.web.pipeline.counters import Event

if TYPE_CHECKING:
    from service.web.http.request import RequestFields

# Returns the principal of a request, or raises `Unauthorized`.
Authenticate = Callable[["RequestFields"], Principal]

_ANYONE: Final = Principal("anonymous")


def api_key_authentication(ring: Keyring, clock: Callable[[], float] = time) -> Authenticate:
    """Return the authentication by the keys of a ring, found by their SHA-256: timing reveals nothing about a key.

    `clock` returns the seconds since the epoch.
    """

    def authenticate(fields: "RequestFields") -> Principal:
        principal = ring.principals.get(fields.key_digest)
        if principal is None or principal.expires_at <= clock():
            raise Unauthorized(f"The key in the header {KEY_HEADER} is not valid")
        return principal

    return authenticate


def no_authentication(_: "RequestFields") -> Principal:
    """Accept every request."""
    return _ANYONE


class RateLimits:
    """Checks requests of keys that have a rate limit."""

    def __init__(self, limiter: RateLimiter, count: Callable[[Event], None], *, send_fields: bool) -> None:
        """Check by a limiter; `send_fields` adds the RateLimit fields to responses."""
        self._limiter = limiter
        self._count = count
        self._send_fields = send_fields

    def check(self, name: str, rate: Rate) -> HeaderLines | None:
        """Check a request; return the header fields of its response, None if it has to `wait`.

        Raises `TooManyRequests`, which has them.
        """
        decision = self._limiter.decide(name, rate)
        return None if decision is None else self._lines(rate, decision)

    async def wait(self, name: str, rate: Rate) -> HeaderLines:
        """Check a request, as `check` does, by the store of rate limits."""
        return self._lines(rate, await self._limiter.take(name, rate))

    def _lines(self, rate: Rate, decision: RateDecision) -> HeaderLines:
        fields = _fields(rate, decision) if self._send_fields else {}
        if not decision.allowed:
            self._count(Event.RATE_REFUSED)
            raise TooManyRequests(decision.seconds, fields)
        self._count(Event.RATE_ALLOWED)
        return header_lines(fields)

    async def close(self) -> None:
        """Close the limiter's connections."""
        await self._limiter.close()


def make_rate_limits(settings: Settings, count: Callable[[Event], None]) -> RateLimits:
    """Return the rate limits of a service, which count their decisions."""
    store = RedisLimiter(settings.rate_store) if settings.rate_store else None
    limiter = RateLimiter(MemoryLimiter(settings.processes), store, failed=partial(count, Event.RATE_STORE_FAILED))
    return RateLimits(limiter, count, send_fields=settings.rate_limit_fields)


@lru_cache
def _fields(rate: Rate, decision: RateDecision) -> Mapping[str, str]:
    """Return the two fields, which are structured fields (RFC 9651)."""
    return {
        RATE_LIMIT_POLICY: f'"default";q={rate.requests};w={rate.seconds}',
        RATE_LIMIT: f'"default";r={decision.remaining};t={decision.seconds}',
    }
