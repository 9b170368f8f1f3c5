"""The work of encoding: off the event loop where it is long, and done once while its outcome is kept."""

import asyncio
import gc
import random
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.replica.replica import Replica
from service.web import coding
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.codec import Codec
from tests.web.conftest import SiteClient
from tests.web.live import Client
from tests.web.negotiation import CODINGS
from tests.web.reply import Reply, ask, ask_all, request

MIB = 1 << 20
# One page of 1,000 stores, 20 pages of 50; noise that packs to half of it.
NOISE = random.Random(5)
STORES = [store(f"s{number:04}", name=NOISE.randbytes(1500).hex()) for number in range(1000)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_directory(tmp_path_factory.mktemp("noise") / "data", STORES)


@pytest.fixture
def data(folder: Path) -> Path:
    return folder


@pytest.fixture
def codec(monkeypatch: pytest.MonkeyPatch) -> Iterator[Codec]:
    codec = Codec()
    monkeypatch.setattr(coding, "CODINGS", codec.codings)
    coding.acceptable.cache_clear()
    yield codec
    codec.open.set()
    coding.acceptable.cache_clear()


@pytest.fixture
def held(codec: Codec) -> Codec:
    """Return what holds up long bodies until it is opened."""
    codec.open.clear()
    return codec


async def pages(client: Client, *, limit: int = 50) -> list[Reply]:
    """Return all pages, packed."""
    numbers = range(1, 1000 // limit + 1)
    return [await ask(client, f"/stores?limit={limit}&page_num={page}", "Accept-Encoding: zstd") for page in numbers]


@pytest.mark.parametrize("accepted", CODINGS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_others_are_answered_while_a_long_answer_is_encoded(
    client: Client, held: Codec, accepted: str, method: str
) -> None:
    target = "/stores?limit=50"
    long = asyncio.create_task(ask(client, target, f"Accept-Encoding: {accepted}", method=method))
    await held.holds_one()
    for other in ("/health", "/companies/acme", target):
        assert (await ask(client, other)).status == 200
    assert not long.done()
    held.open.set()
    answer = await long
    assert (answer.coding, answer.status) == (accepted, 200)


async def test_answers_on_one_connection_keep_their_order_while_one_is_encoded(client: Client, held: Codec) -> None:
    long = request("/stores?limit=50", "Accept-Encoding: gzip")
    short, last = request("/companies/acme"), request("/health", "Connection: close")
    asked = asyncio.create_task(ask_all(client, long, short, last))
    await held.holds_one()
    held.open.set()
    first, second, third = await asked
    assert (first.coding, second.json()["company_id"], third.json()) == ("gzip", "acme", {"status": "ok"})


@pytest.mark.parametrize(("limit", "in_a_thread"), [(1, False), (10, False), (50, True), (1000, True)])
async def test_only_long_answers_are_encoded_in_a_thread(
    client: Client, codec: Codec, limit: int, *, in_a_thread: bool
) -> None:
    for accepted in CODINGS:
        assert (await ask(client, f"/stores?limit={limit}", f"Accept-Encoding: {accepted}")).coding == accepted
    assert [thread != threading.get_ident() for thread in codec.threads] == [in_a_thread] * len(CODINGS)


async def test_who_goes_away_while_an_answer_is_encoded_disturbs_nobody(
    client: Client, held: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    _, gone = await asyncio.open_connection(client.host, client.port)
    gone.write(request(target, field))
    await held.holds_one()
    gone.transport.abort()
    held.open.set()
    answer = await ask(client, target, field)
    assert answer.plain == (await ask(client, target)).body
    assert not caplog.records


async def test_an_answer_that_is_encoded_while_the_data_changes_is_of_the_data_before(
    client: Client, replica: Replica, held: Codec, tmp_path: Path
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    before = await ask(client, target)
    asked = asyncio.create_task(ask(client, target, field))
    await held.holds_one()
    other = write_directory(tmp_path / "other", [store(f"o{number}", name="x" * 1000) for number in range(50)])
    await serve(replica, other)
    after = await ask(client, target)
    assert not asked.done()
    held.open.set()
    answer = await asked
    assert answer.plain == before.body
    assert answer.headers["X-Dataset-Version"] == before.headers["X-Dataset-Version"]
    again = await ask(client, target, field)
    assert again.plain == after.body != before.body
    assert len({before.etag, answer.etag, after.etag, again.etag}) == 4


async def test_an_answer_is_encoded_once_while_it_is_kept(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(encoded_bytes=32 * MIB)
    first = await pages(client)
    before = codec.bodies
    assert before == len(first)
    assert [answer.body for answer in await pages(client)] == [answer.body for answer in first]
    assert codec.bodies == before
    assert (await ask(client, "/stores?x=1&page_num=+1&limit=50", "Accept-Encoding: *")).body == first[0].body


@pytest.mark.parametrize("limit", [1, 10, 50])
async def test_an_answer_that_is_encoded_on_the_event_loop_is_cached_like_one_of_a_thread(
    client: Client, codec: Codec, limit: int
) -> None:
    replies = [await ask(client, f"/stores?limit={limit}", "Accept-Encoding: br") for _ in range(3)]
    assert len({reply.body for reply in replies}) == codec.bodies == 1


async def test_what_a_client_sends_counts_as_cached_bytes(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(encoded_bytes=MIB)
    city, field = "x" * 7000, "Accept-Encoding: gzip, identity;q=0"
    for number in range(200):  # of small answers, with 1.4 MB of query strings
        await ask(client, f"/stores?limit=1&city={city}{number}&city=Toronto", field)
    before = codec.bodies
    await ask(client, f"/stores?limit=1&city={city}0&city=Toronto", field)
    assert codec.bodies == before + 1
    await ask(client, f"/stores?limit=1&city={city}199&city=Toronto", field)
    assert codec.bodies == before + 1


async def test_without_a_cache_an_answer_is_encoded_each_time(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(encoded_bytes=0)
    first, again = await pages(client), await pages(client)
    assert [answer.body for answer in first] == [answer.body for answer in again]
    assert codec.bodies == 2 * len(first)


@pytest.mark.parametrize("path", ["/openapi.json", "/docs/swagger-ui-bundle.js"])
async def test_a_document_is_encoded_once_whatever_is_cached(site_client: SiteClient, codec: Codec, path: str) -> None:
    client = await site_client(encoded_bytes=0)
    replies = [await ask(client, path, f"Accept-Encoding: {accepted}") for accepted in 3 * CODINGS]
    assert len({reply.body for reply in replies}) == codec.bodies == len(CODINGS)


async def test_no_more_is_kept_than_allowed(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(encoded_bytes=MIB)
    first = await pages(client)
    assert sum(len(answer.body) for answer in first) > MIB
    kept = 0
    for number, answer in enumerate(first, start=1):
        before = codec.bodies
        await ask(client, f"/stores?limit=50&page_num={number}", "Accept-Encoding: zstd")
        kept += len(answer.body) if codec.bodies == before else 0
    assert kept <= MIB


async def test_what_was_asked_for_last_is_kept(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(encoded_bytes=MIB)
    await pages(client)
    before = codec.bodies
    await ask(client, "/stores?limit=50&page_num=20", "Accept-Encoding: zstd")
    assert codec.bodies == before


async def test_an_answer_larger_than_all_that_may_be_kept_is_answered(site_client: SiteClient) -> None:
    client = await site_client(encoded_bytes=MIB)
    for _ in range(2):
        answer = await ask(client, "/stores", "Accept-Encoding: gzip")
        assert len(answer.body) > MIB
        assert len(answer.json()["data"]) == 1000


async def test_an_encoded_answer_outlives_its_data_and_serves_it_again_when_it_returns(
    client: Client, replica: Replica, codec: Codec, tmp_path: Path, data: Path
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
    bodies = codec.bodies
    assert (await ask(client, target, field)).body == before.body
    assert codec.bodies == bodies


async def test_an_answer_that_two_ask_for_at_once_is_the_same_for_both_and_for_who_comes_later(
    client: Client, held: Codec
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    asked = [asyncio.create_task(ask(client, target, field)) for _ in range(2)]
    while held.bodies < len(asked):  # noqa: ASYNC110 - both are being encoded; no thread tells of its start
        await asyncio.sleep(0.01)
    held.open.set()
    one, other = await asyncio.gather(*asked)
    assert one.body == other.body == (await ask(client, target, field)).body
    assert held.bodies == 2
