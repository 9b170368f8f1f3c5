"""A run of the service: listen, load, answer, stop."""

import asyncio
import gc
import logging
import shlex
import signal
from contextlib import suppress
from typing import Final

import click
from aiohttp import web

from service.commands.terminal import shown_progress
from service.loading.dataset import Report
from service.replica import Replica
from service.settings import Settings
from service.web.app import App
from service.web.auth import KEY_HEADER, anybody, keyring, new_key
from service.web.server import runner

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# A page of scattered records makes some thousand objects for a moment: without cycles, so nothing is there to collect.
_COLLECT_AFTER: Final = 50_000
_log = logging.getLogger(__name__)


class CannotListen(Exception):
    """The address cannot be had; the message says why."""


class _Stopped(Exception):
    """The run was told to stop while it loaded."""


async def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM.

    Listens before it loads, so that /ready tells of the loading. Raises `Refused` where the data set is not served,
    `CannotListen` where the address cannot be had.
    """
    stop = asyncio.Event()
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    made_key = None if settings.no_auth or settings.api_key else new_key()
    authenticate = anybody if settings.no_auth else keyring(settings.api_key or (made_key or "",))
    replica = Replica(settings.data, invalid=settings.invalid)
    server = runner(App(replica, authenticate))
    await server.setup()
    try:
        await _listen(server, settings)
        address = _address(server)
        _say(f"Listening on {address}")
        report = await _load(replica, stop)
        if report is not None and replica.current is not None:
            _log_report(report, replica.current.dataset.version)
            _announce(report, address, made_key, settings)
            await stop.wait()
    finally:
        await server.cleanup()


async def _listen(server: web.ServerRunner, settings: Settings) -> None:
    try:
        await web.TCPSite(server, settings.host, settings.port).start()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {settings.host}:{settings.port}: {reason}") from error


def _say(line: str) -> None:
    """Print a line for the person who started the service. It goes on where nobody reads it."""
    with suppress(OSError):
        click.echo(line)


async def _load(replica: Replica, stop: asyncio.Event) -> Report | None:
    """Load beside the event loop; return what was found, or None where that was stopped."""
    with shown_progress() as show:

        def progress(step: str, done: int, total: int) -> None:
            if stop.is_set():
                raise _Stopped
            show(step, done, total)

        try:
            report = await asyncio.to_thread(replica.load, progress)
        except _Stopped:
            return None
    gc.freeze()  # what was loaded lives as long as the process: no collection need look at it again
    gc.set_threshold(_COLLECT_AFTER)
    return report


def _log_report(report: Report, version: str) -> None:
    totals = report.totals
    served = f"{totals.stores:,} stores of {totals.companies:,} companies"
    _log.info("serving %s, version %s", served, version)
    if totals.skipped:
        _log.warning("left out %s records at fault", f"{totals.skipped:,}")
    for kind, found in (("fault", report.faults), ("warning", report.warnings)):
        if found:
            _log.warning("the first %s of %s: %s", kind, f"{len(found):,}", found[0])


def _address(server: web.ServerRunner) -> str:
    host, port = server.addresses[0][:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(report: Report, address: str, made_key: str | None, settings: Settings) -> None:
    _say(f"Ready: {report.totals.stores:,} stores of {report.totals.companies:,} companies")
    if made_key is not None:
        _say(f"Key: {made_key} (made for this run; --api-key sets your own)")
    key = "" if settings.no_auth else f"-H '{KEY_HEADER}: {made_key or '<your key>'}' "
    _say(f"Try: curl {key}{shlex.quote(f'{address}/stores?limit=2')}")
    _say(f"Docs: {address}/docs")
