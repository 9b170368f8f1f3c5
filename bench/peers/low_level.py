"""The program of the second upper bound: aiohttp's low-level server, without its router and its responses.

Its handler writes the response to the transport as the service does: a head made as text, a long body without a copy.
`python -m bench.peers.low_level PORT PLAN`.
"""

import asyncio
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time
from typing import Final

import aiohttp
import uvloop
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from bench.peers.plan import Plan, random_bytes, read_arguments

_NOT_MODIFIED: Final = 304
_SHORT_BYTES: Final = 4 << 10


class _Written(web.StreamResponse):
    """What a handler returns that has written its response itself."""

    keep_alive = True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write nothing."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Write nothing."""


class _Server(web.Server):
    """Sends at once what the system accepts at once, as the service does."""

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        transport.set_write_buffer_limits(0)


class _Heads:
    """The heads of the responses of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._status, self._fields = plan.status, plan.fields
        self._start = lru_cache(1)(self._make_start)

    def head(self, length: int) -> bytes:
        """Return the head of a response with a body of a length."""
        if self._status == _NOT_MODIFIED:
            return f"{self._start(int(time()))}\r\n".encode()
        return f"{self._start(int(time()))}Content-Length: {length}\r\n\r\n".encode()

    def _make_start(self, second: int) -> str:
        status = HTTPStatus(self._status)
        fields = {"Server": f"aiohttp/{aiohttp.__version__}", "Date": formatdate(second, usegmt=True), **self._fields}
        lines = (f"{name}: {value}\r\n" for name, value in fields.items())
        return f"HTTP/1.1 {status.value} {status.phrase}\r\n{''.join(lines)}"


def server(plan: Plan) -> web.Server:
    """Return a server that answers every request alike."""
    buffer, places = memoryview(random_bytes()), plan.places()
    heads, written = _Heads(plan), _Written()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = buffer[next(places)]
        pieces = (heads.head(len(body)), body)
        transport = request.transport
        if transport is not None:  # the client is still there
            transport.writelines(pieces if len(body) >= _SHORT_BYTES else (b"".join(pieces),))
        return written

    return _Server(answer, access_log=None)


async def _serve(port: int, plan: Plan) -> None:
    runner = web.ServerRunner(server(plan), handle_signals=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def main() -> None:
    """Serve until stopped."""
    try:
        uvloop.run(_serve(*read_arguments()))
    except web.GracefulExit:
        return


if __name__ == "__main__":
    main()
