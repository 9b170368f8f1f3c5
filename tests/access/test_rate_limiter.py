"""What becomes of rates when their store is gone, slow, or no store at all."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager

import pytest

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_decision import RateDecision
from service.access.rate_limiter import RateLimiter
from service.access.redis_limiter import MOST_AT_ONCE, RedisLimiter
from service.access.request_rate import Rate
from tests.access.asking import decided, limited
from tests.access.fake_redis import Behaviour, Fake, closing, deciding, hanging, saying, silent

RATE = Rate(1, 3600, 4)
SECONDS = 0.05
# In which a test takes a hundred decisions, on a slow machine, too.
PAUSE = 1.0
# Not limited, two left, full in 7,200 seconds.
PASSES = b"*4\r\n:0\r\n:2\r\n$4\r\n7200\r\n$1\r\n0\r\n"
BEHAVIOURS = {
    "silent": silent,
    "closing": closing,
    "http": saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "nonsense": saying(bytes(range(256))),
    "ok": saying(b"+OK\r\n"),
    "nil": saying(b"$-1\r\n"),
    "another list": saying(b"*2\r\n:0\r\n$3\r\nxyz\r\n"),
    "a list without numbers": saying(b"*4\r\n:0\r\n:1\r\n$3\r\nxyz\r\n$0\r\n\r\n"),
    "an endless line": saying(b"+" + b"x" * 4096),
    "refused": saying(b"-WRONGPASS the-secret is wrong\r\n"),
    "read only": saying(b"-READONLY You can't write against a read only replica.\r\n"),
    "loading": saying(b"-LOADING Redis is loading the dataset in memory\r\n"),
}

each_behaviour = pytest.mark.parametrize("behaviour", list(BEHAVIOURS.values()), ids=list(BEHAVIOURS))


def limiting(
    url: str, failures: list[None], *, processes: int = 2, pause: float = 3600, seconds: float = SECONDS
) -> AbstractAsyncContextManager[RateLimiter]:
    return limited(RedisLimiter(url, longest_seconds=seconds), failures, pause=pause, processes=processes)


async def test_without_a_store_nothing_is_waited_for() -> None:
    limiter = RateLimiter(MemoryLimiter())
    assert isinstance(limiter.take("a", RATE), RateDecision)
    await limiter.close()


@each_behaviour
async def test_where_the_store_does_not_decide_each_process_keeps_its_share(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[None] = []
    async with Fake(behaviour).serving() as fake, limiting(fake.url, failures) as limiter:
        with caplog.at_level(logging.DEBUG):
            passed = [(await decided(limiter.take("a", RATE))).allowed for _ in range(6)]
        assert passed == [True, True, False, False, False, False]
        assert len(failures) == 6
        assert fake.connections <= 2
    (line,) = (record.getMessage() for record in caplog.records if record.name.startswith("service"))
    assert line.startswith("the store of rates fails (")
    assert "secret" not in caplog.text


async def test_where_nobody_listens_each_process_keeps_its_share(unused_tcp_port: int) -> None:
    failures: list[None] = []
    async with limiting(f"redis://127.0.0.1:{unused_tcp_port}", failures) as limiter:
        assert [(await decided(limiter.take("a", RATE))).allowed for _ in range(3)] == [True, True, False]
        assert isinstance(limiter.take("a", RATE), RateDecision)
        assert len(failures) == 4


async def test_requests_that_ask_at_once_fail_together_and_one_line_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[None] = []
    async with Fake(silent).serving() as fake, limiting(fake.url, failures) as limiter:
        wide = Rate(1, 3600, 100)
        told = await asyncio.gather(*(decided(limiter.take("a", wide)) for _ in range(100)))
        assert sum(each.allowed for each in told) == 50
        assert len(failures) == 100
        assert fake.connections <= MOST_AT_ONCE
    assert caplog.text.count("the store of rates fails") == 1


async def test_during_the_pause_nobody_asks_the_store_and_then_one_does() -> None:
    failures: list[None] = []
    async with Fake(silent).serving() as fake, limiting(fake.url, failures, pause=PAUSE) as limiter:
        await decided(limiter.take("a", RATE))
        assert all(isinstance(limiter.take("a", RATE), RateDecision) for _ in range(50))
        before = fake.connections
        await asyncio.sleep(PAUSE)
        asking, *others = [limiter.take("a", RATE) for _ in range(50)]
        assert not isinstance(asking, RateDecision)
        assert all(isinstance(each, RateDecision) for each in others)
        await asking
        assert fake.connections == before + 1


async def test_where_a_store_works_it_decides(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[None] = []
    stops = b"*4\r\n:1\r\n:0\r\n$4\r\n9000\r\n$4\r\n3600\r\n"
    async with Fake(deciding(PASSES, stops)).serving() as fake, limiting(fake.url, failures, seconds=60) as limiter:
        told = [await decided(limiter.take("a", RATE)) for _ in range(2)]
    assert told[0].allowed
    assert told[0].remaining == 2
    assert told[1] == RateDecision(allowed=False, remaining=0, seconds=3600)
    assert (failures, caplog.messages) == ([], [])


async def test_a_store_that_works_again_decides_again_and_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    failures: list[None] = []
    async with (
        Fake(deciding(b"-LOADING\r\n", PASSES, PASSES)).serving() as fake,
        limiting(fake.url, failures, pause=0, seconds=60) as limiter,
    ):
        told = [await decided(limiter.take("a", RATE)) for _ in range(3)]
    assert [each.remaining for each in told] == [1, 2, 2]  # the first as this process decided
    assert len(failures) == 1
    assert caplog.messages[1:] == ["the store of rates decides again"]


async def test_a_store_that_is_busy_has_not_failed_and_who_waits_too_long_gets_the_share() -> None:
    failures: list[None] = []
    until = asyncio.Event()
    async with Fake(hanging(until)).serving() as fake:
        store = RedisLimiter(fake.url, longest_seconds=60)
        limiter = RateLimiter(MemoryLimiter(2), store, failed=lambda: failures.append(None), wait_seconds=SECONDS)
        asking = [asyncio.ensure_future(decided(limiter.take(f"{n}", RATE))) for n in range(MOST_AT_ONCE)]
        await asyncio.sleep(0)
        assert (await decided(limiter.take("a", RATE))).remaining == RATE.burst // 2 - 1
        assert len(failures) == 1
        last = limiter.take("b", RATE)
        assert not isinstance(last, RateDecision)  # the store is asked on
        until.set()
        await asyncio.gather(*asking, last)
        await limiter.close()


async def test_a_key_over_its_rate_asks_no_store() -> None:
    failures: list[None] = []
    async with Fake(silent).serving() as fake, limiting(fake.url, failures) as limiter:
        asking = [limiter.take("a", RATE) for _ in range(RATE.burst)]
        tasks = [asyncio.ensure_future(decided(each)) for each in asking]
        await asyncio.sleep(0)
        told = [limiter.take("a", RATE) for _ in range(50)]
        assert all(isinstance(each, RateDecision) and not each.allowed for each in told)
        await asyncio.gather(*tasks)
        assert len(failures) == RATE.burst
