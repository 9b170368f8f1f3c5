"""Messages at the start: the lines printed for a person, and notifications of a service manager (sd_notify(3))."""

import logging
import os
import shlex
import socket
import sys
import time
from contextlib import suppress
from typing import Final, TextIO

import msgspec

from service.model.operation import KEY_HEADER
from service.publishing.snapshot import Snapshot
from service.server.listener import UNIX_SCHEME, Listener
from service.server.log import STANDARD_OUTPUT, json_line
from service.settings import Settings

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

    admin     the address of probes and metrics; without sockets if they are on the public one
    made_key  the key, if it was made for this run
    """

    settings: Settings
    public: Listener
    admin: Listener
    made_key: str | None

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
        key = "" if self.settings.no_auth else f"-H '{KEY_HEADER}: {self.made_key or '<your key>'}' "
        url = self.public.url
        path = url.removeprefix(UNIX_SCHEME)
        if path != url:  # a browser cannot open it
            self._print(f"Try: curl {key}--unix-socket {shlex.quote(path)} 'http://localhost/stores?limit=2'")
            return
        self._print(f"Try: curl {key}{shlex.quote(f'{url}/stores?limit=2')}")
        if not self.settings.no_explorer:
            # The link has the key if a person reads it: logs of containers are kept for longer.
            key = f"#key={self.made_key}" if self.made_key is not None and self._file.isatty() else ""
            self._print(f"Explore: {url}/explorer{key}")
        self._print(f"Docs: {url}/docs")

    @property
    def _file(self) -> TextIO:
        return sys.stderr if self.settings.access_log == STANDARD_OUTPUT else sys.stdout

    def _print(self, line: str) -> None:
        """Print a line, as the log is: as text or as JSON. Errors, such as a closed pipe, do not end the service."""
        if self.settings.log_format == "json":
            line = json_line(__name__, line)
        with suppress(OSError):
            print(line, file=self._file, flush=True)
