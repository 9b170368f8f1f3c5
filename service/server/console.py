"""Progress bars on a terminal; elsewhere lines in the log."""

import logging
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final, TextIO

import msgspec

from service.background import Progress
from service.model.operation import KEY_HEADER
from service.publishing.snapshot import Snapshot
from service.server.listener import UNIX_SCHEME, Listener

_SECONDS: Final = 1
_log = logging.getLogger(__name__)


class ServiceManager(msgspec.Struct, frozen=True):
    """Notifies the service manager over the Unix datagram socket at an address; `@` begins an abstract one, "" is none.

    A notification that cannot be sent within a second is a warning in the log.
    """

    address: str = ""

    def ready(self) -> None:
        """Report that data is served, after the start or after a reload that was requested."""
        self._notify("READY=1")

    def reloading(self) -> None:
        """Report that a reload was requested; `ready` ends it."""
        self._notify(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Report that the service drains, or ends."""
        self._notify("STOPPING=1")

    def _notify(self, state: str) -> None:
        if self.address:
            path = f"\0{self.address[1:]}" if self.address[0] == "@" else self.address
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                    sender.settimeout(_SECONDS)
                    sender.sendto(state.encode(), path)
            except OSError as error:
                _log.warning("the service manager at NOTIFY_SOCKET was not notified: %s", error.strerror or error)


def service_manager() -> ServiceManager:
    """Return the service manager that NOTIFY_SOCKET names, and remove the variable.

    Otherwise gunicorn would report that it is ready, before there is data, and worker and child processes would inherit
    the variable.
    """
    return ServiceManager(os.environ.pop("NOTIFY_SOCKET", ""))


class StartupMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Prints where the service listens and how to call it.

    admin        the address of probes and metrics; without sockets if they are on the public one
    has_explorer whether the page for people is served
    made_key     the key, if it was made for this run
    open_to_all  whether no key is needed
    to_stderr    whether standard output is used for the access log
    """

    public: Listener
    admin: Listener
    has_explorer: bool
    made_key: str | None
    open_to_all: bool
    to_stderr: bool

    def listening(self) -> None:
        """Print the addresses."""
        self._print(f"Listening on {self.public.address}")
        if self.admin.sockets:
            self._print(f"Probes and metrics on {self.admin.address}")

    def ready(self, current: Snapshot) -> None:
        """Print that the service is ready, and a command to try."""
        self._print(f"Ready: {current.dataset}")
        if self.made_key is not None:
            self._print(f"Key: {self.made_key} (made for this run; --api-key sets your own)")
        key = "" if self.open_to_all else f"-H '{KEY_HEADER}: {self.made_key or '<your key>'}' "
        url = self.public.url
        path = url.removeprefix(UNIX_SCHEME)
        if path != url:  # a browser cannot open it
            self._print(f"Try: curl {key}--unix-socket {shlex.quote(path)} 'http://localhost/stores?limit=2'")
            return
        self._print(f"Try: curl {key}{shlex.quote(f'{url}/stores?limit=2')}")
        if self.has_explorer:
            self._print(f"Explore: {url}/explorer{self._fragment()}")
        self._print(f"Docs: {url}/docs")

    def _fragment(self) -> str:
        """Return the key for the page, if a person reads the link: logs of containers are kept for longer."""
        return f"#key={self.made_key}" if self.made_key is not None and self._file.isatty() else ""

    @property
    def _file(self) -> TextIO:
        return sys.stderr if self.to_stderr else sys.stdout

    def _print(self, line: str) -> None:
        """Print a line. Errors, such as a closed pipe, do not end the service."""
        with suppress(OSError):
            print(line, file=self._file, flush=True)


# Shorter work has no bar.
_DELAY_SECONDS: Final = 1.0
_LOG_SECONDS: Final = 5.0


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second as a bar on standard error, if that is a terminal, else in the log."""
    if not sys.stderr.isatty():
        yield _logged_progress()
        return
    from rich import progress as bars  # noqa: PLC0415 - slow to import, and needed on a terminal only
    from rich.console import Console  # noqa: PLC0415 - as above

    stderr = Console(stderr=True, highlight=False)
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TaskProgressColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=stderr, transient=True) as display:
        began, tasks = monotonic(), dict[str, bars.TaskID]()

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                if monotonic() - began < _DELAY_SECONDS:
                    return
                tasks[step] = display.add_task(step, total=total)
            display.update(tasks[step], completed=done, total=total)

        yield show


def _logged_progress() -> Progress:
    logged = monotonic()

    def log(step: str, done: int, total: int) -> None:
        nonlocal logged
        if monotonic() - logged >= _LOG_SECONDS:
            logged = monotonic()
            _log.info("%s: %.0f %%", step, 100 * done / total)

    return log
