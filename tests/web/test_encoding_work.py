"""The work of encoding: off the event loop where it is long, and done once while its outcome is kept."""

import asyncio
import gc
import random
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from service.replica.replica import Replica
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import Client
from tests.web.negotiation import CODINGS
from tests.web.reply import Reply, ask, ask_all, request

SECONDS = 10
MIB = 1 << 20
# One page of 1,000 stores, 20 pages of 50; noise that packs to half of it.
NOISE = random.Random(5)
STORES = [store(f"s{number:04}", name=NOISE.randbytes(1500).hex()) for number in range(1000)]


class Workers(ThreadPoolExecutor):
    """One thread; counts what it is given."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self.given = 0

    def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
        self.given += 1
        return super().submit(*arguments, **named)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_directory(tmp_path_factory.mktemp("noise") / "data", STORES)


@pytest.fixture
def data(folder: Path) -> Path:
    return folder


@pytest.fixture
async def workers() -> Workers:
    """Return the thread that does what the event loop shall not wait for."""
    workers = Workers()
    asyncio.get_running_loop().set_default_executor(workers)
    return workers


@pytest.fixture
def held(workers: Workers) -> Iterator[Event]:
    """Return what ends the work that keeps the thread from any other."""
    end = Event()
    workers.submit(end.wait, SECONDS)
    yield end
    end.set()


async def pages(client: Client, *, limit: int = 50) -> list[Reply]:
    """Return all pages, packed."""
    numbers = range(1, 1000 // limit + 1)
    return [await ask(client, f"/stores?limit={limit}&page_num={page}", "Accept-Encoding: zstd") for page in numbers]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_others_are_answered_while_a_long_answer_is_encoded(
    client: Client, held: Event, coding: str, method: str
) -> None:
    target = "/stores?limit=50"
    long = asyncio.create_task(ask(client, target, f"Accept-Encoding: {coding}", method=method))
    for other in ("/health", "/companies/acme", target, "/health"):
        assert (await ask(client, other)).status == 200
    assert not long.done()
    held.set()
    answer = await long
    assert (answer.coding, answer.status) == (coding, 200)


async def test_answers_on_one_connection_keep_their_order_while_one_is_encoded(client: Client, held: Event) -> None:
    long = request("/stores?limit=50", "Accept-Encoding: gzip")
    short, last = request("/companies/acme"), request("/health", "Connection: close")
    asked = asyncio.create_task(ask_all(client, long, short, last))
    assert (await ask(client, "/health")).status == 200
    assert not asked.done()
    held.set()
    first, second, third = await asked
    assert (first.coding, second.json()["company_id"], third.json()) == ("gzip", "acme", {"status": "ok"})


async def test_short_answers_wait_for_no_thread(client: Client, held: Event) -> None:
    for coding in CODINGS:
        assert (await ask(client, "/stores?limit=1", f"Accept-Encoding: {coding}")).coding == coding
    assert not held.is_set()


async def test_who_goes_away_while_an_answer_is_encoded_disturbs_nobody(
    client: Client, held: Event, caplog: pytest.LogCaptureFixture
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    _, gone = await asyncio.open_connection(client.host, client.port)
    gone.write(request(target, field))
    assert (await ask(client, "/health")).status == 200
    gone.transport.abort()
    held.set()
    answer = await ask(client, target, field)
    assert answer.plain == (await ask(client, target)).body
    assert not caplog.records


async def test_an_answer_that_is_encoded_while_the_data_changes_is_of_the_data_before(
    client: Client, replica: Replica, held: Event, tmp_path: Path
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    before = await ask(client, target)
    asked = asyncio.create_task(ask(client, target, field))
    assert (await ask(client, "/health")).status == 200
    other = write_directory(tmp_path / "other", [store(f"o{number}", name="x" * 1000) for number in range(50)])
    turned = asyncio.create_task(serve(replica, other))
    after = await ask(client, target)
    assert not asked.done()
    held.set()
    answer = await asked
    await turned
    assert (answer.plain, answer.etag) == (before.body, f'{before.etag[:-1]}-gzip"')
    assert answer.headers["X-Dataset-Version"] == before.headers["X-Dataset-Version"]
    again = await ask(client, target, field)
    assert again.plain == after.body != before.body
    assert again.etag == f'{after.etag[:-1]}-gzip"'


async def test_an_answer_is_encoded_once_while_it_is_kept(site_client: SiteClient, workers: Workers) -> None:
    client = await site_client(encoded_bytes=32 * MIB)
    before = workers.given
    first = await pages(client)
    given = workers.given
    assert given - before == len(first)
    assert [answer.body for answer in await pages(client)] == [answer.body for answer in first]
    assert workers.given == given
    assert (await ask(client, "/stores?x=1&page_num=+1&limit=50", "Accept-Encoding: *")).body == first[0].body


async def test_without_a_cache_an_answer_is_encoded_each_time(site_client: SiteClient, workers: Workers) -> None:
    client = await site_client(encoded_bytes=0)
    given = workers.given
    first, again = await pages(client), await pages(client)
    assert [answer.body for answer in first] == [answer.body for answer in again]
    assert workers.given - given == 2 * len(first)


async def test_no_more_is_kept_than_allowed(site_client: SiteClient, workers: Workers) -> None:
    client = await site_client(encoded_bytes=MIB)
    first = await pages(client)
    assert sum(len(answer.body) for answer in first) > MIB
    kept = 0
    for number, answer in enumerate(first, start=1):
        given = workers.given
        await ask(client, f"/stores?limit=50&page_num={number}", "Accept-Encoding: zstd")
        kept += len(answer.body) if workers.given == given else 0
    assert kept <= MIB


async def test_what_was_asked_for_last_is_kept(site_client: SiteClient, workers: Workers) -> None:
    client = await site_client(encoded_bytes=MIB)
    await pages(client)
    given = workers.given
    await ask(client, "/stores?limit=50&page_num=20", "Accept-Encoding: zstd")
    assert workers.given == given


async def test_an_answer_larger_than_all_that_may_be_kept_is_answered(site_client: SiteClient) -> None:
    client = await site_client(encoded_bytes=MIB)
    for _ in range(2):
        answer = await ask(client, "/stores", "Accept-Encoding: gzip")
        assert len(answer.body) > MIB
        assert len(answer.json()["data"]) == 1000


async def test_what_is_kept_goes_with_the_data_at_a_reload(
    client: Client, replica: Replica, workers: Workers, tmp_path: Path, data: Path
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: br"
    assert replica.current is not None
    table = weakref.ref(replica.current.dataset.stores)
    before = await ask(client, target, field)
    await serve(replica, write_directory(tmp_path / "other", [], [company()]))
    assert (await ask(client, target, field)).json()["data"] == []
    gc.collect()
    assert table() is None
    await serve(replica, data)
    given = workers.given
    assert (await ask(client, target, field)).body == before.body
    assert workers.given == given + 1
