"""Requests that two programs may frame differently, each followed by another request (request smuggling)."""

import re
from socket import create_connection
from typing import Final
from urllib.parse import urlsplit

from tests.program import SECONDS

_STATUS: Final = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_LINE: Final = "GET /health HTTP/1.1"
_CHUNKS: Final = "5\r\nhello\r\n0\r\n\r\n"
# The request that follows each case: a server that sees the end of the case answers it with 404.
MARKER: Final = "GET /marker HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"


def _framed(*lines: str, body: str = "HELLO", first: str = _LINE) -> str:
    return "\r\n".join((first, "Host: test", *lines, "", body))


def _length(value: str) -> str:
    return _framed(f"Content-Length: {value}")


def _coding(value: str, *lines: str) -> str:
    return _framed(f"Transfer-Encoding: {value}", *lines, body=_CHUNKS)


def _chunked(body: str) -> str:
    return _framed("Transfer-Encoding: chunked", body=body)


def _named(field: str, body: str = "HELLO") -> str:
    return _framed(field, body=body)


_LENGTHS: Final = (
    *("5", "05", "00000000000000000005", "+5", "-5", " 5", "5 ", "\t5\t", "5\x0b", "\x0c5", "5,5", "5, 5", "5,6"),
    *("5;a", "0x5"),
    *("5.0", "5e0", "5_", "", " ", "five", "5\x00", "18446744073709551621", "4294967301", "9223372036854775813"),
    *("\u0665", "0", "0,5"),
)
_CODINGS: Final = (
    *("chunked", "CHUNKED", "Chunked ", "\tchunked", " chunked\t", "identity", "xchunked", "chunkedx", "chunked,"),
    *(",chunked", ""),
    *("chunked, chunked", "gzip, chunked", "chunked, gzip", "identity, chunked", "chunked, identity", "chunked;q=1"),
    '"chunked"',
    *("\x0bchunked", "chunked\x0b", "chunked\x00", "cow", "cow, chunked", "x\r\n chunked", "\r\n chunked"),
    "chun\u212aed",
)
_SIZES: Final = (
    *("5", "05", "0000000005", "5 ", " 5", "5\t", "+5", "-5", "0x5", "5;a", "5;a=b", '5;a="b"', "5 ;a=b", "5;"),
    *("5;a\x01", "5_"),
    *("", "g", "100000000000000005", "ffffffffffffffff", "10000000000000005", "5\x00", "5.0", "5,", "\u0665"),
    *("5;a\x0b", "5 5"),
)
_BOTH: Final = {
    "a length, then chunks": ("Content-Length: 5", "Transfer-Encoding: chunked"),
    "chunks, then a length": ("Transfer-Encoding: chunked", "Content-Length: 5"),
    "no length, then chunks": ("Content-Length: 0", "Transfer-Encoding: chunked"),
    "chunks twice": ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    "identity, then chunks": ("Transfer-Encoding: identity", "Transfer-Encoding: chunked"),
    "chunks, then identity": ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    "a length, then identity": ("Content-Length: 20", "Transfer-Encoding: identity"),
}
_LINES: Final = {
    "absolute-form": "GET http://test/health HTTP/1.1",
    "absolute-form of another host": "GET http://other/health HTTP/1.1",
    "absolute-form with a port": "GET http://test:80/health HTTP/1.1",
    "absolute-form of https": "GET https://test/health HTTP/1.1",
    "a version of two digits": "GET /health HTTP/1.10",
    "a version below": "GET /health HTTP/0.9",
    "a version above": "GET /health HTTP/2.0",
    "a small version": "GET /health http/1.1",
    "two spaces before the version": "GET /health  HTTP/1.1",
    "two spaces before the target": "GET  /health HTTP/1.1",
    "a tab before the version": "GET /health\tHTTP/1.1",
    "a space behind the version": "GET /health HTTP/1.1 ",
    "a NUL in the target": "GET /hea\x00lth HTTP/1.1",
    "a space before the method": " GET /health HTTP/1.1",
    "a line end before the method": "\r\nGET /health HTTP/1.1",
    "LF before the method": "\nGET /health HTTP/1.1",
    "no target": "GET HTTP/1.1",
    "a fragment": "GET /health#x HTTP/1.1",
    "RTSP": "GET /health RTSP/1.0",
}
_FIELDS: Final = {
    "a space before the colon": "Content-Length : 5",
    "a tab before the colon": "Content-Length\t: 5",
    "a space before the name": " Content-Length: 5",
    "a folded length": "Content-Length:\r\n 5",
    "a folded value": "x: y\r\n z",
    "a folded value that looks like a length": "x: y\r\n Content-Length: 5",
    "a name with an underscore": "Content_Length: 5",
    "a name with a NUL": "Content-Length\x00: 5",
    "a name with a control byte": "Content-Length\x0b: 5",
    "no colon": "Content-Length 5",
    "no name": ": 5",
    "two lengths alike": "Content-Length: 5\r\nContent-Length: 5",
    "two lengths that differ": "Content-Length: 5\r\nContent-Length: 6",
    "CR in a value": "x: y\rContent-Length: 5",
    "LF in front of a length": "x: y\nContent-Length: 5",
    "CR CR LF": "x: y\r\r\nContent-Length: 5",
    "NUL in a value": "x: a\x00b",
    "a space before the colon of the coding": "Transfer-Encoding : chunked",
    "two Hosts": "Host: other",
    "an upgrade": "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 5",
    "an upgrade to websocket": "Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 5",
    "a Connection that names the length": "Connection: content-length\r\nContent-Length: 5",
    "an expectation": "Expect: 100-continue\r\nContent-Length: 5",
}
_CHUNK_BODIES: Final = {
    "LF behind a size": "5\nhello\r\n0\r\n\r\n",
    "LF behind a chunk": "5\r\nhello\n0\r\n\r\n",
    "LF behind the last size": "5\r\nhello\r\n0\n\r\n",
    "LF at the end": "5\r\nhello\r\n0\r\n\n",
    "CR behind a size": "5\rhello\r\n0\r\n\r\n",
    "LF in an extension": "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "a chunk that is too long": "5\r\nhello world\r\n0\r\n\r\n",
    "a chunk that is too short": "5\r\nhe\r\n0\r\n\r\n",
    "many zeros": "000\r\n\r\n",
    "a trailer": "5\r\nhello\r\n0\r\nx: y\r\n\r\n",
    "a trailer of a length": "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n",
    "a trailer without a colon": "5\r\nhello\r\n0\r\nxy\r\n\r\n",
    "a long extension": f"5;{'a' * 3000}\r\nhello\r\n0\r\n\r\n",
}

CASES: Final = {
    "nothing odd": _framed(body=""),
    **{f"length {value!r}": _length(value) for value in _LENGTHS},
    **{f"coding {value!r}": _coding(value) for value in _CODINGS},
    **{f"coding {value!r} and a length": _coding(value, "Content-Length: 5") for value in _CODINGS},
    **{f"chunk size {value!r}": _chunked(f"{value}\r\nhello\r\n0\r\n\r\n") for value in _SIZES},
    **{
        f"last chunk size {value!r}": _chunked(f"{value}\r\n\r\n")
        for value in ("0", "00", "0 ", "0;a", "-0", "+0", "0x0")
    },
    **{name: _framed(*lines, body=_CHUNKS) for name, lines in _BOTH.items()},
    **{name: _framed(first=line, body="") for name, line in _LINES.items()},
    **{name: _named(field) for name, field in _FIELDS.items()},
    **{name: _chunked(body) for name, body in _CHUNK_BODIES.items()},
    "LF for all": _framed(body="").replace("\r\n", "\n"),
    "LF at the end of the head": _framed(body="")[:-2] + "\n",
    "CR for all": _framed(body="").replace("\r\n", "\r"),
    "no Host": f"{_LINE}\r\n\r\n",
    "chunks in HTTP/1.0": _framed(
        "Connection: keep-alive", "Transfer-Encoding: chunked", first="GET /health HTTP/1.0", body=_CHUNKS
    ),
    "a length in HTTP/1.0": _framed("Connection: keep-alive", "Content-Length: 5", first="GET /health HTTP/1.0"),
}


def answers(address: str, case: str) -> tuple[bytes, list[int]]:
    """Send a case and the marker; return all that comes back, and the final statuses in it."""
    url = urlsplit(address)
    received = b""
    with create_connection((url.hostname or "", url.port or 0), timeout=SECONDS) as connection:
        connection.sendall((case + MARKER).encode("utf-8"))
        try:
            while part := connection.recv(1 << 16):
                received += part
        except ConnectionError:
            pass
    return received, [int(status) for status in _STATUS.findall(received) if not status.startswith(b"1")]
