"""Whole results as files, over real sockets."""

import asyncio
import csv
import io
from itertools import product
from pathlib import Path
from typing import Final

import orjson
import pytest
from pytest_aiohttp import AiohttpClient

from service.access.api_key import static_principals
from service.access.keyring import Keyring
from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import Limits
from service.web.http.content_coding import CODINGS
from service.web.http.header_fields import prefers_geo_json
from service.web.pipeline.access_log import AccessLogEntry
from service.web.pipeline.auth import KeyAuthentication
from service.web.site import make_site
from tests.baking.random_datasets import random_dataset
from tests.directory import company, store, write_directory
from tests.loaded import accepted, serve
from tests.program import SECONDS
from tests.web.live import COMPANIES, DEFAULTS, KEY, STORES, Client, ServiceServer
from tests.web.reply import ask

FILES: Final = {
    "/stores.csv": "text/csv; charset=utf-8",
    "/stores.ndjson": "application/x-ndjson",
    "/stores.geojson": "application/geo+json",
    "/companies.csv": "text/csv; charset=utf-8",
    "/companies.ndjson": "application/x-ndjson",
}
QUERIES: Final = (
    *(
        "",
        "sort_by=postal_code&sort_order=desc",
        "country=CA",
        "near=43.7,-79.4&sort_order=desc",
        "near=5,5&sort_by=name",
    ),
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
async def test_lines_csv_and_geojson_have_the_records_of_all_pages_lines_their_bytes(made: Client, query: str) -> None:
    stored = await pages(made, "/stores", query)
    lines = await ask(made, f"/stores.ndjson?{query}")
    assert lines.body == b"".join(record + b"\n" for record in stored)
    assert lines.headers["X-Total-Count"] == str(len(stored))
    expected = [orjson.loads(record) for record in stored]
    rows = list(csv.DictReader(io.StringIO((await ask(made, f"/stores.csv?{query}")).body.decode(), newline="")))
    assert rows == [{name: cell(record.get(name)) for name in rows[0]} for record in expected]
    collection = (await ask(made, f"/stores.geojson?{query}")).json()
    assert list(collection) == ["type", "features"]
    assert [feature["properties"] for feature in collection["features"]] == expected
    assert all(list(feature) == ["type", "id", "geometry", "properties"] for feature in collection["features"])


def cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


async def test_the_fields_of_a_file(client: Client) -> None:
    fields = ("Range: bytes=0-10", "Accept: application/json")
    for (path, media_type), method in product(FILES.items(), ("GET", "HEAD")):
        reply = await ask(client, f"{path}?limit=0&page_num=x&facets=1&zoom=9", *fields, method=method)
        assert (reply.status, bool(reply.body)) == (200, method == "GET")
        expected = {
            "Content-Type": media_type,
            "X-Total-Count": str(len(STORES if "stores" in path else COMPANIES)),
            "Content-Disposition": f'attachment; filename="{path[1:]}"',
            "Accept-Ranges": "none",
            "X-Ignored-Parameters": "limit, page_num, facets, zoom",
            "Transfer-Encoding": "chunked",
        }
        assert expected.items() <= dict(reply.headers).items()
        assert not {"Content-Length", "Link"} & set(reply.headers)


@pytest.mark.parametrize("coding", [coding.token for coding in CODINGS])
async def test_a_file_is_encoded_whatever_its_length(made: Client, coding: str) -> None:
    for path, query in product(FILES, ("", "?q=nothing+has+this")):
        plain, *encoded = [
            await ask(made, path + query, f"Accept-Encoding: {each}") for each in ("identity", coding, coding)
        ]
        assert [(reply.coding, reply.plain) for reply in encoded] == [(coding, plain.body)] * 2
        assert encoded[0].body == encoded[1].body
        assert encoded[0].etag == encoded[1].etag != plain.etag


AWKWARD: Final = [
    *('a "quoted" name', "a,b", "two\nlines", "cr\rlf\r\n", "=1+1", "+49 1", "-x", "@y", " space ", "a\tb"),
    *("x\u2028y", "'", "\\"),
]


async def test_a_cell_is_quoted_only_where_it_must_be(
    tmp_path: Path, snapshots: SnapshotHolder, client: Client
) -> None:
    companies = [company(f"c{number:02}", name=name) for number, name in enumerate(AWKWARD)]
    await serve(snapshots, write_directory(tmp_path / "awkward", [], companies))
    names = [each["name"] for each in (await ask(client, "/companies?fields=name")).json()["data"]]
    text = (await ask(client, "/companies.csv?fields=name,company_id")).body.decode()
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [[f"c{i:02}", name] for i, name in enumerate(names)]
    lines = (f'"{name.replace(chr(34), chr(34) * 2)}"' if set(name) & set('",\r\n') else name for name in names)
    assert text == "company_id,name\r\n" + "".join(f"c{i:02},{line}\r\n" for i, line in enumerate(lines))
    assert (await ask(client, "/companies.csv?fields=domain")).body == b"domain\r\n" + b'""\r\n' * len(AWKWARD)


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


class Log:
    """The entries of an access log."""

    def __init__(self) -> None:
        self.entries: list[AccessLogEntry] = []
        self.written = asyncio.Event()

    def write(self, entry: AccessLogEntry) -> bool:
        """Add an entry."""
        self.entries.append(entry)
        self.written.set()
        return True


async def test_it_is_logged_and_counted_at_its_end(
    tmp_path: Path, snapshots: SnapshotHolder, aiohttp_client: AiohttpClient
) -> None:
    long = [store(f"s{number}", name="x" * 4000) for number in range(4000)]  # more than the system buffers
    await serve(snapshots, write_directory(tmp_path / "made", long))
    log, ring = Log(), Keyring(static_principals([KEY]))
    site = make_site(snapshots, KeyAuthentication(ring), DEFAULTS, log=log.write)
    client: Client = await aiohttp_client(ServiceServer(site.public, Limits(write_seconds=60)))
    whole = await ask(client, "/stores.ndjson")
    await ask(client, "/stores.ndjson", method="HEAD")
    reader, writer = await asyncio.open_connection(client.host, client.port, limit=1 << 12)
    writer.write(f"GET /stores.ndjson HTTP/1.1\r\nHost: t\r\nx-api-key: {KEY}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    assert [(entry.route, entry.status, entry.bytes) for entry in log.entries] == [
        ("/stores.ndjson", 200, len(whole.body)),
        ("/stores.ndjson", 200, 0),
    ]
    log.written.clear()
    writer.transport.abort()
    async with asyncio.timeout(SECONDS):
        await log.written.wait()
    assert 0 < log.entries[-1].bytes < len(whole.body)
    text = (await ask(client, "/metrics")).body.decode()
    assert 'requests_total{method="GET",route="/stores.ndjson",status="200"} 2.0' in text


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
