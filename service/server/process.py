"""The life of one serving process: listen, follow the publications, drain, stop."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Final

import msgspec

from service.access.keyring import Keyring
from service.background import Progress
from service.publishing.publisher import Publisher
from service.publishing.snapshot import SnapshotHolder, follow_publications
from service.publishing.source import Source
from service.publishing.worker_slots import WorkerSlot
from service.publishing.workspace import Publication, Workspace
from service.server.console import ServiceManager, StartupMessage
from service.server.listener import Listener
from service.server.log import access_log, shown_progress
from service.settings import Settings
from service.web.pipeline.access_log import WriteEntry, encode_lines

# New objects after which the garbage collector looks at them, for at most a millisecond, while no request is served:
# more at a time take longer. Those of a cached request are never part of a cycle: it forgets them the first time.
GC_THRESHOLD: Final = 1_000
# For how long a thread that answers a long query may keep the interpreter from the event loop, outside of NumPy.
SWITCH_SECONDS: Final = 0.0005
_POLL_SECONDS: Final = 0.02
_log = logging.getLogger(__name__)


class ServeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What the processes of a run serve, and how."""

    settings: Settings
    source: Source
    workspace: Workspace
    keyring: Keyring
    announcement: StartupMessage
    manager: ServiceManager


def _ending() -> tuple[asyncio.Event, asyncio.Event]:
    """Return the events that end the process: gracefully, on SIGTERM, and at once, on SIGINT or SIGQUIT."""
    graceful, immediate = asyncio.Event(), asyncio.Event()
    for number, event in ((signal.SIGTERM, graceful), (signal.SIGINT, immediate), (signal.SIGQUIT, immediate)):
        asyncio.get_running_loop().add_signal_handler(number, event.set)
    return graceful, immediate


async def run(
    setup: ServeSetup,
    slot: WorkerSlot,
    public: Listener,
    admin: Listener,
    *,
    heartbeat: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends the process; call `heartbeat` every second while the event loop is responsive.

    The first leader of the run listens before there is data, to serve the probes. The other processes listen once they
    have data: with SO_REUSEPORT the system sends no connections to a socket that does not listen. Raises `Rejected` if
    there is nothing to serve.
    """
    (graceful, immediate), settings = _ending(), setup.settings
    complete = None if slot.alone else partial(setup.workspace.is_complete, settings.processes)
    holder = SnapshotHolder(slot, max_stale=settings.max_stale, complete=complete)
    lock_file = setup.workspace.folder / "access-log"
    with access_log(settings.access_log, lock_file, encode_lines) as log, ExitStack() as bars:
        publisher = _publisher(setup, holder, bars.enter_context(shown_progress()))
        following = asyncio.create_task(follow_publications(holder, setup.workspace, publisher))
        following.add_done_callback(lambda _: immediate.set())
        others = [asyncio.create_task(each) for each in (_beat(heartbeat), _check_rate_store(setup))]
        if settings.key_file:
            await setup.keyring.start()
            others.append(asyncio.create_task(setup.keyring.run()))
        try:
            await _wait_for_first(publisher.leads_empty, holder.has_data, graceful, immediate)
            if not (graceful.is_set() or immediate.is_set()):
                async with _listening(setup, holder, log.write if log else None, public, admin):
                    others.append(asyncio.create_task(_announce(setup, holder)))
                    await _wait_for_first(holder.has_data, graceful, immediate)
                    bars.close()
                    if holder.current is not None:
                        await _serve(setup, holder, graceful, immediate)
        finally:
            for task in (*others, following):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await following


def _publisher(setup: ServeSetup, holder: SnapshotHolder, progress: Progress) -> Publisher:
    reload_requested = False

    async def on_publish(publication: Publication) -> None:
        nonlocal reload_requested
        before = holder.generation  # not the snapshot, which would keep its data mapped
        await holder.update(publication, setup.workspace)
        if holder.current is not None and holder.generation != before:
            dataset = holder.current.dataset
            _log.info("serving %s, version %s", dataset, dataset.version)
        if reload_requested and not publisher.reload_pending and not holder.loading:
            reload_requested = False
            setup.manager.ready()

    publisher = Publisher(
        setup.source,
        setup.workspace,
        on_publish,
        safeguards=setup.settings.safeguards,
        poll_seconds=setup.settings.poll_seconds,
        progress=progress,
    )

    def reload() -> None:
        nonlocal reload_requested
        setup.manager.reloading()
        reload_requested = True
        publisher.reload()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    return publisher


@asynccontextmanager
async def _listening(
    setup: ServeSetup, holder: SnapshotHolder, log: WriteEntry | None, public: Listener, admin: Listener
) -> AsyncIterator[None]:
    """Accept connections until the block ends."""
    await asyncio.to_thread(import_web)  # 0.3 s, while the data is fetched
    from service.web.connections.limits import Limits  # noqa: PLC0415 - see above
    from service.web.pipeline.auth import KeyAuthentication, no_authentication  # noqa: PLC0415 - see above
    from service.web.site import make_site, open_site  # noqa: PLC0415 - see above

    authenticate = no_authentication if setup.settings.no_auth else KeyAuthentication(setup.keyring)
    key_file_ok = setup.keyring.is_valid if setup.settings.key_file else None
    site = make_site(holder, authenticate, setup.settings, log=log, key_file_ok=key_file_ok)
    connections = setup.settings.max_connections
    limits = Limits() if connections is None else Limits(connections=connections)
    close = await open_site(site, limits, public=public.sockets, admin=admin.sockets)
    try:
        yield
    finally:
        await close()


def import_web() -> None:
    """Import the modules that serving needs."""
    import service.baking.baked_file  # noqa: PLC0415 - fetching the data starts before it
    import service.web.site  # noqa: F401, PLC0415 - as above


async def _serve(setup: ServeSetup, holder: SnapshotHolder, graceful: asyncio.Event, immediate: asyncio.Event) -> None:
    """Serve the data until a signal ends the process, and then for the time to drain, while /ready returns 503."""
    gc.freeze()  # these objects live as long as the process: spare the garbage collector traversing them
    gc.set_threshold(GC_THRESHOLD)
    sys.setswitchinterval(SWITCH_SECONDS)
    await _wait_for_first(graceful, immediate)
    setup.manager.stopping()
    holder.draining = True
    with suppress(TimeoutError):
        async with asyncio.timeout(setup.settings.drain):
            await immediate.wait()


async def _announce(setup: ServeSetup, holder: SnapshotHolder) -> None:
    """Print where the service listens, and once every worker has data that it is ready, unless another has done so.

    Where it listens is printed when there is data, or after two seconds, so that an error found sooner comes first.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            await holder.has_data.wait()
    if setup.workspace.claim("listening"):
        setup.announcement.listening()
    while holder.loading:  # noqa: ASYNC110 - see below
        await asyncio.sleep(_POLL_SECONDS)  # workers share memory, which has no event to wait for
    if holder.current is not None and not holder.draining and setup.workspace.claim("ready"):
        setup.manager.ready()
        setup.announcement.ready(holder.current)


async def _beat(heartbeat: Callable[[], None]) -> None:
    while True:
        heartbeat()
        await asyncio.sleep(1)


async def _check_rate_store(setup: ServeSetup) -> None:
    """Warn if the rate store does not respond: otherwise the first limited request would be the first to show it."""
    if setup.settings.rate_store and setup.workspace.claim("rate-store"):
        from service.access.rate_limiter import RedisFailed, RedisLimiter  # noqa: PLC0415 - few runs need it

        store = RedisLimiter(setup.settings.rate_store)
        try:
            await store.ping()
        except RedisFailed as failure:
            _log.warning("the rate store does not respond (%s): each process enforces its share of each rate", failure)
        finally:
            await store.close()


async def _wait_for_first(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
