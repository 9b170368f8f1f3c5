"""The server of a listener: shutdown."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from aiohttp.web import ServerRunner, SockSite

from service.web.connections.server import limit_unacknowledged, runner
from tests.program import SECONDS
from tests.web.connections.harness import GatedApp, settle
from tests.web.connections.listening import GET, LIMITS, Wire, until_closed

pytestmark = pytest.mark.process


class Service:
    """A service whose responses can be delayed."""

    def __init__(self, shutdown_seconds: float) -> None:
        self.app = GatedApp()
        self.runner: ServerRunner = runner(self.app, LIMITS, shutdown_seconds=shutdown_seconds)

    async def start(self) -> None:
        await self.runner.setup()
        await SockSite(self.runner, socket.create_server(("127.0.0.1", 0))).start()

    async def dial(self, sent: bytes) -> Wire:
        """Connect, send something, and wait until it has arrived; if it is a request, until it is answered or waits."""
        reader, writer = await asyncio.open_connection(*self.runner.addresses[0])
        writer.write(sent)
        if GET in sent:
            await self.app.called.wait()
        await settle()
        return reader, writer


@pytest.fixture(params=[SECONDS])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[Service]:
    service = Service(request.param)
    await service.start()
    yield service
    await service.runner.cleanup()


async def test_shutdown_waits_for_current_responses(service: Service) -> None:
    service.app.gate.clear()
    reader, writer = await service.dial(GET + GET)
    cleaning = asyncio.create_task(service.runner.cleanup())
    await settle()
    assert not cleaning.done()
    service.app.gate.set()
    answer = await until_closed(reader)
    writer.close()
    await cleaning
    assert answer.count(b"HTTP/1.1 200 ") == 1
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.parametrize("service", [0.1], indirect=True)
async def test_shutdown_aborts_responses_that_exceed_the_timeout(service: Service) -> None:
    service.app.gate.clear()
    reader, writer = await service.dial(GET)
    await service.runner.cleanup()
    assert await until_closed(reader) == b""
    assert asyncio.all_tasks() == {asyncio.current_task()}
    writer.close()


def test_accepted_connections_have_the_timeout_for_unacknowledged_data() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        limit_unacknowledged(listening, 1.5)
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500
