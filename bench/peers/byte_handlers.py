"""The handlers of the upper bounds: `python -m bench.peers.byte_handlers bare|low-level PORT RESPONSES`.

They send random parts of a large buffer, with the sizes of the service's own responses; RESPONSES is a JSON file.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from itertools import cycle
from pathlib import Path
from random import Random
from time import time
from typing import Final

import aiohttp
import msgspec
import uvloop
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

_BUFFER_BYTES: Final = 50_000_000  # more than the processor's cache
_SLICES: Final = 100_000
_SHORT_BYTES: Final = 4 << 10


class Responses(msgspec.Struct, frozen=True):
    """The responses to send: route, status, header fields, sizes of the bodies in bytes."""

    route: str
    status: int
    fields: dict[str, str]
    sizes: list[int]

    def slices(self) -> Iterator[slice]:
        """Return endless random slices of the buffer, drawn in advance: a request only takes the next."""
        random = Random(1)
        drawn = [(random.randrange(_BUFFER_BYTES - size), size) for size in random.choices(self.sizes, k=_SLICES)]
        return cycle([slice(start, start + size) for start, size in drawn])


def bare(responses: Responses) -> web.Application:
    """Return an application of one route that sends a `web.Response` with a copy of the bytes."""
    buffer, slices = os.urandom(_BUFFER_BYTES), responses.slices()
    status, fields = responses.status, responses.fields

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=buffer[next(slices)], status=status, headers=fields)

    app = web.Application()
    app.router.add_get(responses.route, answer)
    return app


class _Written(web.StreamResponse):
    """A response that the handler has already written."""

    keep_alive = True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Write nothing."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Write nothing."""


class _Server(web.Server):
    """Sends immediately what the system accepts immediately, as the service does."""

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        transport.set_write_buffer_limits(0)


def low_level(responses: Responses) -> web.Server:
    """Return aiohttp's low-level server; its handler writes to the transport as the service does.

    The head is made as text; a short body is copied behind it, a long one is not copied.
    """
    buffer, slices = memoryview(os.urandom(_BUFFER_BYTES)), responses.slices()
    status, written = HTTPStatus(responses.status), _Written()

    @lru_cache(1)
    def start(second: int) -> str:
        fields = {"Server": f"aiohttp/{aiohttp.__version__}", "Date": formatdate(second, usegmt=True)}
        lines = (f"{name}: {value}\r\n" for name, value in (fields | responses.fields).items())
        return f"HTTP/1.1 {status.value} {status.phrase}\r\n{''.join(lines)}"

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = buffer[next(slices)]
        length = "" if status is HTTPStatus.NOT_MODIFIED else f"Content-Length: {len(body)}\r\n"
        pieces = (f"{start(int(time()))}{length}\r\n".encode(), body)
        if request.transport is not None:  # the client is still connected
            request.transport.writelines(pieces if len(body) >= _SHORT_BYTES else (b"".join(pieces),))
        return written

    return _Server(answer, access_log=None)


async def _serve(name: str, port: int, responses: Responses) -> None:
    runner = (
        web.AppRunner(bare(responses), access_log=None) if name == "bare" else web.ServerRunner(low_level(responses))
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    file = Path(sys.argv[3])
    uvloop.run(_serve(sys.argv[1], int(sys.argv[2]), msgspec.json.decode(file.read_bytes(), type=Responses)))
