"""The access log: what stands in it of each request."""

import asyncio
import re
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import orjson
import pytest
from aiohttp.web import UnixSite
from hypothesis import given, strategies as st
from pytest_aiohttp import AiohttpClient

from service.keys.key import new_key
from service.replica.replica import Replica
from service.web.access import shown_path, timestamp
from service.web.auth import keyring
from service.web.connections.server import runner
from service.web.forwarding import read_forwarding
from service.web.site import make_site
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import HEADERS, KEY, POLICY, Client, ServiceServer, ask, exchange

FIELDS = (
    "time", "method", "route", "path", "status", "bytes", "duration", "key", "request_id", "trace_id", "client",
)  # fmt: skip


class Taken(list[bytes]):
    """Lines that are taken, up to so many."""

    room = 1000

    def write(self, line: bytes) -> bool:
        if len(self) >= self.room:
            return False
        self.append(line)
        return True

    @property
    def last(self) -> dict[str, Any]:
        told: dict[str, Any] = orjson.loads(self[-1])
        return told


@pytest.fixture
def lines() -> Taken:
    return Taken()


@pytest.fixture
async def logged(replica: Replica, data: Any, aiohttp_client: AiohttpClient, lines: Taken) -> Client:
    """Return a client of a service that keeps an access log."""
    await serve(replica, data)
    return await aiohttp_client(ServiceServer(make_site(replica, keyring([KEY]), POLICY, log=lines).public))


async def test_a_request_is_one_line_that_tells_all_of_it(logged: Client, lines: Taken) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {**HEADERS, "X-Request-Id": "mine", "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    before = datetime.now(UTC) - timedelta(microseconds=1)
    async with logged.get("/companies/acme", headers=headers) as response:
        length = len(await response.read())
    told = lines.last
    assert len(lines) == 1
    assert tuple(told) == FIELDS
    assert before <= datetime.fromisoformat(told.pop("time")) <= datetime.now(UTC)
    assert told.pop("duration") > 0
    assert told == {
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


@pytest.mark.parametrize(
    ("asked", "route", "status"),
    [
        ("HEAD /stores", "/stores", 200),
        ("GET /stores?limit=0&city=private", "/stores", 422),
        ("POST /stores", "/stores", 405),
        ("GET /nope", "unmatched", 404),
        ("GET /stores/?city=private", "unmatched", 307),
        ("GET /health", "/health", 200),
    ],
)
async def test_whatever_is_answered_stands_in_it_but_no_query(
    logged: Client, lines: Taken, asked: str, route: str, status: int
) -> None:
    method, target = asked.split()
    answer = await ask(logged, target, method=method)
    told = lines.last
    assert (told["method"], told["route"], told["status"]) == (method, route, status)
    assert told["path"] == target.partition("?")[0]
    assert told["bytes"] == len(answer.partition(b"\r\n\r\n")[2])
    assert b"private" not in lines[-1]


async def test_an_answer_not_modified_sent_nothing(logged: Client, lines: Taken) -> None:
    async with logged.get("/stores", headers=HEADERS) as response:
        tag = response.headers["ETag"]
    async with logged.get("/stores", headers={**HEADERS, "If-None-Match": tag}):
        assert (lines.last["status"], lines.last["bytes"]) == (304, 0)


async def test_who_has_no_valid_key_has_no_name_and_no_key_is_told(logged: Client, lines: Taken) -> None:
    for headers in ({}, {"x-api-key": "wrong-secret"}):
        async with logged.get("/stores", headers=headers):
            assert (lines.last["status"], lines.last["key"]) == (401, None)
    assert b"wrong-secret" not in b"".join(lines)


async def test_a_key_in_a_path_is_not_told(logged: Client, lines: Taken) -> None:
    key = "sd_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
    await ask(logged, f"/companies/{key}")
    await ask(logged, f"/{key}/x")
    await ask(logged, f"/companies/%73%64%5F{key[3:]}")
    assert key.encode() not in b"".join(lines)
    assert lines.last["path"] == "/companies/sd_[redacted]"


async def test_what_is_no_http_is_told_without_a_word_of_it(logged: Client, lines: Taken) -> None:
    await exchange(logged, b"GET /secret HTTP/9.9 secret\r\nx-api-key secret\r\n\r\n")
    told = lines.last
    assert (told["method"], told["path"], told["route"], told["status"]) == (None, None, "unmatched", 400)
    assert b"secret" not in lines[-1]


@pytest.mark.parametrize("name", [b"", b"\xff\n", b"10.0.0.1", b"sd_0123456789abcdefghij"])
async def test_a_client_on_a_unix_socket_is_unix_whatever_it_calls_itself(
    replica: Replica, data: Path, lines: Taken, name: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await serve(replica, data)
    monkeypatch.chdir(data)  # as a path of a socket is short
    policy = msgspec.structs.replace(POLICY, forwarding=read_forwarding(["10.0.0.0/8"]))
    server = runner(make_site(replica, keyring([KEY]), policy, log=lines).public)
    await server.setup()
    with socket.socket(socket.AF_UNIX) as asking:
        await UnixSite(server, "socket").start()
        asking.setblocking(False)
        if name:
            asking.bind(name)
        await asyncio.get_running_loop().sock_connect(asking, "socket")
        reader, writer = await asyncio.open_unix_connection(sock=asking)
        writer.write(b"GET /health HTTP/1.0\r\nX-Forwarded-For: 8.8.8.8\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
    await server.cleanup()
    assert lines.last["client"] == "unix"


async def test_lines_that_nobody_takes_are_counted_and_hold_nothing_up(logged: Client, lines: Taken) -> None:
    lines.room = 1
    for _ in range(3):
        async with logged.get("/stores", headers=HEADERS) as response:
            assert response.status == 200
    async with logged.get("/metrics") as response:
        assert "store_directory_access_log_dropped_lines_total 2.0\n" in await response.text()


@given(st.text())
def test_a_path_is_told_in_printable_ascii_of_bounded_length(path: str) -> None:
    shown = shown_path(path)
    assert shown.isascii()
    assert len(shown) <= 10 * 1024


@pytest.mark.parametrize("layers", [0, 1, 2, 3, 4])
def test_a_key_in_a_path_is_masked_however_often_it_is_percent_encoded(layers: int) -> None:
    written = key = new_key()
    for _ in range(layers):
        written = "".join(f"%{ord(character):02X}" for character in written)
    told = shown_path(f"/companies/{written}/x")
    for _ in range(layers):
        told = unquote(told)
    assert key not in told


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - of UTC
def test_times_are_those_of_the_clock_to_the_microsecond(moment: datetime) -> None:
    microseconds = (moment - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)
    assert datetime.fromisoformat(timestamp(microseconds * 1000)) == moment


async def test_nothing_tells_how_long_an_answer_took_unless_that_is_wanted(client: Client) -> None:
    async with client.get("/stores", headers=HEADERS) as response:
        assert "Server-Timing" not in response.headers


async def test_server_timing_tells_how_long_an_answer_took(site_client: SiteClient) -> None:
    client = await site_client(server_timing=True)
    async with client.get("/stores", headers=HEADERS) as response:
        told = re.fullmatch(r"app;dur=(\d+\.\d{3})", response.headers["Server-Timing"])
    assert told is not None
    assert float(told[1]) > 0
