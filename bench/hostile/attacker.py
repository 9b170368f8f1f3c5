"""Attack a service until killed: `python -m bench.hostile.attacker attack|expensive|download PORT NUMBER CONNECTIONS`.

NUMBER is that of one of `ATTACKS`, which is sent at full speed, or the seed of the expensive requests.
"""

import os
import selectors
import socket
import sys
from http.client import HTTPConnection
from itertools import cycle
from random import Random
from typing import Final, cast

import msgspec

from bench.shapes import CLUSTERS_PATH, KEY, STORES_PATH
from service.web.connections.limits import MAX_BODY_PARTS, MAX_FIELDS, MAX_LINE_BYTES
from service.web.http.header_fields import MAX_CHARACTERS

# The client that is measured has the same core.
_NICENESS: Final = 19
_MILD: Final = 5
# Sent and received at a time: longer system calls would delay the client.
_PIECE: Final = 1 << 16
# On a persistent connection, requests are sent ahead of the responses.
_AHEAD_BYTES: Final = 1 << 14
_BOTH: Final = selectors.EVENT_READ | selectors.EVENT_WRITE
# Replaced by a growing number, so that no part of such a request is cached.
_NUMBER: Final = b"#####"
_BODY_BYTES: Final = 1_000_000
_FIELDS: Final = MAX_FIELDS - 2


class Input(msgspec.Struct, frozen=True):
    """Bytes that a client without a key sends repeatedly; whether the connection ends with the answer, or at once."""

    name: str
    sent: bytes
    closes: bool = False

    def numbered(self, number: int) -> bytes:
        """Return the bytes to send the next time."""
        has_number = _NUMBER in self.sent[:MAX_LINE_BYTES]
        return self.sent.replace(_NUMBER, b"%05d" % (number % 100_000)) if has_number else self.sent


def _request(target: bytes = b"/stores", *fields: bytes, method: bytes = b"GET") -> bytes:
    return b"\r\n".join((method + b" " + target + b" HTTP/1.1", b"Host: h", *fields, b"", b""))


# The worst of each kind; tests/web/connections/test_work.py bounds the work of many more.
ATTACKS: Final = (
    Input("an ordinary 401", _request()),
    Input("connections closed at once", b"", closes=True),
    Input("what is no HTTP", b"NONSENSE\r\n\r\n", closes=True),
    Input("a path of 2,000 segments", _request(b"/%41" * (MAX_LINE_BYTES // 4 - 25))),
    Input(
        f"a head of 32 KiB, {_FIELDS} fields",
        _request(b"/stores", *(b"a%02d: " % number + b"b" * 320 for number in range(_FIELDS))),
    ),
    Input("`Accept` with 500 members", _request(b"/stores", b"Accept: " + b"a," * (MAX_CHARACTERS // 2 - 3) + _NUMBER)),
    Input("64 KiB of line ends", b"\r\n" * 32_768, closes=True),
    Input(
        "a body of 1,000,000 bytes, line ends",
        _request(b"/stores", b"Content-Length: %d" % _BODY_BYTES, method=b"POST") + b"\r\n" * (_BODY_BYTES // 2),
    ),
    Input(
        f"a body of {MAX_BODY_PARTS} chunks of a byte",
        _request(b"/stores", b"Transfer-Encoding: chunked", method=b"POST")
        + b"1\r\na\r\n" * MAX_BODY_PARTS
        + b"0\r\n\r\n",
    ),
    Input("`/docs/swagger-ui-bundle.js`, 1.4 MB", _request(b"/docs/swagger-ui-bundle.js")),
)
_POINT: Final = "{latitude:.4f},{longitude:.4f}"
# Of requests that hold the event loop longest, one of each kind; no two have the same point or box.
_EXPENSIVE: Final = (
    f"{STORES_PATH}?near={_POINT}&radius=20000000&limit=50&page_num=9000",
    f"{STORES_PATH}?near={_POINT}&is_open=true&sort_order=desc&limit=1000&page_num=480",
    f"{STORES_PATH}?near={_POINT}&limit=1000&page_num=480",
    f"{STORES_PATH}?near={_POINT}&radius=10000000&facets=province,parent_company_id,city,company_id,postal_code",
    f"{STORES_PATH}?near={_POINT}&radius=6000000&q=a&limit=1000",
    CLUSTERS_PATH + "?bbox=-179,-80,{longitude:.4f},80&zoom=8&is_open=true",
    CLUSTERS_PATH + "?bbox=-179,-80,{longitude:.4f},80&zoom=6&q=k",
)
# It takes the slower path, so that it overlaps many requests.
_DOWNLOAD: Final = ("/stores.csv",)


class Attacker:
    """Connections on which an input is sent endlessly; responses are discarded."""

    def __init__(self, port: int, given: Input) -> None:
        self._port, self._given = port, given
        self._times = 1 if given.closes else max(1, _AHEAD_BYTES // len(given.sent))
        self._selector = selectors.DefaultSelector()
        self._received = bytearray(_PIECE)
        self._number = 0

    def run(self, connections: int) -> None:
        """Send until this process is stopped."""
        for _ in range(connections):
            self._open()
        while True:
            for key, events in self._selector.select():
                self._serve(cast("socket.socket", key.fileobj), key.data, events)

    def _open(self) -> None:
        opened = socket.socket()
        opened.setblocking(False)
        opened.connect_ex(("127.0.0.1", self._port))
        self._selector.register(opened, _BOTH, self._next())

    def _next(self) -> memoryview:
        self._number += 1
        return memoryview(self._given.numbered(self._number) * self._times)

    def _serve(self, connected: socket.socket, left: memoryview, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._send(connected, left)
            if events & selectors.EVENT_READ and not connected.recv_into(self._received):
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self._selector.unregister(connected)
            connected.close()
            self._open()

    def _send(self, connected: socket.socket, left: memoryview) -> None:
        """Send a piece of what is left; continue with the next request, or after the response on another connection."""
        if not self._given.sent:
            raise ConnectionResetError
        left = left[connected.send(left[:_PIECE]) :]
        more = left or (memoryview(b"") if self._given.closes else self._next())
        self._selector.modify(connected, _BOTH if more else selectors.EVENT_READ, more)


def stream(port: int, targets: tuple[str, ...], seed: int) -> None:
    """Send requests of a valid client, one after the other, until this process is stopped."""
    random, connection = Random(seed), HTTPConnection("127.0.0.1", port)
    for target in cycle(targets):
        place = {"latitude": random.uniform(-60, 70), "longitude": random.uniform(-179, 179)}
        connection.request("GET", target.format_map(place), headers={"x-api-key": KEY})
        response = connection.getresponse()
        while response.read(_PIECE):
            pass


if __name__ == "__main__":
    kind, (port, number, connections) = sys.argv[1], map(int, sys.argv[2:])
    os.nice(_NICENESS if kind == "attack" else _MILD)
    if kind == "attack":
        Attacker(port, ATTACKS[number]).run(connections)
    stream(port, _EXPENSIVE if kind == "expensive" else _DOWNLOAD, number)
