"""Rate limits in a real Redis: exact for all processes, and served without it if it fails."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time

import pytest

from service.access.rate_limiter import RateLimiter, RedisFailed, RedisLimiter
from service.access.token_bucket import Rate
from tests.access.redis_rate_limiter import redis_rate_limiter, take_concurrently
from tests.interop.rate_store_client import RATE
from tests.interop.redis_server import PASSWORD, Server, redis_server
from tests.program import SECONDS

ROOT = Path(__file__).parents[2]
PAUSE = 0.2


@pytest.fixture
def port(unused_tcp_port_factory: Callable[[], int]) -> int:
    return unused_tcp_port_factory()


def on_port(port: int, folder: Path) -> Iterator[Server]:
    with redis_server(folder, "--port", str(port), url=f"redis://:{PASSWORD}@127.0.0.1:{port}/3") as server:
        yield server


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[Server]:
    yield from on_port(port, tmp_path / "redis")


def limiting(
    server: Server, *, failures: list[None] | None = None, seconds: float = SECONDS
) -> AbstractAsyncContextManager[RateLimiter]:
    noted = [] if failures is None else failures
    return redis_rate_limiter(RedisLimiter(server.url, timeout_seconds=seconds), noted, probe=PAUSE)


def test_several_processes_together_accept_the_burst_and_no_more(server: Server) -> None:
    command = [sys.executable, "-m", "tests.interop.rate_store_client", server.url, "160"]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    allowed = [int(process.communicate(timeout=SECONDS)[0]) for process in processes]
    assert sum(allowed) == RATE.burst


async def test_many_requests_of_one_key_get_its_burst_and_do_not_disable_the_store(server: Server) -> None:
    failures: list[None] = []
    async with limiting(server, failures=failures) as limiter:
        tasks = await take_concurrently(limiter, "a", Rate(10, 3600, 10), 20)
        more = [await limiter.take("a", Rate(10, 3600, 10)) for _ in range(1000)]
        assert sum(each.allowed for each in [*more, *await asyncio.gather(*tasks)]) == 10
        assert (await limiter.take("b", RATE)).remaining == RATE.burst - 1
    assert failures == []


async def test_many_keys_at_once_are_all_decided_by_the_store(server: Server) -> None:
    failures: list[None] = []
    async with limiting(server, failures=failures) as limiter:
        decisions = await asyncio.gather(*(limiter.take(f"{n}", RATE) for n in range(200)))
        assert {each.remaining for each in decisions} == {RATE.burst - 1}
    assert failures == []


async def test_a_request_passes_after_the_reported_time(server: Server) -> None:
    rate = Rate(1, 1, 2)
    async with limiting(server) as limiter:
        while (refused := await limiter.take("a", rate)).allowed:
            pass
        assert refused.seconds == 1
        await asyncio.sleep(refused.seconds)
        assert (await limiter.take("a", rate)).allowed


async def test_redis_holds_one_bucket_for_each_key_until_its_burst_is_back(server: Server) -> None:
    async with limiting(server) as limiter:
        for _ in range(20):
            for name in ("a", "b"):
                await limiter.take(name, Rate(1, 60, 15))
        held = server.holds()
        assert {name.rpartition(":")[2] for name in held} == {"a", "b"}
        assert len(held) == 2
        assert all(800 < seconds <= 900 for _, seconds in held.values())


async def test_a_changed_rate_starts_afresh(server: Server) -> None:
    async with limiting(server) as limiter:
        assert [(await limiter.take("a", Rate(1, 60, 1))).allowed for _ in range(2)] == [True, False]
        assert [(await limiter.take("a", Rate(1, 60, 2))).allowed for _ in range(3)] == [True, True, False]


async def test_while_redis_hangs_each_process_enforces_its_share_and_afterwards_redis_decides(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with limiting(server, seconds=5) as limiter:
            assert (await limiter.take("a", RATE)).remaining == RATE.burst - 1
            server.stop()
            decisions = await asyncio.gather(*(limiter.take("a", RATE) for _ in range(50)))
            assert min(each.remaining for each in decisions) == RATE.burst // 2 - 50
            server.go_on()
            await until_redis_decides(limiter)
            # Requests while it hung count at most once.
            left = (await limiter.take("b", RATE)).remaining
            assert left == RATE.burst - 1
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("service")]
    assert [line.partition(" (")[0] for line in messages] == ["the rate store failed", "the rate store responds again"]
    assert PASSWORD not in caplog.text


async def until_redis_decides(limiter: RateLimiter) -> None:
    """Ask until the store decides: an unused key then has its whole burst."""
    deadline = monotonic() + SECONDS
    for number in range(1_000_000):
        await asyncio.sleep(PAUSE / 4)
        if (await limiter.take(f"new {number} {time()}", RATE)).remaining == RATE.burst - 1:
            return
        assert monotonic() < deadline


async def test_a_redis_that_is_killed_and_started_anew_is_used_again(tmp_path: Path, port: int) -> None:
    for server in on_port(port, tmp_path / "redis"):
        async with limiting(server) as limiter:
            assert (await limiter.take("a", RATE)).remaining == RATE.burst - 1
            server.process.kill()
            server.process.wait(SECONDS)
            assert (await limiter.take("a", RATE)).remaining == RATE.burst // 2 - 1
            for _ in on_port(port, tmp_path / "redis"):
                await until_redis_decides(limiter)


async def test_a_unix_socket_works(tmp_path: Path) -> None:
    with TemporaryDirectory() as short:  # the path of a socket is bounded
        path = Path(short) / "socket"
        url = f"unix://:{PASSWORD}@{path}?db=1"
        with redis_server(tmp_path / "redis", "--port", "0", "--unixsocket", path, url=url) as server:
            async with limiting(server) as limiter:
                assert (await limiter.take("a", RATE)).remaining == RATE.burst - 1


async def test_ping_succeeds_only_with_the_password(server: Server) -> None:
    store = RedisLimiter(server.url)
    await store.ping()
    await store.close()
    wrong = RedisLimiter(server.url.replace(PASSWORD, "guessed"))
    with pytest.raises(RedisFailed, match="AuthenticationError"):
        await wrong.ping()
    await wrong.close()
