"""The floors, uvloop alone and with a parser: `python bench/peers/floors.py bytes|httptools PORT SIZE`.

Each request is answered with the same bytes, a body of SIZE. The environment of the peers has httptools.
"""

import asyncio
import sys
from typing import Final, cast

import httptools
import uvloop

_HEAD_END: Final = b"\r\n\r\n"


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


class Parsed(Bytes):
    """Answers what httptools parses as a request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, and parse what arrives."""
        super().connection_made(transport)
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Parse."""
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        """Keep the target."""
        self._target = url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Ignore a header field."""

    def on_message_complete(self) -> None:
        """Answer."""
        self._transport.write(self._response)


async def serve(protocol: type[Bytes], port: int, size: int) -> None:
    """Serve until the process ends."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
    response = head.encode() + bytes(size)
    server = await asyncio.get_running_loop().create_server(lambda: protocol(response), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve({"bytes": Bytes, "httptools": Parsed}[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])))
