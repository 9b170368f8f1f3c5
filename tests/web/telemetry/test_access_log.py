"""The access log: its lines and their members."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import msgspec
import orjson
import pytest
from hypothesis import given, strategies as st
from pytest_aiohttp import AiohttpClient

from service.access.api_key import new_key
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.access_log import AccessLogEntry, encode_lines, loggable_path, timestamp
from service.web.site import make_site
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.connections.harness import Wire
from tests.web.live import DEFAULTS, HEADERS, KEY, Client, ServiceServer, authentication, exchange
from tests.web.reply import ask

FIELDS = (
    "time", "method", "route", "path", "status", "bytes", "duration", "key", "request_id", "trace_id", "client",
)  # fmt: skip


class Lines(list[bytes]):
    """An access log in memory, with room for so many lines."""

    room = 1000

    def write(self, entry: AccessLogEntry) -> bool:
        if len(self) >= self.room:
            return False
        self.append(encode_lines([entry]))
        return True

    @property
    def last(self) -> dict[str, Any]:
        entry: dict[str, Any] = orjson.loads(self[-1])
        return entry


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
async def logged(snapshots: SnapshotHolder, data: Any, aiohttp_client: AiohttpClient, lines: Lines) -> Client:
    """Return a client of a service with an access log."""
    await serve(snapshots, data)
    return await aiohttp_client(
        ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS, log=lines.write).public)
    )


async def test_a_request_is_one_line_with_all_members(logged: Client, lines: Lines) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {**HEADERS, "X-Request-Id": "mine", "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    before = datetime.now(UTC) - timedelta(microseconds=1)
    async with logged.get("/companies/acme", headers=headers) as response:
        length = len(await response.read())
    entry = lines.last
    assert len(lines) == 1
    assert tuple(entry) == FIELDS
    assert before <= datetime.fromisoformat(entry.pop("time")) <= datetime.now(UTC)
    assert entry.pop("duration") > 0
    assert entry == {
        "method": "GET",
        "route": "/companies/{company_id}",
        "path": "/companies/acme",
        "status": 200,
        "bytes": length,
        "key": "key 1",
        "request_id": "mine",
        "trace_id": trace,
        "client": "127.0.0.1",
    }


async def test_every_response_is_logged_without_the_query(logged: Client, lines: Lines) -> None:
    for line, route, status in (
        ("HEAD /stores", "/stores", 200),
        ("GET /stores?limit=0&city=private", "/stores", 422),
        ("POST /stores", "/stores", 405),
        ("GET /nope", "unmatched", 404),
        ("GET /stores/?city=private", "unmatched", 307),
        ("GET /health", "/health", 200),
        ("GET /stores", "/stores", 304),
    ):
        method, target = line.split()
        answer = await ask(logged, target, *(["If-None-Match: *"] if status == 304 else []), method=method)
        entry = lines.last
        assert (entry["method"], entry["route"], entry["status"]) == (method, route, status)
        assert (entry["path"], entry["bytes"]) == (target.partition("?")[0], len(answer.body))
    assert b"private" not in b"".join(lines)


async def test_an_invalid_key_is_not_logged_and_has_no_name(logged: Client, lines: Lines) -> None:
    for headers in ({}, {"x-api-key": "wrong-secret"}):
        async with logged.get("/stores", headers=headers):
            assert (lines.last["status"], lines.last["key"]) == (401, None)
    assert b"wrong-secret" not in b"".join(lines)


async def test_a_key_in_a_path_is_not_logged(logged: Client, lines: Lines) -> None:
    key = "sd_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
    await ask(logged, f"/companies/{key}")
    await ask(logged, f"/{key}/x")
    await ask(logged, f"/companies/%73%64%5F{key[3:]}")
    assert key.encode() not in b"".join(lines)
    assert lines.last["path"] == "/companies/sd_[redacted]"


async def test_a_malformed_request_is_logged_without_its_content(logged: Client, lines: Lines) -> None:
    await exchange(logged, b"GET /secret HTTP/9.9 secret\r\nx-api-key secret\r\n\r\n")
    entry = lines.last
    assert (entry["method"], entry["path"], entry["route"], entry["status"]) == (None, None, "unmatched", 400)
    assert b"secret" not in lines[-1]


async def test_a_request_with_a_method_of_any_name_is_logged_with_its_path_and_without_the_name(
    logged: Client, lines: Lines
) -> None:
    for method in ("PROPFIND", "SECRET", "other"):
        assert (await ask(logged, "/stores", method=method)).status == 405
        assert (lines.last["method"], lines.last["path"], lines.last["route"]) == (None, "/stores", "/stores")


@pytest.mark.parametrize("name", [None, "", b"\xff\n", "10.0.0.1", "sd_0123456789abcdefghij"])
async def test_a_client_on_a_unix_socket_is_logged_as_unix_whatever_its_name(lines: Lines, name: object) -> None:
    settings = msgspec.structs.replace(DEFAULTS, trusted_proxy=("10.0.0.0/8",))
    wire = Wire(make_site(SnapshotHolder(), authentication([KEY]), settings, log=lines.write).public, peer=name)
    await wire.send(b"GET /health HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 8.8.8.8\r\n\r\n")
    assert (wire.statuses, lines.last["client"]) == ([200], "unix")


async def test_dropped_lines_are_counted_and_block_nothing(logged: Client, lines: Lines) -> None:
    lines.room = 1
    for _ in range(3):
        async with logged.get("/stores", headers=HEADERS) as response:
            assert response.status == 200
    async with logged.get("/metrics") as response:
        assert "store_directory_access_log_dropped_lines_total 2.0\n" in await response.text()


@given(st.text())
def test_a_path_is_logged_as_ascii_of_bounded_length(path: str) -> None:
    shown = loggable_path(path)
    assert shown.isascii()
    assert len(shown) <= 10 * 1024


@pytest.mark.parametrize("layers", [0, 1, 2, 3, 4])
def test_a_key_in_a_path_is_masked_even_if_percent_encoded_several_times(layers: int) -> None:
    written = key = new_key()
    for _ in range(layers):
        written = "".join(f"%{ord(character):02X}" for character in written)
    path = loggable_path(f"/companies/{written}/x")
    for _ in range(layers):
        path = unquote(path)
    assert key not in path


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - of UTC
def test_timestamps_are_exact_to_the_microsecond(moment: datetime) -> None:
    microseconds = (moment - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)
    assert datetime.fromisoformat(timestamp(microseconds * 1000)) == moment


async def test_server_timing_has_the_duration_of_a_response_if_it_is_set(
    client: Client, site_client: SiteClient
) -> None:
    assert "Server-Timing" not in (await ask(client, "/stores")).headers
    answer = await ask(await site_client(server_timing=True), "/stores")
    match = re.fullmatch(r"app;dur=(\d+\.\d{3})", answer.headers["Server-Timing"])
    assert match is not None
    assert float(match[1]) > 0
