"""Authentication by the key of a request, and its rate limits."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from time import time
from typing import TYPE_CHECKING, Final

from service.access.api_key import PUBLIC_PREFIX, Principal, credential, listings
from service.access.keyring import Keyring
from service.access.rate_limiter import RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate, RateDecision
from service.model.errors import Forbidden, TooManyRequests, Unauthorized
from service.model.operation import KEY_HEADER, KEY_PARAMETER, RATE_LIMIT, RATE_LIMIT_POLICY
from service.settings import Settings
from service.web.http.header_fields import HeaderLines, header_lines
from service.web.pipeline.counters import Event

if TYPE_CHECKING:
    from service.web.http.request import RequestFields


_ANYONE: Final = Principal("anonymous")


class Authentication:
    """Authenticates requests; this one accepts all of them, without a key."""

    def __call__(self, fields: "RequestFields", keys: Sequence[str] = ()) -> Principal:  # noqa: ARG002 - of keys
        """Return the principal of a request with some values of the parameter `key`. Raises `Unauthorized`."""
        return _ANYONE

    def is_website(self, origin: str) -> bool:  # noqa: ARG002 - of keys
        """Return whether a valid public key is for an origin."""
        return False


no_authentication: Final = Authentication()


class KeyAuthentication(Authentication):
    """Authenticates by the keys of a ring, found by their SHA-256: timing reveals nothing about a key."""

    def __init__(self, ring: Keyring, clock: Callable[[], float] = time) -> None:
        """Accept the keys of a ring; `clock` returns the seconds since the epoch."""
        self._ring, self._clock = ring, clock

    def __call__(self, fields: "RequestFields", keys: Sequence[str] = ()) -> Principal:
        """Return the principal of a key that is valid now. Raises `Unauthorized`."""
        principal = self._ring.principals.get(_credential(fields, keys) if keys else fields.credential)
        if principal is None or principal.expires_at <= self._clock():
            place = f"parameter {KEY_PARAMETER}" if any(keys) else f"header {KEY_HEADER}"
            raise Unauthorized(f"The key in the {place} is not valid")
        return principal

    def is_website(self, origin: str) -> bool:
        """Return whether a valid public key is for an origin."""
        now = self._clock()
        return any(self._ring.websites.get(each, 0.0) > now for each in listings(origin))


def _credential(fields: "RequestFields", keys: Sequence[str]) -> bytes:
    """Return what the principal is found by, of a key in the header or in the parameter. Raises `Unauthorized`."""
    named = [key for key in keys if key]
    if not named:
        return fields.credential
    if len(named) > 1 or any(fields.all.getall(KEY_HEADER, ())):
        raise Unauthorized("The key is given twice")
    if not named[0].startswith(PUBLIC_PREFIX):
        raise Unauthorized(
            f"Only a public key ({PUBLIC_PREFIX}…) may be in the address: send others in the header {KEY_HEADER}"
        )
    return credential(named[0])


_PLACE: Final = "A public key is for /stores, /stores/{store_id}, /clusters and /places"


def check_public_key(principal: Principal, fields: "RequestFields", *, is_place: bool) -> str:
    """Return the origin of the website that uses a public key, "" for that of the service. Raises `Forbidden`."""
    if not is_place:
        raise Forbidden(_PLACE)
    website = fields.website
    if website is None or (website and principal.origins.isdisjoint(listings(website))):
        raise Forbidden("The key is not for this website")
    return website


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
