"""Rate limiting when the rate store is down, slow or not a Redis."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager

import pytest

from service.access.rate_limiter import MAX_CONCURRENT, RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate, RateDecision
from tests.access.fake_redis import Behaviour, Fake, closing, deciding, hanging, responding, silent
from tests.access.redis_rate_limiter import redis_rate_limiter, take_concurrently

RATE = Rate(1, 3600, 4)
SECONDS = 0.05
# Long enough for a hundred decisions on a slow machine.
PROBE_SECONDS = 1.0
# Allowed, two taken of four.
PASSES = b"*2\r\n:1\r\n$1\r\n2\r\n"
BEHAVIOURS = {
    "silent": silent,
    "closing": closing,
    "http": responding(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "nonsense": responding(bytes(range(256))),
    "ok": responding(b"+OK\r\n"),
    "nil": responding(b"$-1\r\n"),
    "another list": responding(b"*2\r\n:0\r\n$3\r\nxyz\r\n"),
    "a long list": responding(b"*4\r\n:0\r\n:1\r\n$3\r\nxyz\r\n$0\r\n\r\n"),
    "an endless line": responding(b"+" + b"x" * 4096),
    "refused": responding(b"-WRONGPASS the-secret is wrong\r\n"),
    "read only": responding(b"-READONLY You can't write against a read only replica.\r\n"),
    "loading": responding(b"-LOADING Redis is loading the dataset in memory\r\n"),
}

each_behaviour = pytest.mark.parametrize("behaviour", list(BEHAVIOURS.values()), ids=list(BEHAVIOURS))


def limiting(
    url: str, failures: list[None], *, processes: int = 2, probe: float = 3600, seconds: float = SECONDS
) -> AbstractAsyncContextManager[RateLimiter]:
    return redis_rate_limiter(RedisLimiter(url, timeout_seconds=seconds), failures, probe=probe, processes=processes)


@pytest.mark.process
@each_behaviour
async def test_while_the_store_fails_each_process_enforces_its_share(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[None] = []
    async with Fake(behaviour).serving() as fake, limiting(fake.url, failures) as limiter:
        with caplog.at_level(logging.DEBUG):
            allowed = [(await limiter.take("a", RATE)).allowed for _ in range(6)]
        assert allowed == [True, True, False, False, False, False]
        assert len(failures) == 6
        assert fake.connections <= 2
    (line,) = (record.getMessage() for record in caplog.records if record.name.startswith("service"))
    assert line.startswith("the rate store failed (")
    assert "secret" not in caplog.text


@pytest.mark.process
async def test_without_a_store_or_while_it_refuses_connections_no_decision_is_awaited(unused_tcp_port: int) -> None:
    failures: list[None] = []
    async with limiting(f"redis://127.0.0.1:{unused_tcp_port}", failures) as limiter:
        assert [(await limiter.take("a", RATE)).allowed for _ in range(3)] == [True, True, False]
        for each in (limiter, RateLimiter(MemoryLimiter())):
            (decision,) = await take_concurrently(each, "a", RATE, 1)
            assert decision.done()
        assert len(failures) == 4


@pytest.mark.process
async def test_concurrent_failures_log_one_line(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[None] = []
    async with Fake(silent).serving() as fake, limiting(fake.url, failures) as limiter:
        wide = Rate(1, 3600, 100)
        decisions = await asyncio.gather(*(limiter.take("a", wide) for _ in range(100)))
        assert sum(each.allowed for each in decisions) == 50
        assert len(failures) == 100
        assert fake.connections <= MAX_CONCURRENT
    assert caplog.text.count("the rate store failed") == 1


@pytest.mark.process
async def test_after_a_failure_one_request_per_interval_probes_the_store() -> None:
    failures: list[None] = []
    async with Fake(silent).serving() as fake, limiting(fake.url, failures, probe=PROBE_SECONDS) as limiter:
        await limiter.take("a", RATE)
        assert all(each.done() for each in await take_concurrently(limiter, "a", RATE, 50))
        before = fake.connections
        await asyncio.sleep(PROBE_SECONDS)
        probe, *others = await take_concurrently(limiter, "a", RATE, 50)
        assert not probe.done()
        assert all(each.done() for each in others)
        await probe
        assert fake.connections == before + 1


@pytest.mark.process
async def test_a_working_store_decides(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[None] = []
    stops = b"*2\r\n:0\r\n$1\r\n4\r\n"
    async with Fake(deciding(PASSES, stops)).serving() as fake, limiting(fake.url, failures, seconds=60) as limiter:
        decisions = [await limiter.take("a", RATE) for _ in range(2)]
    assert decisions[0].allowed
    assert decisions[0].remaining == 2
    assert decisions[1] == RateDecision(allowed=False, remaining=0, seconds=3600)
    assert (failures, caplog.messages) == ([], [])


@pytest.mark.process
async def test_a_recovered_store_decides_again_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    failures: list[None] = []
    async with (
        Fake(deciding(b"-LOADING\r\n", PASSES, PASSES)).serving() as fake,
        limiting(fake.url, failures, probe=0, seconds=60) as limiter,
    ):
        decisions = [await limiter.take("a", RATE) for _ in range(3)]
    assert [each.remaining for each in decisions] == [1, 2, 2]  # this process made the first decision
    assert len(failures) == 1
    assert caplog.messages[1:] == ["the rate store responds again"]


@pytest.mark.process
async def test_a_busy_store_has_not_failed_and_requests_queued_too_long_are_decided_locally() -> None:
    failures: list[None] = []
    until = asyncio.Event()
    async with Fake(hanging(until)).serving() as fake:
        store = RedisLimiter(fake.url, timeout_seconds=60)
        limiter = RateLimiter(MemoryLimiter(2), store, failed=lambda: failures.append(None), queue_seconds=SECONDS)
        attempts = [each for n in range(MAX_CONCURRENT) for each in await take_concurrently(limiter, f"{n}", RATE, 1)]
        assert (await limiter.take("a", RATE)).remaining == RATE.burst // 2 - 1
        assert len(failures) == 1
        (last,) = await take_concurrently(limiter, "b", RATE, 1)
        assert not last.done()  # further requests still ask the store
        until.set()
        await asyncio.gather(*attempts, last)
        await limiter.close()


@pytest.mark.process
async def test_a_key_that_the_store_has_refused_does_not_ask_it_again_until_it_would_allow_a_request() -> None:
    failures: list[None] = []
    stops = b"*2\r\n:0\r\n$3\r\n3.5\r\n"
    async with Fake(deciding(stops, PASSES)).serving() as fake, limiting(fake.url, failures, seconds=60) as limiter:
        first = await limiter.take("a", RATE)
        refused = await take_concurrently(limiter, "a", RATE, 50)
        assert first == RateDecision(allowed=False, remaining=0, seconds=1800)
        assert {each.result() for each in refused} == {first}
        assert (await limiter.take("b", RATE)).allowed
    assert failures == []
