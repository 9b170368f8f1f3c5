"""Requests that HTTP parsing rejects, and requests over a size limit."""

import asyncio
import logging
import re
from http import HTTPStatus

import orjson
import pytest

from service.web.connections.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE_BYTES
from tests.program import SECONDS
from tests.web.live import KEY, Client, ask, exchange

SECRET = b"s3cret-key"
HEAD = b"GET /stores HTTP/1.1\r\nHost: test\r\n"
MALFORMED = {
    "garbage": b"\x16\x03\x01\x02\x00" + SECRET + b"\r\n\r\n",
    "a line without a version": b"GET /stores\r\n\r\n",
    "HTTP/0.9": b"GET /stores HTTP/0.9\r\nx-api-key: " + SECRET + b"\r\n\r\n",
    "HTTP/2.0": b"GET /stores HTTP/2.0\r\nHost: test\r\nx-api-key: " + SECRET + b"\r\n\r\n",
    "HTTP/9.9": b"GET /stores HTTP/9.9\r\nHost: test\r\n\r\n",
    "an unknown method and no version": b"BREW /stores\r\n\r\n",
    "an unknown method that is no token": b"BR(EW /stores HTTP/1.1\r\nHost: t\r\n\r\n",
    "no Host": b"GET /stores HTTP/1.1\r\nx-api-key: " + SECRET + b"\r\n\r\n",
    "a control byte in a header's name": HEAD + b"x-api-key\x01: " + SECRET + b"\r\n\r\n",
    "a NUL in the key": HEAD + b"x-api-key: " + SECRET + b"\x00\r\n\r\n",
    "a header without a colon": HEAD + b"x-api-key " + SECRET + b"\r\n\r\n",
    "a folded header": HEAD + b"x-api-key: a\r\n " + SECRET + b"\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length that is no number": HEAD + b"Content-Length: " + SECRET + b"\r\n\r\n",
}


def body(answer: bytes) -> object:
    return orjson.loads(answer.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED)
async def test_malformed_http_is_a_json_400_and_one_log_line_that_quotes_nothing(
    client: Client, request_bytes: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = await exchange(client, request_bytes)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.") == 1
    assert b"Content-Type: application/json\r\n" in answer
    assert body(answer) == {"detail": "Bad Request"}
    assert SECRET not in answer
    assert SECRET.decode() not in caplog.text
    assert "Traceback" not in caplog.text
    assert len([record for record in caplog.records if record.levelno >= logging.INFO]) <= 1


async def test_a_flood_of_malformed_requests_does_not_flood_the_log(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(50):
        await exchange(client, b"NONSENSE\r\n\r\n")
    assert len(caplog.records) < 10


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /stores?q=" + b"a" * MAX_LINE_BYTES + b" HTTP/1.1\r\nHost: t\r\n\r\n", HTTPStatus.REQUEST_URI_TOO_LONG),
        (HEAD + b"q: " + b"a" * (MAX_FIELD_BYTES + 1) + b"\r\n\r\n", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
        (HEAD + b"q" * (MAX_FIELD_BYTES + 1) + b": a\r\n\r\n", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
        (HEAD + b"q: a\r\n" * MAX_FIELDS + b"\r\n", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
        (HEAD + b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        (HEAD + b"Content-Length: 18446744073709551615\r\n\r\n", HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    ],
    ids=["address", "value", "name", "fields", "body", "huge body"],
)
async def test_a_request_over_a_size_limit_is_rejected_and_the_connection_closed(
    client: Client, request_bytes: bytes, status: HTTPStatus
) -> None:
    answer = await exchange(client, request_bytes)
    assert answer.split(b" ", 2)[1] == str(status.value).encode()
    assert body(answer) == {"detail": status.phrase}


async def test_a_body_is_ignored_not_decompressed(client: Client) -> None:
    answer = await ask(
        client,
        "/stores",
        headers=("Content-Length: 4", "Content-Encoding: gzip", "Content-Type: text/plain\r\n\r\nnope"),
    )
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_the_next_request_on_a_connection_is_answered_after_one_with_a_body(client: Client) -> None:
    first = f"GET /health HTTP/1.1\r\nHost: t\r\nx-api-key: {KEY}\r\nContent-Length: 3\r\n\r\nabc"
    second = "GET /stores HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"
    answer = await exchange(client, (first + second).encode())
    assert answer.count(b"HTTP/1.1 ") == 2
    assert b"HTTP/1.1 401 " in answer


@pytest.mark.parametrize("broken", [b"GET / HTTP/9.9\r\n\r\n", b"BREW(\r\n\r\n", b"GET /stores\r\n\r\n"])
async def test_pipelined_requests_before_a_malformed_one_are_answered(client: Client, broken: bytes) -> None:
    request = f"GET /health HTTP/1.1\r\nHost: t\r\nx-api-key: {KEY}\r\n\r\n".encode()
    answer = await exchange(client, request * 3 + broken + request)
    assert re.findall(rb"HTTP/1\.1 (\d+) ", answer) == [b"200", b"200", b"200", b"400"]


@pytest.mark.parametrize("count", [40, 500])
async def test_each_of_many_pipelined_requests_is_answered(client: Client, count: int) -> None:
    request = f"GET /stores HTTP/1.1\r\nHost: t\r\nx-api-key: {KEY}\r\n\r\n".encode()
    answer = await exchange(client, request * count + b"NON SENSE\r\n\r\n")
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", answer)
    assert statuses == [b"200"] * count + [b"400"]


@pytest.mark.parametrize("line", [b"GET http://xn--/ HTTP/1.1", b"CONNECT xn--a:80 HTTP/1.1", b"GET //xn--a/ HTTP/1.0"])
async def test_an_invalid_host_is_rejected_and_the_connection_closed(
    client: Client, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await exchange(client, line + b"\r\nHost: x\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 "))
    assert [record.message for record in caplog.records if record.levelno > logging.WARNING] == []


@pytest.mark.parametrize("target", [b"//[::1/a", b"//evil.example/stores/", b"//xn--a/docs", b"/nope?a#b"])
async def test_an_unknown_method_on_an_unknown_path_is_404(client: Client, target: bytes) -> None:
    answer = await exchange(client, b"FOO " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")


async def test_the_size_of_a_head_is_limited(client: Client) -> None:
    field = b"a: " + b"b" * 8000 + b"\r\n"
    for head, status in ((HEAD + field * 3, b"401"), (HEAD + field * 5, b"431")):
        answer = await exchange(client, head + b"Connection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 " + status + b" ")


async def test_after_a_half_close_the_request_is_answered_and_the_connection_closed(client: Client) -> None:
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n")
    writer.write_eof()
    async with asyncio.timeout(SECONDS):
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_a_request_with_a_malformed_body_is_400(client: Client) -> None:
    answer = await exchange(client, HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


async def test_an_upgrade_is_declined_and_the_connection_closed(client: Client) -> None:
    request = f"GET /health HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\nUpgrade: h2c\r\nx-api-key: {KEY}\r\n\r\n"
    answer = await exchange(client, request.encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nConnection: close\r\n" in answer
