"""A service on a real socket, TCP or Unix, and clients of it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import Limits
from service.web.pipeline.auth import no_authentication
from service.web.pipeline.counters import Event
from service.web.site import make_site, open_site
from tests.program import SECONDS
from tests.web.live import DEFAULTS

# A machine may be slow: nothing times out but what a test waits for, after `SHORT`.
SHORT = 0.4
LIMITS = Limits(
    **dict.fromkeys(("head_seconds", "idle_seconds", "write_seconds", "discard_seconds"), SECONDS),
    check_seconds=0.05,
    connections=8,
)
GET = b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n"
CLOSE = GET[:-2] + b"Connection: close\r\n\r\n"

Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[], Awaitable[Wire]]


def short(name: str) -> Limits:
    """Return limits of which one timeout is short."""
    return msgspec.structs.replace(LIMITS, **{f"{name}_seconds": SHORT})


@asynccontextmanager
async def listening(
    snapshots: SnapshotHolder, path: Path | None = None, limits: Limits = LIMITS
) -> AsyncIterator[Dial]:
    """Serve on a Unix socket or TCP; yield a function that connects. Clients read little ahead."""
    wires: list[Wire] = []
    if path is not None:
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(str(path))
    else:
        bound = socket.create_server(("127.0.0.1", 0))
    address = bound.getsockname()
    close = await open_site(make_site(snapshots, no_authentication, DEFAULTS), limits, public=[bound], admin=[])

    async def dial() -> Wire:
        if path is not None:
            wires.append(await asyncio.open_unix_connection(path, limit=1024))
        else:
            wires.append(await asyncio.open_connection(*address, limit=1024))
        return wires[-1]

    yield dial
    for _, writer in wires:
        writer.close()
    await close()


def counted(snapshots: SnapshotHolder, event: Event) -> int:
    """Return how often an event was counted."""
    site = make_site(SnapshotHolder(snapshots.slot), no_authentication, DEFAULTS)
    (family,) = [each for each in site.public.traffic.collect() if each.name == f"store_directory_{event.counter}"]
    return next(int(each.value) for each in family.samples if each.labels.get("result", "") == event.result)


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Return all received bytes until the server closes the connection."""
    received = b""
    async with asyncio.timeout(SECONDS):
        with suppress(ConnectionError):
            while part := await reader.read(1 << 20):
                received += part
    return received
