"""Load shedding: connections over the limit get 503."""

import asyncio
import socket

import pytest

from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.web.pipeline.counters import Event
from service.web.site import make_site, open_site
from tests.program import SECONDS
from tests.web.connections.listening import CLOSE, GET, LIMITS, counted, listening, until_closed
from tests.web.live import WITH_ADMIN

pytestmark = pytest.mark.process


async def test_connections_over_the_limit_get_503_until_others_close(caplog: pytest.LogCaptureFixture) -> None:
    snapshots = SnapshotHolder()
    async with listening(snapshots) as dial:
        admitted = [await dial() for _ in range(LIMITS.connections)]
        for reader, writer in admitted:
            writer.write(GET)
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 ")
        for _ in range(20):
            reader, _ = await dial()
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nRetry-After: 1\r\n" in answer
            assert answer.endswith(b'{"detail":"Service Unavailable"}')
        assert counted(snapshots, Event.REFUSED) == 20
        assert [record.message for record in caplog.records] == [
            "connection limit reached (8): refusing new connections"
        ]
        assert snapshots.slot.open_connections() == LIMITS.connections
        for _, writer in admitted:
            writer.close()
        async with asyncio.timeout(SECONDS):
            while snapshots.slot.open_connections():  # noqa: ASYNC110 - the server signals no event
                await asyncio.sleep(0.01)
        reader, writer = await dial()
        writer.write(CLOSE)
        assert (await until_closed(reader)).startswith(b"HTTP/1.1 200 ")


async def test_the_admin_listener_is_reachable_while_the_public_one_is_full() -> None:
    site = make_site(SnapshotHolder(), no_authentication, WITH_ADMIN)
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in sockets]
    close = await open_site(site, LIMITS, public=sockets[:1], admin=sockets[1:])
    public = [await asyncio.open_connection("127.0.0.1", ports[0]) for _ in range(LIMITS.connections + 1)]
    assert (await public[-1][0].read()).startswith(b"HTTP/1.1 503 ")
    reader, writer = await asyncio.open_connection("127.0.0.1", ports[1])
    writer.write(CLOSE)
    assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    for _, each in (*public, (reader, writer)):
        each.close()
    await close()
