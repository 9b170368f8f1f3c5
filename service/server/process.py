"""The life of one process that answers: serve, follow the source, drain, stop."""

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from socket import socket
from typing import Final

import msgspec

from service.access.key_file_follower import KeyFileFollower
from service.progress import Progress
from service.server.access_log_file import AccessFile, access_log
from service.server.progress_bar import shown_progress
from service.server.startup_message import StartupMessage
from service.settings import Settings
from service.snapshot.publication import Publication
from service.snapshot.publisher import Publisher
from service.snapshot.snapshot import SnapshotHolder, follow_publications
from service.snapshot.worker_slots import WorkerSlot
from service.snapshot.workspace import Workspace
from service.sources.source import Source
from service.web.auth import Authenticate
from service.web.connections.limits import Limits
from service.web.policy import Policy

_BEAT_SECONDS: Final = 1
_LOOK_SECONDS: Final = 0.02
_log = logging.getLogger(__name__)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the processes of a run do."""

    settings: Settings
    source: Source
    workspace: Workspace
    authenticate: Authenticate
    follower: KeyFileFollower | None
    policy: Policy
    announcement: StartupMessage


class Sockets(msgspec.Struct, frozen=True):
    """What a process listens on."""

    public: Sequence[socket]
    admin: Sequence[socket]


class _Shutdown:
    """How a process is told to end: at leisure by SIGTERM, at once by SIGINT and SIGQUIT."""

    def __init__(self) -> None:
        self.soon, self.now = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.soon.set)
        for number in (signal.SIGINT, signal.SIGQUIT):
            loop.add_signal_handler(number, self.now.set)

    @property
    def begun(self) -> bool:
        """Whether the process is to end."""
        return self.soon.is_set() or self.now.is_set()


async def run(plan: Plan, slot: WorkerSlot, sockets: Sockets, *, beat: Callable[[], None] | None = None) -> None:
    """Serve until told to end; call `beat` every second while the event loop turns.

    One process of the run, the first that looks after the source, listens before there is data, so that the probes are
    answered meanwhile. The others listen once they have data: with SO_REUSEPORT a socket that does not listen gets no
    connections. Raises `Rejected` where there is nothing to serve.
    """
    ending, settings = _Shutdown(), plan.settings
    complete = None if slot.alone else partial(plan.workspace.is_complete, settings.processes)
    replica = SnapshotHolder(slot, max_stale=settings.max_stale, complete=complete)
    turn = plan.workspace.folder / "access-log"
    with access_log(settings.access_log, turn) as log, ExitStack() as bars:
        publisher = _publisher(plan, replica, bars.enter_context(shown_progress()))
        keeping = asyncio.create_task(follow_publications(replica, plan.workspace, publisher))
        keeping.add_done_callback(lambda _: ending.now.set())
        others = [asyncio.create_task(each) for each in (_beat(beat or (lambda: None)), _try_rate_store(plan))]
        if plan.follower is not None:
            await plan.follower.start()
            others.append(asyncio.create_task(plan.follower.run()))
        try:
            await _first(publisher.first, replica.has_data, ending.soon, ending.now)
            if not ending.begun:
                async with _listening(plan, replica, sockets, log):
                    await _first(replica.has_data, ending.soon, ending.now)
                    bars.close()
                    if replica.current is not None:
                        await _answer(plan, replica, ending)
        finally:
            for task in (*others, keeping):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await keeping


def _publisher(plan: Plan, replica: SnapshotHolder, progress: Progress) -> Publisher:
    async def published(publication: Publication) -> None:
        before = replica.generation  # and nothing that would keep its data alive
        await replica.follow(publication, plan.workspace)
        if replica.current is not None and replica.generation != before:
            dataset = replica.current.dataset
            served = f"{len(dataset.stores):,} stores of {len(dataset.companies):,} companies"
            _log.info("serving %s, version %s", served, dataset.version)

    publisher = Publisher(
        plan.source,
        plan.workspace,
        published,
        safeguards=plan.settings.safeguards,
        poll_seconds=plan.settings.look_seconds,
        progress=progress,
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, publisher.reload)
    return publisher


@asynccontextmanager
async def _listening(
    plan: Plan, replica: SnapshotHolder, sockets: Sockets, log: AccessFile | None
) -> AsyncIterator[None]:
    """Take connections meanwhile."""
    await asyncio.to_thread(import_web, rates=plan.policy.rates)  # 0.2 s, in which the data is being taken
    from service.web.site import make_site, open_site  # noqa: PLC0415 - see above

    site = make_site(replica, plan.authenticate, plan.policy, apart=bool(sockets.admin), log=log)
    most = plan.settings.max_connections
    limits = Limits() if most is None else Limits(connections=most)
    close = await open_site(site, limits, public=sockets.public, admin=sockets.admin)
    if plan.workspace.first("listening"):
        plan.announcement.listening()
    try:
        yield
    finally:
        await close()


def import_web(*, rates: bool) -> None:
    """Import all that answering needs, with or without rates."""
    import service.web.site  # noqa: PLC0415 - so that the rest can begin without it

    if rates:
        import service.access.rate_limiter  # noqa: F401, PLC0415 - as above


async def _answer(plan: Plan, replica: SnapshotHolder, ending: _Shutdown) -> None:
    """Answer from the data until told to end."""
    gc.freeze()  # what was loaded lives as long as the process: no collection need look at it again
    announcing = asyncio.create_task(_announce(plan, replica))
    await _first(ending.soon, ending.now)
    announcing.cancel()
    await _drain(plan, replica, ending)


async def _announce(plan: Plan, replica: SnapshotHolder) -> None:
    """Print that the service is ready once every worker has data, unless another worker prints it."""
    while replica.loading:  # noqa: ASYNC110 - see below
        await asyncio.sleep(_LOOK_SECONDS)  # the others write into shared memory, which wakes no event loop
    if replica.current is not None and plan.workspace.first("ready"):
        plan.announcement.ready(replica.current)


async def _drain(plan: Plan, replica: SnapshotHolder, ending: _Shutdown) -> None:
    """Answer on, but let /ready say that others should be asked, until the time for it is over."""
    replica.draining = True
    with suppress(TimeoutError):
        async with asyncio.timeout(plan.settings.drain):
            await ending.now.wait()


async def _beat(beat: Callable[[], None]) -> None:
    while True:
        beat()
        await asyncio.sleep(_BEAT_SECONDS)


async def _try_rate_store(plan: Plan) -> None:
    """Warn if the rate store does not respond: otherwise the first limited request would be the first to show it."""
    if plan.settings.rate_store and plan.workspace.first("rate-store"):
        from service.access.redis_limiter import RedisFailed, RedisLimiter  # noqa: PLC0415 - of few runs

        store = RedisLimiter(plan.settings.rate_store)
        try:
            await store.ping()
        except RedisFailed as failure:
            _log.warning("the rate store does not respond (%s): each process enforces its share of each rate", failure)
        finally:
            await store.close()


async def _first(*events: asyncio.Event) -> None:
    """Wait for the first of some events."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
