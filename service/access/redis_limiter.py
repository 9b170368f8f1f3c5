"""Rate limiting in Redis, shared by all processes and instances."""

import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from throttled.asyncio import RedisStore, Throttled, rate_limiter
from throttled.exceptions import StoreUnavailableError

from service.access.memory_limiter import bucket_prefix
from service.access.rate_decision import RateDecision, rate_decision
from service.access.redis_timeout import redis_timeout
from service.access.request_rate import Rate

if TYPE_CHECKING:
    from redis.asyncio import Redis

# Timeout of a decision, including connecting, TLS and the password.
TIMEOUT_SECONDS: Final = 0.1
# Connections to Redis, and so concurrent decisions.
MAX_CONCURRENT: Final = 16
_MAX_RATES: Final = 1024
_SCHEMES: Final = ("redis", "rediss", "unix")
_DATABASE: Final = re.compile(r"/?|/[0-9]{1,5}")


class RedisFailed(Exception):
    """Redis did not decide. The message names the kind of failure, and quotes neither the URL nor the response."""


class _Redis(RedisStore):
    """The library's store, with its client accessible: the library never closes it."""

    def client(self) -> "Redis":
        """Return the client, which connects on first use."""
        return cast("Redis", self._backend.get_client())


class RedisLimiter:
    """Limits each key to its rate in Redis, with a timeout."""

    def __init__(self, url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Prepare a client for the URL, without connecting.

        Raises `ValueError` with the reason if the URL is invalid, `ImportError` if the package for Redis is missing.
        """
        _check(url)
        self._timeout_seconds = timeout_seconds
        options: dict[str, Any] = {
            "CONNECTION_POOL_CLASS": "redis.asyncio.BlockingConnectionPool",
            "CONNECTION_POOL_KWARGS": {"max_connections": MAX_CONCURRENT, "timeout": timeout_seconds},
        }
        try:
            self._store = _Redis(server=url, options=options)
            self._client = self._store.client()
            self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call] # which detects unknown options
        except (ValueError, TypeError):  # the message may quote the URL
            raise ValueError("an option in its query is not supported") from None
        self._limiter = lru_cache(_MAX_RATES)(self._make_limiter)

    async def take(self, name: str, rate: Rate) -> RateDecision:
        """Take one request from the bucket of a key, if it has one left. Raises `RedisFailed`, on a timeout as well."""
        async with self._failures():
            return rate_decision(await self._limiter(rate).limit(name), rate)

    async def ping(self) -> None:
        """Check that Redis responds. Raises `RedisFailed`, on a timeout as well."""
        async with self._failures():
            await cast("Awaitable[bool]", self._client.ping())

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose(close_connection_pool=True)

    @asynccontextmanager
    async def _failures(self) -> AsyncIterator[None]:
        try:
            async with redis_timeout(self._timeout_seconds):
                yield
        except Exception as error:  # noqa: BLE001 - the response may be anything
            known = error.__cause__ if isinstance(error, StoreUnavailableError) else None
            raise RedisFailed(type(known or error).__name__) from None

    def _make_limiter(self, rate: Rate) -> Throttled:
        quota = rate_limiter.per_duration(timedelta(seconds=rate.seconds), rate.requests, rate.burst)
        return Throttled(using="gcra", quota=quota, store=self._store, key_prefix=bucket_prefix(rate))


def _check(url: str) -> None:
    """Raise `ValueError` if a text is not the URL of a Redis. The message does not quote it."""
    try:
        parts = urlsplit(url)
        port = parts.port or 1
    except ValueError:
        raise ValueError("it is not a URL: write it as redis://host:6379/0") from None
    if parts.scheme not in _SCHEMES:
        raise ValueError("it must begin with redis://, rediss:// or unix://")
    if parts.scheme == "unix":
        if not parts.path.startswith("/"):
            raise ValueError("it has no path of a socket: write it as unix:///run/redis.sock")
    elif not parts.hostname or not port:
        raise ValueError("it has no valid host or port: write it as redis://host:6379/0")
    elif not _DATABASE.fullmatch(parts.path):
        raise ValueError("its path must be the number of a database: write it as redis://host:6379/0")
