"""Authentication by the key of a request, and its rate limits."""

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import lru_cache, partial
from time import time
from typing import Any, Final

import msgspec

from service.access.api_key import PUBLIC_PREFIX, Principal, credential, listings
from service.access.keyring import Keyring
from service.access.rate_limiter import RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate, RateDecision
from service.model.errors import Forbidden, TooManyRequests, Unauthorized
from service.model.operation import KEY_HEADER, KEY_PARAMETER, RATE_LIMIT, RATE_LIMIT_POLICY
from service.model.query import Query
from service.settings import Settings
from service.web.http.forwarded import UNIX, client_network, parse_trusted_proxies
from service.web.http.header_fields import HeaderLines, header_lines
from service.web.http.request import RequestFields
from service.web.pipeline.counters import Event

_ANYONE: Final = Principal("anonymous")


class Authentication:
    """Authenticates requests; this one accepts all of them, without a key."""

    def __call__(self, fields: RequestFields, keys: Sequence[str] = ()) -> Principal:  # noqa: ARG002 - of keys
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

    def __call__(self, fields: RequestFields, keys: Sequence[str] = ()) -> Principal:
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


def _credential(fields: RequestFields, keys: Sequence[str]) -> bytes:
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


# What exceeds its rate when a request is refused.
_OWNERS: Final = {Event.RATE_REFUSED: "key", Event.CLIENT_REFUSED: "client"}
_log = logging.getLogger(__name__)

_PLACE: Final = "A public key is for /stores, /stores/{store_id}, /clusters and /places"


def check_public_key(principal: Principal, fields: RequestFields, *, is_place: bool) -> str:
    """Return the origin of the website that uses a public key, "" for that of the service. Raises `Forbidden`."""
    if not is_place:
        raise Forbidden(_PLACE)
    website = fields.website
    if website is None or (website and principal.origins.isdisjoint(listings(website))):
        raise Forbidden("The key is not for this website")
    return website


# Records that a public key gets: of one page, and of all pages of a list.
PUBLIC_LIMIT: Final = 50
PUBLIC_RECORDS: Final = 1000
_AMOUNT: Final = f"A public key needs a limit of at most {PUBLIC_LIMIT}, within the first {PUBLIC_RECORDS:,} records"
_LIST: Final = "/stores"


def check_amount(operation: str, parameters: Query | str) -> None:
    """Raise `Forbidden` if the list of stores is queried for more records than a public key gets."""
    if operation == _LIST and isinstance(parameters, Query):
        limit, page_num = parameters.limit, parameters.page_num
        if limit > PUBLIC_LIMIT or limit * page_num > PUBLIC_RECORDS:
            raise Forbidden(_AMOUNT)


class _Client(msgspec.Struct, frozen=True, gc=False):
    """A client of a public key: the name of its bucket, its rate, and the decision that took a request."""

    name: str
    rate: Rate
    decision: RateDecision


class RateLimits:
    """Checks requests of keys that have a rate limit, and of the clients of public keys."""

    def __init__(
        self, limiter: RateLimiter, clients: MemoryLimiter, settings: Settings, count: Callable[[Event], None]
    ) -> None:
        """Limit keys by a limiter, and clients in this process."""
        self._limiter, self._clients = limiter, clients
        self._proxies = parse_trusted_proxies(settings.trusted_proxy)
        self._send_fields, self._count = settings.rate_limit_fields, count
        self._has_warned = False

    def check(
        self, principal: Principal, remote: str | None, fields: RequestFields
    ) -> HeaderLines | Callable[[], Coroutine[Any, Any, HeaderLines]]:
        """Check a request from an address; return the header fields of its response, or what waits for them.

        A request that the limit of the client or that of the key refuses takes of neither. The fields are those of the
        limit that refused, else of the client, if it has one. Raises `TooManyRequests`, which has them.
        """
        client, rate = self._check_client(principal, remote, fields), principal.rate
        if rate is None:
            return "" if client is None else self._lines(client.rate, client.decision)
        decision = self._limiter.decide(principal.name, rate)
        if decision is None:
            return partial(self._wait, principal.name, rate, client)
        return self._decided(rate, decision, client)

    async def _wait(self, name: str, rate: Rate, client: _Client | None) -> HeaderLines:
        """Check a request, as `check` does, by the store of rate limits."""
        return self._decided(rate, await self._limiter.take(name, rate), client)

    def _check_client(self, principal: Principal, remote: str | None, fields: RequestFields) -> _Client | None:
        """Take a request of a client, if it has a limit. Raises `TooManyRequests`."""
        rate = principal.per_client
        if rate is None:
            return None
        name = f"{principal.name} {client_network(self._proxies.client(remote, fields.all))}"
        decision = self._clients.take(name, rate)
        if not decision.allowed:
            if not self._has_warned and self._proxies.ignores(remote, fields.all):
                self._has_warned = True
                _log.warning("all clients behind %s share the rate of one: set --trusted-proxy", remote or UNIX)
            self._lines(rate, decision, Event.CLIENT_REFUSED)
        return _Client(name, rate, decision)

    def _decided(self, rate: Rate, decision: RateDecision, client: _Client | None) -> HeaderLines:
        """Return the header fields after the decision about a key, for which one was taken of its client."""
        if client is not None and decision.allowed:
            return self._lines(client.rate, client.decision)
        if client is not None:
            self._clients.give_back(client.name, client.rate)
        return self._lines(rate, decision)

    def _lines(self, rate: Rate, decision: RateDecision, refused: Event = Event.RATE_REFUSED) -> HeaderLines:
        fields = _fields(rate, decision) if self._send_fields else {}
        if not decision.allowed:
            self._count(refused)
            raise TooManyRequests(_OWNERS[refused], decision.seconds, fields)
        self._count(Event.RATE_ALLOWED)
        return header_lines(fields)

    async def close(self) -> None:
        """Close the limiter's connections."""
        await self._limiter.close()


def make_rate_limits(settings: Settings, count: Callable[[Event], None]) -> RateLimits:
    """Return the rate limits of a service, which count their decisions."""
    store = RedisLimiter(settings.rate_store) if settings.rate_store else None
    limiter = RateLimiter(MemoryLimiter(settings.processes), store, failed=partial(count, Event.RATE_STORE_FAILED))
    return RateLimits(limiter, MemoryLimiter(settings.processes), settings, count)


@lru_cache
def _fields(rate: Rate, decision: RateDecision) -> Mapping[str, str]:
    """Return the two fields, which are structured fields (RFC 9651)."""
    return {
        RATE_LIMIT_POLICY: f'"default";q={rate.requests};w={rate.seconds}',
        RATE_LIMIT: f'"default";r={decision.remaining};t={decision.seconds}',
    }
