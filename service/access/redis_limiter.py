"""Rates kept in Redis, for all processes and replicas together."""

import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from throttled.asyncio import RedisStore, Throttled, rate_limiter
from throttled.exceptions import StoreUnavailableError

from service.access.memory_limiter import bucket
from service.access.rate_decision import RateDecision, rate_decision
from service.access.redis_timeout import redis_timeout
from service.access.request_rate import Rate

if TYPE_CHECKING:
    from redis.asyncio import Redis

# What a decision may take, with all that comes before it: connecting, its encryption, the password.
LONGEST_SECONDS: Final = 0.1
# How many may ask at once: who asks beyond that waits for a connection, which is part of the time of a decision.
MOST_AT_ONCE: Final = 16
_MOST_RATES: Final = 1024
_SCHEMES: Final = ("redis", "rediss", "unix")
_DATABASE: Final = re.compile(r"/?|/[0-9]{1,5}")


class RedisFailed(Exception):
    """The store did not decide; the message names the kind of failure, and nothing that the store or its URL said."""


class _Redis(RedisStore):
    """The library's store, which does not close what it opens."""

    def client(self) -> "Redis":
        """Return the client, which connects when it is used."""
        return cast("Redis", self._backend.get_client())


class RedisLimiter:
    """Asks Redis, within a time limit."""

    def __init__(self, url: str, *, longest_seconds: float = LONGEST_SECONDS) -> None:
        """Take the URL of a Redis, to which nothing is sent yet. Raises `ValueError`, which says why, where it is none.

        Raises `ImportError` where the package for Redis is missing.
        """
        _check(url)
        self._longest_seconds = longest_seconds
        options: dict[str, Any] = {
            "CONNECTION_POOL_CLASS": "redis.asyncio.BlockingConnectionPool",
            "CONNECTION_POOL_KWARGS": {"max_connections": MOST_AT_ONCE, "timeout": longest_seconds},
        }
        try:
            self._store = _Redis(server=url, options=options)
            self._client = self._store.client()
            self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call] # which finds an option that there is not
        except (ValueError, TypeError):  # whose message may quote the URL
            raise ValueError("an option behind its ? cannot be used") from None
        self._of = lru_cache(_MOST_RATES)(self._made)

    async def take(self, name: str, rate: Rate) -> RateDecision:
        """Decide about a request of a key. Raises `RedisFailed` where that does not come off in time."""
        async with self._answering():
            return rate_decision(await self._of(rate).limit(name), rate)

    async def ping(self) -> None:
        """Ask whether it is there. Raises `RedisFailed` where it does not say so in time."""
        async with self._answering():
            await cast("Awaitable[bool]", self._client.ping())

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose(close_connection_pool=True)

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            async with redis_timeout(self._longest_seconds):
                yield
        except Exception as error:  # noqa: BLE001 - what comes over the wire may be anything
            known = error.__cause__ if isinstance(error, StoreUnavailableError) else None
            raise RedisFailed(type(known or error).__name__) from None

    def _made(self, rate: Rate) -> Throttled:
        quota = rate_limiter.per_duration(timedelta(seconds=rate.seconds), rate.requests, rate.burst)
        return Throttled(using="gcra", quota=quota, store=self._store, key_prefix=bucket(rate))


def _check(url: str) -> None:
    """Raise `ValueError`, which says why and quotes nothing, where a text is no URL of a Redis."""
    try:
        parts = urlsplit(url)
        port = parts.port or 1
    except ValueError:
        raise ValueError("it is no URL: write it as redis://host:6379/0") from None
    if parts.scheme not in _SCHEMES:
        raise ValueError("it begins with redis://, rediss:// or unix://")
    if parts.scheme == "unix":
        if not parts.path.startswith("/"):
            raise ValueError("it names no socket: write it as unix:///run/redis.sock")
    elif not parts.hostname or not port:
        raise ValueError("it names no host or port: write it as redis://host:6379/0")
    elif not _DATABASE.fullmatch(parts.path):
        raise ValueError("behind the host stands the number of a database: redis://host:6379/0")
