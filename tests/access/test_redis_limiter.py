"""The URL of the rate store, and the timeout of Redis, which excludes the delay of this process."""

import asyncio
from time import monotonic, sleep

import pytest

from service.access.rate_limiter import RedisFailed, RedisLimiter, redis_timeout
from tests.access.fake_redis import Fake, silent

TIMEOUT = 0.05  # seconds
GOOD = (
    *("redis://localhost", "redis://localhost:6379/0", "rediss://user:the-secret@redis.example:6380/15"),
    *("redis://:the-secret@[::1]:6379/", "unix:///run/redis.sock", "unix://user:the-secret@/run/redis.sock?db=2"),
)
BAD = (
    *("the-secret", "http://the-secret.example", "redis+cluster://the-secret:1", "redis:the-secret", "redis://"),
    *("redis://:the-secret@", "redis://user:the-secret", "redis://host:0/the-secret"),
    *("redis://host:70000/the-secret", "redis://host/the-secret", "redis://host/1/the-secret"),
    *("redis://[the-secret", "redis://user:the-secret@host:port", "redis://host?max_connections=the-secret"),
    *("redis://host?the_secret=1", "unix://the-secret", "unix://"),
)


@pytest.mark.parametrize("url", GOOD)
async def test_a_valid_url_is_accepted_without_connecting(url: str) -> None:
    await RedisLimiter(url).close()


@pytest.mark.parametrize("url", BAD)
def test_an_invalid_url_is_rejected_without_quoting_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as raised:
        RedisLimiter(url)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.process
async def test_a_store_that_never_responds_fails_a_ping() -> None:
    async with Fake(silent).serving() as fake:
        store = RedisLimiter(fake.url, timeout_seconds=TIMEOUT)
        with pytest.raises(RedisFailed, match="TimeoutError"):
            await store.ping()
        await store.close()


async def test_a_silent_peer_times_out_after_the_given_time() -> None:
    start = monotonic()
    with pytest.raises(TimeoutError):
        async with redis_timeout(TIMEOUT):
            await asyncio.Event().wait()
    assert monotonic() - start >= TIMEOUT


async def test_a_response_that_arrived_while_the_event_loop_was_blocked_counts_and_no_timer_is_left() -> None:
    asyncio.get_running_loop().call_soon(sleep, 3 * TIMEOUT)
    async with redis_timeout(TIMEOUT):
        for _ in range(6):
            await asyncio.sleep(0)
    await asyncio.sleep(2 * TIMEOUT)
