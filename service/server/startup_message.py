"""The lines printed at the start: addresses, key, and a command to try."""

import shlex
import sys
from contextlib import suppress
from typing import TextIO

import msgspec

from service.model.operation import KEY_HEADER
from service.server.listener import Listener
from service.server.unix_socket import UNIX_SCHEME
from service.snapshot.snapshot import Snapshot


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
