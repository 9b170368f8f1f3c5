"""Requests of a shape, the parts of the service that answer them, and a connection to it in the same thread."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Final, cast

import msgspec
import uvloop

from bench.servers import HOST
from bench.shapes import COMPANY_PATH, KEY, Request
from service.access.api_key import static_principals
from service.access.keyring import Keyring
from service.dataset import Dataset
from service.model.operation import KEY_HEADER
from service.model.query import Query, QueryParser, query_pairs
from service.model.records import STORES
from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.settings import Settings
from service.web.connections.connection import Connection
from service.web.connections.framing import read_request
from service.web.connections.heads import HeadReader, RejectedHead, RepeatedFields
from service.web.connections.limits import Limits
from service.web.connections.server import Server
from service.web.endpoints.resources import ServedData, record_routes
from service.web.http.request import Request as Received
from service.web.pipeline.answers import Answers
from service.web.pipeline.app import App
from service.web.pipeline.auth import Authentication, KeyAuthentication
from service.web.pipeline.plan import Plan
from service.web.pipeline.routes import ResourceRoute, Routes
from service.web.site import make_site

_MAX_TARGETS: Final = 400
_CACHED_BYTES: Final = 1 << 30
_COMPANY: Final = f"{COMPANY_PATH}{{company_id}}"
_READERS: Final = {_COMPANY: QueryParser(), f"/{STORES.name}": QueryParser(STORES)}
_HOUR: Final = 3600.0
_LIMITS: Final = Limits(head_seconds=_HOUR, idle_seconds=_HOUR, write_seconds=_HOUR)
_CLIENT_BYTES: Final = 1 << 20


class Target(msgspec.Struct, frozen=True):
    """A request target: its path, the raw value of the path parameter, and the raw query string."""

    path: str
    segment: str
    query: str

    @classmethod
    def of(cls, request: Request) -> "Target":
        """Return the target of a request of a shape."""
        path, _, query = request.target.partition("?")
        return cls(path, path.removeprefix(COMPANY_PATH) if path.startswith(COMPANY_PATH) else "", query)

    @property
    def operation(self) -> str:
        """The path of its route."""
        return _COMPANY if self.segment else self.path

    def head(self, number: int | None = None) -> bytes:
        """Return the bytes of a request, with the fields that wrk sends, and with a number a User-Agent of its own."""
        target = f"{self.path}?{self.query}" if self.query else self.path
        own = () if number is None else (f"User-Agent: bench-{number}",)
        lines = (f"GET {target} HTTP/1.1", f"{KEY_HEADER}: {KEY}", *own, "Host: 127.0.0.1:8080", "", "")
        return "\r\n".join(lines).encode()

    def parse(self) -> Query:
        """Return its query."""
        return _READERS[self.operation].parse(query_pairs(self.query), strict=False)


class Pipeline(msgspec.Struct, frozen=True):
    """The targets of a shape, and the parts of a service with its data set."""

    targets: Sequence[Target]
    dataset: Dataset
    app: App
    routes: Routes
    authenticate: Authentication
    recent: Answers

    def route(self, target: Target) -> ResourceRoute:
        """Return the route of a target."""
        route, _ = self.routes.find(target.path)
        if not isinstance(route, ResourceRoute):
            raise TypeError(f"{target.path} is the path of no resource")
        return route

    def plan(self, target: Target, received: Received) -> Plan:
        """Return the plan of the answer to a request for a target."""
        return self.route(target).plan(target.segment, received)


def make_pipeline(dataset: Dataset, requests: Sequence[Request]) -> Pipeline:
    """Return the parts of a service with a data set, for requests of one shape."""
    now = datetime.now(UTC)
    holder = SnapshotHolder()
    holder.current = Snapshot(dataset=dataset, loaded_at=now, modified=now)
    authenticate = KeyAuthentication(Keyring(static_principals([KEY])))
    targets = list(map(Target.of, requests[:_MAX_TARGETS]))
    return Pipeline(
        targets=targets,
        dataset=dataset,
        app=make_site(holder, authenticate, Settings()).public,
        routes=Routes(record_routes(ServedData(holder, Settings()))),
        authenticate=authenticate,
        recent=Answers(holder, _CACHED_BYTES, lambda _: None),
    )


class RequestReader:
    """Reads the requests of one connection."""

    def __init__(self) -> None:
        self._heads, self._repeated = HeadReader(), RepeatedFields()

    def read_again(self, received: bytearray) -> Received:
        """Read a request whose header fields are those of the request before, and were parsed then."""
        line = self._repeated.find(received)
        request = None if line is None else self._repeated.read(line, HOST)
        if request is None:
            raise ValueError("the header fields differ from those of the request before")
        del received[: self._repeated.end]
        return request

    def read(self, received: bytearray) -> Received:
        """Read a request with header fields of its own, which are parsed."""
        if self._repeated.find(received) is not None:
            raise ValueError("the header fields are those of the request before")
        message = self._heads.read(received, ended=False)
        if message is None or isinstance(message, RejectedHead):
            raise ValueError("the head is not that of a request")
        request, _ = read_request(message, received, HOST)
        self._repeated.remember(self._heads.last, request)
        return request


def request(target: Target) -> Received:
    """Return a request for a target, parsed."""
    return RequestReader().read(bytearray(target.head()))


class Loopback:
    """A connection; the event loop runs only in `settle`, so that everything else is a plain call."""

    def __init__(
        self, app: App, loop: asyncio.AbstractEventLoop, accepted: socket.socket, client: socket.socket
    ) -> None:
        self._loop, self._client = loop, client
        self._received = bytearray(_CLIENT_BYTES)
        transport, self._connection = loop.run_until_complete(_connect(app, accepted))
        self.transport = cast("asyncio.Transport", transport)

    def receive(self, head: bytes) -> None:
        """Pass a request to the connection as the event loop does."""
        self._connection.get_buffer(-1)[: len(head)] = head
        self._connection.buffer_updated(len(head))

    def settle(self) -> None:
        """Let the event loop run, and the client read, until everything is sent."""
        self._loop.run_until_complete(asyncio.sleep(0))
        self._read()
        while self.transport.get_write_buffer_size():
            self._loop.run_until_complete(asyncio.sleep(0))
            self._read()

    def close(self) -> None:
        """Close the connection."""
        self.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while self._client.recv_into(self._received):
                pass


async def _connect(app: App, accepted: socket.socket) -> tuple[asyncio.BaseTransport, Connection]:
    connection = cast("Connection", Server(app, _LIMITS)())
    transport, _ = await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted)
    return transport, connection


@contextmanager
def loopback(app: App) -> Iterator[Loopback]:
    """Yield a connection of an application."""
    loop = uvloop.new_event_loop()
    with socket.create_server((HOST, 0)) as listening, socket.create_connection(listening.getsockname()) as client:
        client.setblocking(False)
        made = Loopback(app, loop, listening.accept()[0], client)
        try:
            yield made
        finally:
            made.close()
            loop.close()
