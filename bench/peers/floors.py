"""What only sends bytes: `python -m bench.peers.floors bare|bytes PORT RESPONSES`; RESPONSES is a JSON file.

An aiohttp application, and uvloop that parses nothing.
"""

import asyncio
import json
import os
import sys
from itertools import cycle
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final, cast

import uvloop
from aiohttp import web

_BUFFER_BYTES: Final = 50_000_000  # more than the processor's cache
_SLICES: Final = 100_000
_HEAD_END: Final = b"\r\n\r\n"


async def serve_bare(port: int, responses: dict[str, Any]) -> None:
    """Serve one route, which sends random parts of a large buffer, drawn in advance, as long as the responses."""
    buffer, random = os.urandom(_BUFFER_BYTES), Random(1)
    drawn = [(random.randrange(_BUFFER_BYTES - size), size) for size in random.choices(responses["sizes"], k=_SLICES)]
    slices = cycle([slice(start, start + size) for start, size in drawn])
    status, fields = responses["status"], responses["fields"]

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=buffer[next(slices)], status=status, headers=fields)

    app = web.Application()
    app.router.add_get(responses["route"], answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


class Bytes(asyncio.Protocol):
    """Answers what ends a head; it parses nothing."""

    def __init__(self, response: bytes) -> None:
        self._response = response

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer one request."""
        if data.endswith(_HEAD_END):
            self._transport.write(self._response)


async def serve_bytes(port: int, responses: dict[str, Any]) -> None:
    """Answer each request with the same bytes, of the mean size."""
    body = bytes(round(fmean(responses["sizes"])))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    loop, response = asyncio.get_running_loop(), head.encode() + body
    await (await loop.create_server(lambda: Bytes(response), "127.0.0.1", port)).serve_forever()


if __name__ == "__main__":
    serve = {"bare": serve_bare, "bytes": serve_bytes}[sys.argv[1]]
    uvloop.run(serve(int(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text("utf-8"))))
