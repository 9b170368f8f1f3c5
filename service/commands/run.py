"""The life of one process that answers: serve, follow the source, drain, stop."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from socket import socket
from typing import Final

import msgspec
from aiohttp import web

from service.commands.listen import BACKLOG
from service.commands.terminal import shown_progress
from service.progress import Progress
from service.replica.publisher import Publisher
from service.replica.replica import Replica, Snapshot, keep
from service.replica.seat import Seat
from service.replica.workspace import Workspace
from service.settings import Settings
from service.source.source import Source
from service.web.auth import Authenticate
from service.web.server import runner
from service.web.site import make_site

# A page of scattered records makes some thousand objects for a moment: without cycles, so nothing is there to collect.
_COLLECT_AFTER: Final = 50_000
_BEAT_SECONDS: Final = 1
_LOOK_SECONDS: Final = 0.02
_log = logging.getLogger(__name__)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the processes of a run do; `announce` is called once, when all of them serve."""

    settings: Settings
    source: Source
    workspace: Workspace
    authenticate: Authenticate
    announce: Callable[[Snapshot], None]


class Sockets(msgspec.Struct, frozen=True):
    """What a process listens on."""

    public: Sequence[socket]
    admin: Sequence[socket]


class _Ending:
    """How a process is told to end: at leisure by SIGTERM, at once by SIGINT and SIGQUIT."""

    def __init__(self) -> None:
        self.soon, self.now = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.soon.set)
        for number in (signal.SIGINT, signal.SIGQUIT):
            loop.add_signal_handler(number, self.now.set)

    async def told(self) -> None:
        """Wait until the process is told to end, in either way."""
        await _first(self.soon, self.now)


async def run(plan: Plan, seat: Seat, sockets: Sockets, *, beat: Callable[[], None] | None = None) -> None:
    """Serve until told to end; call `beat` every second while the event loop turns.

    Listens before there is data, so that /ready tells of the loading; a process that takes the place of another has
    data before it listens. Raises `Rejected` where there is nothing to serve.
    """
    ending = _Ending()
    replica = Replica(seat, max_stale=plan.settings.max_stale)
    successor = plan.workspace.publication().generation > 0
    with ExitStack() as bars:
        publisher = _publisher(plan, replica, bars.enter_context(shown_progress()))
        keeping = asyncio.create_task(keep(replica, plan.workspace, publisher))
        keeping.add_done_callback(lambda _: ending.now.set())
        beating = asyncio.create_task(_beat(beat or (lambda: None)))
        if successor:
            await _first(replica.filled, ending.now)
        servers = await _listen(plan, replica, sockets)
        try:
            await _first(replica.filled, ending.soon, ending.now)
            bars.close()
            if replica.current is not None:
                await _settle_in(plan, replica.current, announces=not successor and plan.workspace.lead())
                await ending.told()
                await _drain(plan, replica, ending)
        finally:
            await asyncio.gather(*(server.cleanup() for server in servers))
            beating.cancel()
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping


def _publisher(plan: Plan, replica: Replica, progress: Progress) -> Publisher:
    async def published() -> None:
        before = replica.current.generation if replica.current else 0  # and nothing that would keep its data alive
        await replica.follow(plan.workspace)
        if replica.current is not None and replica.current.generation != before:
            dataset = replica.current.dataset
            served = f"{len(dataset.stores):,} stores of {len(dataset.companies):,} companies"
            _log.info("serving %s, version %s", served, dataset.version)

    publisher = Publisher(plan.source, plan.workspace, published, poll_seconds=plan.settings.poll, progress=progress)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, publisher.reload)
    return publisher


async def _listen(plan: Plan, replica: Replica, sockets: Sockets) -> list[web.ServerRunner]:
    site = make_site(replica, plan.authenticate, apart=bool(sockets.admin))
    servers = []
    for app, bound in ((site.public, sockets.public), (site.admin, sockets.admin)):
        if app is not None:
            server = runner(app)
            await server.setup()
            for each in bound:
                await web.SockSite(server, each, backlog=BACKLOG).start()
            servers.append(server)
    return servers


async def _settle_in(plan: Plan, current: Snapshot, *, announces: bool) -> None:
    gc.freeze()  # what was loaded lives as long as the process: no collection need look at it again
    gc.set_threshold(_COLLECT_AFTER)
    if announces:
        others = plan.settings.processes - 1
        while others and sum(map(bool, plan.workspace.serving())) <= others:  # noqa: ASYNC110 - see below
            await asyncio.sleep(_LOOK_SECONDS)  # the others tell through memory, which wakes nobody
        plan.announce(current)


async def _drain(plan: Plan, replica: Replica, ending: _Ending) -> None:
    """Answer on, but let /ready say that others should be asked, until the time for it is over."""
    replica.draining = True
    with suppress(TimeoutError):
        async with asyncio.timeout(plan.settings.drain):
            await ending.now.wait()


async def _beat(beat: Callable[[], None]) -> None:
    while True:
        beat()
        await asyncio.sleep(_BEAT_SECONDS)


async def _first(*events: asyncio.Event) -> None:
    """Wait for the first of some events."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
