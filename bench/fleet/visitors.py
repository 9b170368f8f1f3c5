"""Clients: threads with one connection each, which send requests of every kind, with pauses or without."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from itertools import accumulate
from random import Random
from threading import Event, Thread
from typing import Final
from urllib.parse import quote_plus

import orjson

from bench.fleet.ledger import Ledger, Sent
from bench.servers import HOST, fetch
from bench.shapes import KEY

_SECONDS: Final = 60
_STORES: Final = 40
_STREAM: Final = "/stores.ndjson"
_OTHERS: Final = 0.2  # of the requests, where there are others
_PIECE: Final = 1 << 16
_PIECE_SECONDS: Final = 0.02


def every_target(port: int) -> list[str]:
    """Return targets of every kind, made of the stores that a replica serves."""
    page = fetch(port, f"/stores?bbox=-180,-90,180,90&sort_by=updated_at&limit={_STORES}", KEY)
    stores = orjson.loads(page.body)["data"]
    return [target for number, store in enumerate(stores, 1) for target in _targets(number, store)]


def _targets(number: int, store: dict[str, str]) -> Iterator[str]:
    city, company, point = quote_plus(store["city"]), store["company_id"], f"{store['latitude']},{store['longitude']}"
    yield f"/stores?near={point}&radius=10000&limit=20"
    yield f"/stores?city={city}&limit=50"
    yield f"/stores/{store['store_id']}"
    yield f"/companies/{company}"
    yield f"/stores?company_id={company}&facets=city,is_open&limit=10"
    yield f"/stores?q={quote_plus(store['address_1'])}&limit=20"
    yield f"/stores?sort_by=name&limit=200&page_num={number}"
    yield f"/companies?limit=20&page_num={number}"


class _SmallBuffered(HTTPConnection):
    """A connection that receives no more than a piece in advance."""

    def connect(self) -> None:
        """Connect."""
        super().connect()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)


class Visitor(Thread):
    """A client that chooses among targets, the first most often, as 1/n, with and without conditions and codings.

    Of others, one is sent after as many of those. The connection is kept, unless it `reconnects`.
    """

    _connection_type: type[HTTPConnection] = HTTPConnection

    def __init__(  # noqa: PLR0913 - what it sends, and how
        self,
        port: int,
        targets: Sequence[str],
        ledger: Ledger,
        *,
        pause: float,
        seed: int,
        codings: Sequence[str] = ("gzip",),
        others: Sequence[Sent] = (),
        reconnects: bool = False,
    ) -> None:
        super().__init__(daemon=True)
        self._connection = self._connection_type(HOST, port, timeout=_SECONDS)
        self._ledger, self._pause, self._random = ledger, pause, Random(seed)
        self._codings, self._others, self._reconnects = codings, others, reconnects
        self._targets, self._weights = targets, list(accumulate(1 / rank for rank in range(1, len(targets) + 1)))
        self._tags: dict[str, tuple[str, str]] = {}
        self._version = ""
        self.stopped = Event()

    def run(self) -> None:
        """Send requests until stopped."""
        with closing(self._connection):
            while not self.stopped.wait(self._pause):
                self._visit(*self._choice())

    def _choice(self) -> tuple[Sent, dict[str, str]]:
        """Return a request and more header fields."""
        if self._others and self._random.random() < _OTHERS:
            return self._random.choice(self._others), {}
        (target,) = self._random.choices(self._targets, cum_weights=self._weights)
        kind = self._random.randrange(4)
        if kind == 0 and target in self._tags:
            tag, version = self._tags[target]
            return Sent(target, tag_version=version), {"If-None-Match": tag}
        if kind == 1 and self._version:
            return Sent(target, pinned_version=self._version), {"X-Dataset-Version": self._version}
        return Sent(target), {"Accept-Encoding": self._random.choice(self._codings)} if kind == 2 else {}  # noqa: PLR2004 - one of the four

    def _visit(self, sent: Sent, fields: dict[str, str]) -> None:
        try:
            self._connection.request(sent.method, sent.target, headers={**sent.fields, **fields})
            response = self._connection.getresponse()
        except (OSError, HTTPException) as error:
            self._connection.close()
            self._ledger.problem("failed", sent, repr(error))
            return
        try:
            body = self._body(response)
        except (OSError, HTTPException):
            self._connection.close()
            self._ledger.count("cut")
            return
        self._ledger.check(sent, response.status, response.headers, body)
        if self._reconnects:
            self._connection.close()
        if not sent.has_data:
            return
        self._version = response.headers.get("X-Dataset-Version", "")
        if (tag := response.headers.get("ETag")) and "Content-Encoding" not in response.headers:
            self._tags[sent.target] = tag, self._version

    def _body(self, response: HTTPResponse) -> bytes:
        return response.read()


class StreamReader(Visitor):
    """A client that reads a whole result, in pieces with pauses."""

    _connection_type = _SmallBuffered

    def _choice(self) -> tuple[Sent, dict[str, str]]:
        return Sent(_STREAM), {}

    def _body(self, response: HTTPResponse) -> bytes:
        pieces = []
        while piece := response.read(_PIECE):
            pieces.append(piece)
            time.sleep(_PIECE_SECONDS)
        return b"".join(pieces)


@contextmanager
def visiting(visitors: Sequence[Visitor]) -> Iterator[None]:
    """Let visitors send requests inside the block."""
    for visitor in visitors:
        visitor.start()
    try:
        yield
    finally:
        for visitor in visitors:
            visitor.stopped.set()
        for visitor in visitors:
            visitor.join(_SECONDS)
