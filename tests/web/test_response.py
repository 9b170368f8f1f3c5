"""Responses on the wire: heads, connections, and clients that are slow or disconnect."""

import asyncio
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time

import pytest
from pytest_aiohttp import AiohttpClient

from service.publishing.snapshot import SnapshotHolder
from service.web.http.header_fields import header_lines
from service.web.site import make_site
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.program import SECONDS
from tests.web.live import COMPANIES, DEFAULTS, HEADERS, KEY, Client, ServiceServer, authentication, exchange


def request(line: str, *fields: str) -> bytes:
    return "".join(f"{field}\r\n" for field in (line, "Host: x", f"x-api-key: {KEY}", *fields, "")).encode()


@pytest.mark.parametrize(
    ("line", "fields", "connection"),
    [
        ("GET /stores HTTP/1.1", ("Connection: close",), b"\r\nConnection: close\r\n"),
        ("GET /stores HTTP/1.0", (), None),
    ],
)
async def test_the_connection_closes_after_the_last_response(
    client: Client, line: str, fields: tuple[str, ...], connection: bytes | None
) -> None:
    head, _, body = (await exchange(client, request(line, *fields))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert connection is None or connection in head + b"\r\n"


async def test_a_response_has_its_date(client: Client) -> None:
    before = int(time())
    response = await client.get("/health")
    assert before <= parsedate_to_datetime(response.headers["Date"]).timestamp() <= time()


@pytest.mark.parametrize("limit", [3, 1000])
async def test_short_and_long_responses_arrive_complete_at_a_slow_client(
    client: Client, snapshots: SnapshotHolder, folder: Path, limit: int
) -> None:
    write_directory(folder, [store(f"s{n}", name="long " * 1000) for n in range(1000)], COMPANIES)
    await serve(snapshots, folder)
    expected = await (await client.get(f"/stores?limit={limit}", headers=HEADERS)).read()
    reader, writer = await asyncio.open_connection(client.host, client.port, limit=2)
    writer.write(request(f"GET /stores?limit={limit} HTTP/1.1", "Connection: close"))
    received = b"".join([part async for part in _parts(reader)])
    writer.close()
    assert received.partition(b"\r\n\r\n")[2] == expected
    assert len(expected) > 5000 * limit


async def test_the_current_response_arrives_complete_when_the_server_closes(
    snapshots: SnapshotHolder, folder: Path, aiohttp_client: AiohttpClient
) -> None:
    write_directory(folder, [store(f"s{n}", name="long " * 1000) for n in range(1000)], COMPANIES)
    await serve(snapshots, folder)
    server = ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS).public, shutdown_seconds=SECONDS)
    client: Client = await aiohttp_client(server)
    expected = await (await client.get("/stores", headers=HEADERS)).read()
    reader, writer = await asyncio.open_connection(client.host, client.port, limit=2)
    writer.write(request("GET /stores HTTP/1.1", "Connection: close"))
    begin = await reader.read(1)
    closing = asyncio.create_task(server.close())
    assert await asyncio.wait([closing], timeout=0.1) == (set(), {closing})  # the process ends with it
    received = b"".join([begin, *[part async for part in _parts(reader)]])
    writer.close()
    await closing
    assert received.partition(b"\r\n\r\n")[2] == expected


async def _parts(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while part := await reader.read(65536):
        yield part


async def test_a_client_that_disconnects_disturbs_no_other(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(5):
        _, writer = await asyncio.open_connection(client.host, client.port)
        writer.write(request("GET /stores HTTP/1.1") * 50)
        writer.transport.abort()
    assert (await client.get("/stores", headers=HEADERS)).status == 200
    assert not caplog.records


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\0", "é", "a\x7f"])
def test_header_injection_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        header_lines({"Location": value})
