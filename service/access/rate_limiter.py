"""Rate limiting by a shared rate store, if there is one and it responds, else by this process alone."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from time import monotonic
from typing import Any, Final

from service.access.token_bucket import TOLERANCE, MemoryLimiter, Rate, RateDecision, decision
from service.texts import split_url

# Timeout of a decision, including connecting, TLS and the password.
TIMEOUT_SECONDS: Final = 0.1
# Connections to Redis, and so concurrent decisions.
MAX_CONCURRENT: Final = 16
# The timeout runs as this many timers, one after the other, each in its own iteration of the event loop. Connecting to
# Redis takes about six iterations.
_TIMERS: Final = 10
_DATABASE: Final = re.compile(r"/?|/[0-9]{1,5}")
_SOCKET: Final = re.compile(r"unix://([^/?#]*@)?/[^?#]", re.IGNORECASE)
# Takes a request from a bucket, by the clock of Redis. The bucket is removed when it is full again.
_TAKE: Final = f"""
local requests, seconds, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'taken', 'at')
local elapsed = math.max(0, now - (tonumber(bucket[2]) or now))
local taken = math.max(0, (tonumber(bucket[1]) or 0) - elapsed * requests / seconds)
if taken + 1 > burst + {TOLERANCE} then
    return {{0, string.format('%.9f', taken)}}
end
taken = taken + 1
redis.call('HSET', KEYS[1], 'taken', string.format('%.9f', taken), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(taken * seconds / requests * 1000))
return {{1, string.format('%.9f', taken)}}
"""


class RedisFailed(Exception):
    """Redis did not decide. The message names the kind of failure, and quotes neither the URL nor the response."""


class RedisLimiter:
    """Limits each key to its rate in Redis, with a timeout."""

    def __init__(self, url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Prepare a client for the URL, without connecting.

        Raises `ValueError` with the reason if the URL is invalid, `ImportError` if the package for Redis is missing.
        """
        from redis.asyncio import BlockingConnectionPool, Redis  # noqa: PLC0415 - an extra

        server = split_url(url, "redis", "rediss")
        if not ((server and _DATABASE.fullmatch(server.path)) or _SOCKET.match(url)):
            raise ValueError("it must be redis://host:6379/0, rediss://host:6379/0 or unix:///run/redis.sock")
        self._timeout_seconds = timeout_seconds
        try:
            limits = {"max_connections": MAX_CONCURRENT, "timeout": timeout_seconds}
            pool = BlockingConnectionPool.from_url(url, protocol=2, **limits)  # which every release speaks
            pool.make_connection()  # type: ignore[no-untyped-call] # which detects unknown options
        except (ValueError, TypeError):  # the message may quote the URL
            raise ValueError("an option in its query is not supported") from None
        self._client = Redis(connection_pool=pool)
        self._take = self._client.register_script(_TAKE)
        self._refused: dict[tuple[str, Rate], float] = {}  # until when Redis refuses requests of a key

    async def take(self, name: str, rate: Rate) -> RateDecision:
        """Take one request from the bucket of a key, if it has one left. Raises `RedisFailed`, on a timeout as well."""
        async with self._failures():
            bucket = f"store-directory:{rate.requests}:{rate.seconds}:{rate.burst}:{name}"
            match await self._take([bucket], [rate.requests, rate.seconds, rate.burst]):
                case [allowed, taken]:
                    decided = decision(rate, float(taken), allowed=bool(allowed))
                case _:
                    raise TypeError
        if not decided.allowed:
            wait = (float(taken) + 1 - rate.burst) * rate.seconds / rate.requests
            self._refused[name, rate] = monotonic() + wait
        return decided

    def refusal(self, name: str, rate: Rate) -> RateDecision | None:
        """Return the refusal of a request that Redis would refuse, by its last refusal of the key, if it would."""
        wait = self._refused.get((name, rate), 0) - monotonic()
        if wait > 0:
            return RateDecision(allowed=False, remaining=0, seconds=ceil(wait))
        self._refused.pop((name, rate), None)
        return None

    async def ping(self) -> None:
        """Check that Redis responds. Raises `RedisFailed`, on a timeout as well."""
        async with self._failures():
            pong: Any = self._client.ping()  # its type is another one in each release
            await pong

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose(close_connection_pool=True)

    @asynccontextmanager
    async def _failures(self) -> AsyncIterator[None]:
        try:
            async with redis_timeout(self._timeout_seconds):
                yield
        except Exception as error:  # noqa: BLE001 - the response may be anything
            raise RedisFailed(type(error).__name__) from None


@asynccontextmanager
async def redis_timeout(seconds: float) -> AsyncIterator[None]:
    """Wait for at least this long, and for some iterations of the event loop, which read what has arrived.

    Raises `TimeoutError`. With a plain timer an overloaded event loop would blame its own delay on the peer.
    """
    async with asyncio.timeout(None) as limit:

        async def expire() -> None:
            for _ in range(_TIMERS):
                await asyncio.sleep(seconds / _TIMERS)
            limit.reschedule(asyncio.get_running_loop().time())

        timer = asyncio.create_task(expire())
        try:
            yield
        finally:
            timer.cancel()


# After a failure one request per this interval probes the store; the others do not wait for it.
PROBE_SECONDS: Final = 1.0
# How long a request waits for a free connection to the store. A busy store has not failed.
QUEUE_SECONDS: Final = 0.5
_log = logging.getLogger(__name__)


class RateLimiter:
    """Limits request rates. While the store fails, this process enforces its share of each rate."""

    def __init__(
        self,
        memory: MemoryLimiter,
        store: RedisLimiter | None = None,
        *,
        failed: Callable[[], None] = lambda: None,
        probe_seconds: float = PROBE_SECONDS,
        queue_seconds: float = QUEUE_SECONDS,
    ) -> None:
        """Limit by a store, and by the memory of this process, which holds its share, without one.

        `failed` is called for each request that the store did not decide.
        """
        self._memory, self._store = memory, store
        self._failed = failed
        self._probe_seconds, self._queue_seconds = probe_seconds, queue_seconds
        self._connections = asyncio.Semaphore(MAX_CONCURRENT)
        self._probe_at: float | None = None  # when the store is probed next; None while it works

    def decide(self, name: str, rate: Rate) -> RateDecision | None:
        """Decide about a request of a key at once; None if the rate store must decide."""
        if self._store is None:
            return self._memory.take(name, rate)
        if self._probe_at is None:
            return self._store.refusal(name, rate)
        return self._decide_locally(name, rate) if monotonic() < self._probe_at else None

    async def take(self, name: str, rate: Rate) -> RateDecision:
        """Decide about a request of a key, by the rate store if it must, in a task."""
        decided = self.decide(name, rate)
        if decided is not None or self._store is None:
            return decided or self._memory.take(name, rate)
        probes = self._probe_at is not None
        if probes:
            self._probe_at = monotonic() + self._probe_seconds
        try:
            async with asyncio.timeout(self._queue_seconds):
                await self._connections.acquire()
        except TimeoutError:
            return self._decide_locally(name, rate)
        try:
            return await self._ask(self._store, name, rate, probes=probes)
        finally:
            self._connections.release()

    async def close(self) -> None:
        """Close the connections to the store."""
        if self._store is not None:
            await self._store.close()

    def _decide_locally(self, name: str, rate: Rate) -> RateDecision:
        self._failed()
        return self._memory.take(name, rate)

    async def _ask(self, store: RedisLimiter, name: str, rate: Rate, *, probes: bool) -> RateDecision:
        if self._probe_at is not None and not probes:  # the store failed while this request was queued
            return self._decide_locally(name, rate)
        try:
            decision = await store.take(name, rate)
        except RedisFailed as failure:
            if self._probe_at is None:
                _log.warning("the rate store failed (%s): each process enforces its share of each rate", failure)
            self._probe_at = monotonic() + self._probe_seconds
            return self._decide_locally(name, rate)
        if probes:  # a success of a request sent before the failure proves nothing
            self._probe_at = None
            _log.info("the rate store responds again")
        return decision
