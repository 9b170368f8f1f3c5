"""Whole results as files, over real sockets."""

import asyncio
from pathlib import Path
from typing import Final

import orjson
import pytest
from aiohttp import HttpVersion11

from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.http.header_fields import prefers_geo_json
from service.web.http.request import Request
from service.web.http.response import Response
from service.web.pipeline.access_log import AccessLogEntry
from service.web.site import make_site
from tests.baking.random_datasets import random_dataset
from tests.directory import store, write_directory
from tests.loaded import accepted, serve
from tests.program import SECONDS
from tests.web.live import DEFAULTS, KEY, Client, authentication, with_keys
from tests.web.reply import ask

QUERIES: Final = (
    *("", "sort_by=postal_code&sort_order=desc", "country=CA", "near=43.7,-79.4&sort_order=desc"),
    *("bbox=-80,40,10,60&is_open=true", "near=1,2&fields=store_id,distance"),
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Return a data set with more records than a batch has."""
    return accepted(random_dataset((1300, 40, 30, 7)).write(tmp_path_factory.mktemp("made")))


@pytest.fixture
async def made(many: Dataset, snapshots: SnapshotHolder, loading_client: Client) -> Client:
    await serve(snapshots, many)
    return loading_client


async def pages(client: Client, path: str, query: str) -> list[bytes]:
    """Return the records of all pages, as their bytes."""
    found: list[bytes] = []
    for number in range(1, 1000):
        page = (await ask(client, f"{path}?{query}&limit=1000&page_num={number}")).body
        data = page.partition(b'"data":[')[2].removesuffix(b"]}")
        found += data.replace(b"},{", b"}\n{").split(b"\n") if data else []
        if number >= orjson.loads(page)["num_pages"]:
            return found
    raise AssertionError("there are too many pages")


@pytest.mark.parametrize("query", QUERIES)
async def test_lines_are_the_bytes_of_the_records_of_all_pages(made: Client, query: str) -> None:
    stored = await pages(made, "/stores", query)
    lines = await ask(made, f"/stores.ndjson?{query}")
    assert lines.body == b"".join(record + b"\n" for record in stored)
    assert lines.headers["X-Total-Count"] == str(len(stored))
    assert (await ask(made, f"/stores.csv?{query}")).headers["X-Total-Count"] == str(len(stored))


async def test_a_reload_in_the_middle_changes_nothing_of_it(
    tmp_path: Path, snapshots: SnapshotHolder, made: Client
) -> None:
    expected = await ask(made, "/stores.geojson?near=1,2")
    reader, writer = await asyncio.open_connection(made.host, made.port, limit=1 << 12)
    writer.write(f"GET /stores.geojson?near=1,2 HTTP/1.0\r\nHost: t\r\nx-api-key: {KEY}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    await serve(snapshots, write_directory(tmp_path / "other", [store("only")]))
    assert (await ask(made, "/stores")).json()["total_count"] == 1
    async with asyncio.timeout(SECONDS):
        assert await reader.read() == expected.body
    writer.close()


async def test_it_is_in_flight_and_neither_logged_nor_counted_until_it_ends(
    made: Client, snapshots: SnapshotHolder
) -> None:
    entries = list[AccessLogEntry]()

    def write(entry: AccessLogEntry) -> bool:
        entries.append(entry)
        return True

    app = make_site(snapshots, authentication([KEY]), DEFAULTS, log=write).public
    whole = await ask(made, "/stores.ndjson")
    for pieces in (1, 10_000):
        line = b"GET /stores.ndjson HTTP/1.1"
        response = app(Request(line, "GET", "/stores.ndjson", "", HttpVersion11, with_keys(KEY), None))
        response = response if isinstance(response, Response) else await response()
        stream = response.answer.stream
        assert stream is not None
        assert (snapshots.slot.requests_in_flight(), len(entries)) == (1, pieces != 1)
        taken = sum(len(piece) for _ in range(pieces) if (piece := stream.take()) is not None)
        stream.close()
        assert (snapshots.slot.requests_in_flight(), entries[-1].bytes) == (0, taken)
    assert 0 < entries[0].bytes < entries[1].bytes == len(whole.body)
    assert [(entry.route, entry.status) for entry in entries] == [("/stores.ndjson", 200)] * 2


ACCEPTED: Final = {
    "application/geo+json": True,
    "Application/Geo+JSON;charset=utf-8": True,
    "application/geo+json;q=0": False,
    "application/geo+json;q=0.5, application/json;q=0.5": True,
    "application/geo+json;q=0.5, application/json": False,
    "application/geo+json;q=0.5, */*": False,
    "application/geo+json;q=0.5, */*;q=0.4": True,
    "application/geo+json;q=0.5, application/*;q=0.6, */*;q=0.1": False,
    "application/geo+json;q=0.5, application/json;q=0.1, application/*;q=0.6": True,
    "application/*": False,
    "*/*": False,
    "text/html, application/geo+json;profile=x;q=0.3": True,
}


@pytest.mark.parametrize(("accept", "wanted"), ACCEPTED.items())
def test_geojson_is_preferred_if_it_is_named_and_not_below_json(accept: str, *, wanted: bool) -> None:
    assert prefers_geo_json(accept) is wanted


async def test_only_a_page_of_stores_may_be_geojson(client: Client) -> None:
    for target, wanted in (("/stores", True), ("/companies", False), ("/stores/s1", False), ("/stores?limit=0", False)):
        reply = await ask(client, target, "Accept: application/geo+json")
        assert reply.headers["Content-Type"] == ("application/geo+json" if wanted else "application/json")
        assert (next(iter(reply.json())) == "type") is wanted
