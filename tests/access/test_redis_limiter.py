"""The URL of a store."""

import pytest

from service.access.redis_limiter import RedisFailed, RedisLimiter
from tests.access.fake_redis import Fake, silent

GOOD = (
    "redis://localhost",
    "redis://localhost:6379/0",
    "rediss://user:the-secret@redis.example:6380/15",
    "redis://:the-secret@[::1]:6379/",
    "unix:///run/redis.sock",
    "unix://user:the-secret@/run/redis.sock?db=2",
)
BAD = (
    "the-secret",
    "http://the-secret.example",
    "redis+cluster://the-secret:1",
    "redis:the-secret",
    "redis://",
    "redis://:the-secret@",
    "redis://user:the-secret",
    "redis://host:0/the-secret",
    "redis://host:70000/the-secret",
    "redis://host/the-secret",
    "redis://host/1/the-secret",
    "redis://[the-secret",
    "redis://user:the-secret@host:port",
    "redis://host?max_connections=the-secret",
    "redis://host?the_secret=1",
    "unix://the-secret",
    "unix://",
)


@pytest.mark.parametrize("url", GOOD)
async def test_the_url_of_a_redis_is_taken_and_not_connected_to(url: str) -> None:
    await RedisLimiter(url).close()


@pytest.mark.parametrize("url", BAD)
def test_what_is_no_url_of_a_redis_is_refused_and_nothing_of_it_is_told(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as raised:
        RedisLimiter(url)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_store_that_says_nothing_is_not_there() -> None:
    async with Fake(silent).serving() as fake:
        store = RedisLimiter(fake.url, longest_seconds=0.05)
        with pytest.raises(RedisFailed, match="TimeoutError"):
            await store.ping()
        await store.close()
