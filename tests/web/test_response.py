"""Responses on the wire: heads, connections, and clients that are slow or disconnect."""

import asyncio
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time

import pytest

from service.publishing.snapshot import SnapshotHolder
from service.web.http.header_fields import header_lines
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.web.live import COMPANIES, HEADERS, KEY, Client


def request(line: str, *fields: str) -> bytes:
    return "".join(f"{field}\r\n" for field in (line, "Host: x", f"x-api-key: {KEY}", *fields, "")).encode()


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


async def _parts(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while part := await reader.read(65536):
        yield part


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\0", "é", "a\x7f"])
def test_header_injection_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        header_lines({"Location": value})
