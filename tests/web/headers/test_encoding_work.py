"""Encoding: off the event loop if the body is long, and done once while the result is cached."""

import asyncio
import gc
import random
import threading
import weakref
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.http import content_coding as coding
from tests.directory import company, store, write_directory
from tests.loaded import accepted, serve
from tests.web.codec import Codec
from tests.web.conftest import SiteClient
from tests.web.live import Client
from tests.web.negotiation import CODINGS
from tests.web.reply import Reply, ask

MIB = 1 << 20
# One page of 1,000 stores, 20 pages of 50; random hex that compresses to half its size.
NOISE = random.Random(5)
STORES = [store(f"s{number:04}", name=NOISE.randbytes(1500).hex()) for number in range(1000)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_directory(tmp_path_factory.mktemp("noise") / "data", STORES)


@pytest.fixture(scope="module")
def data(folder: Path) -> Dataset:
    return accepted(folder)


@pytest.fixture
def codec(monkeypatch: pytest.MonkeyPatch) -> Iterator[Codec]:
    codec = Codec()
    monkeypatch.setattr(coding, "CODINGS", codec.codings)
    coding.acceptable.cache_clear()
    yield codec
    codec.open.set()
    coding.acceptable.cache_clear()


@pytest.fixture
def blocked(codec: Codec) -> Codec:
    """Return a codec that blocks long bodies until it is opened."""
    codec.open.clear()
    return codec


async def pages(client: Client, *, limit: int = 50) -> list[Reply]:
    """Return all pages, compressed."""
    numbers = range(1, 1000 // limit + 1)
    return [await ask(client, f"/stores?limit={limit}&page_num={page}", "Accept-Encoding: zstd") for page in numbers]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_other_requests_are_answered_while_a_long_body_is_encoded(
    client: Client, blocked: Codec, method: str
) -> None:
    target = "/stores?limit=50"
    long = asyncio.create_task(ask(client, target, "Accept-Encoding: br", method=method))
    await blocked.wait_for_long_body()
    for other in ("/health", "/companies/acme", target):
        assert (await ask(client, other)).status == 200
    assert not long.done()
    blocked.open.set()
    answer = await long
    assert (answer.coding, answer.status) == ("br", 200)


async def test_only_long_bodies_are_encoded_in_a_thread_and_all_are_kept(client: Client, codec: Codec) -> None:
    for limit, token in product((1, 10, 50), CODINGS):
        replies = [await ask(client, f"/stores?limit={limit}", f"Accept-Encoding: {token}") for _ in range(3)]
        assert {reply.coding for reply in replies} == {token}
        assert len({reply.body for reply in replies}) == 1
    in_threads = [thread != threading.get_ident() for thread in codec.threads]
    assert in_threads == [*[False] * 2 * len(CODINGS), *[True] * len(CODINGS)]


async def test_a_body_encoded_during_a_reload_is_of_the_previous_data(
    client: Client, snapshots: SnapshotHolder, blocked: Codec, tmp_path: Path
) -> None:
    target, field = "/stores?limit=50", "Accept-Encoding: gzip"
    before = await ask(client, target)
    task = asyncio.create_task(ask(client, target, field))
    await blocked.wait_for_long_body()
    other = write_directory(tmp_path / "other", [store(f"o{number}", name="x" * 1000) for number in range(50)])
    await serve(snapshots, other)
    after = await ask(client, target)
    assert not task.done()
    blocked.open.set()
    answer = await task
    assert answer.plain == before.body
    assert answer.headers["X-Dataset-Version"] == before.headers["X-Dataset-Version"]
    again = await ask(client, target, field)
    assert again.plain == after.body != before.body
    assert len({before.etag, answer.etag, after.etag, again.etag}) == 4


async def test_the_cache_counts_the_memory_of_its_keys(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(response_cache=1)
    city, field = "x" * 7000, "Accept-Encoding: gzip, identity;q=0"
    for number in range(200):  # of small answers, with 1.4 MB of query strings
        await ask(client, f"/stores?limit=1&city={city}{number}&city=Toronto", field)
    before = codec.bodies
    await ask(client, f"/stores?limit=1&city={city}0&city=Toronto", field)
    assert codec.bodies == before + 1
    await ask(client, f"/stores?limit=1&city={city}199&city=Toronto", field)
    assert codec.bodies == before + 1


async def test_without_a_cache_a_body_is_encoded_each_time(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(response_cache=0)
    first, again = await pages(client), await pages(client)
    assert [answer.body for answer in first] == [answer.body for answer in again]
    assert codec.bodies == 2 * len(first)


async def test_a_document_is_encoded_once_whatever_the_cache_size(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(response_cache=0)
    for number, path in enumerate(("/openapi.json", "/docs/swagger-ui-bundle.js"), start=1):
        replies = [await ask(client, path, f"Accept-Encoding: {accepted}") for accepted in 3 * CODINGS]
        assert len({reply.body for reply in replies}) == len(CODINGS)
        assert codec.bodies == number * len(CODINGS)


async def test_the_cache_keeps_the_last_bodies_up_to_its_limit(site_client: SiteClient, codec: Codec) -> None:
    client = await site_client(response_cache=1)
    first = await pages(client)
    assert sum(len(answer.body) for answer in first) > MIB
    cached = []
    for number, answer in reversed([*enumerate(first, start=1)]):
        before = codec.bodies
        await ask(client, f"/stores?limit=50&page_num={number}", "Accept-Encoding: zstd")
        cached += [len(answer.body)] if codec.bodies == before else []
        if number == len(first):
            assert len(cached) == 1
    assert sum(cached) <= MIB
    for _ in range(2):  # a body that is larger than the cache
        answer = await ask(client, "/stores", "Accept-Encoding: gzip")
        assert len(answer.body) > MIB
        assert len(answer.json()["data"]) == 1000


async def test_a_kept_answer_ends_with_its_data_and_does_not_hold_the_table(
    loading_client: Client, snapshots: SnapshotHolder, tmp_path: Path, folder: Path
) -> None:
    client, target, field = loading_client, "/stores?limit=50", "Accept-Encoding: br"
    await serve(snapshots, folder)
    assert snapshots.current is not None
    table = weakref.ref(snapshots.current.dataset.stores)
    await ask(client, target, field)
    await ask(client, "/stores?limit=1")  # whose row is mapped
    await serve(snapshots, write_directory(tmp_path / "other", [], [company()]))
    gc.collect()
    assert table() is None
    assert (await ask(client, target, field)).json()["data"] == []
