"""What is printed for the person who started the service."""

import shlex
import sys
from contextlib import suppress

import msgspec

from service.server.unix_socket import UNIX_SCHEME
from service.snapshot.snapshot import Snapshot
from service.web.auth import KEY_HEADER


class StartupMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Tells where the service listens, and how to ask it. A key is shown where it was made for this run.

    public, admin  what it listens on, for a person; that of probes and metrics is "" where they are public
    url            where a client on this machine asks; of a Unix socket it is `unix:` and its path
    open_to_all    whether no key is needed
    aside          whether standard output is for something else, so that standard error has to do
    """

    public: str
    admin: str
    url: str
    made_key: str | None
    open_to_all: bool
    aside: bool = False

    def listening(self) -> None:
        """Tell that the service listens."""
        self._say(f"Listening on {self.public}")
        if self.admin:
            self._say(f"Probes and metrics on {self.admin}")

    def ready(self, current: Snapshot) -> None:
        """Tell that the service is ready, and how to ask."""
        dataset = current.dataset
        self._say(f"Ready: {len(dataset.stores):,} stores of {len(dataset.companies):,} companies")
        if self.made_key is not None:
            self._say(f"Key: {self.made_key} (made for this run; --api-key sets your own)")
        key = "" if self.open_to_all else f"-H '{KEY_HEADER}: {self.made_key or '<your key>'}' "
        path = self.url.removeprefix(UNIX_SCHEME)
        if path != self.url:  # which no browser opens
            self._say(f"Try: curl {key}--unix-socket {shlex.quote(path)} 'http://localhost/stores?limit=2'")
            return
        self._say(f"Try: curl {key}{shlex.quote(f'{self.url}/stores?limit=2')}")
        self._say(f"Docs: {self.url}/docs")

    def _say(self, line: str) -> None:
        """Print a line. The service goes on where nobody reads it."""
        with suppress(OSError):
            print(line, file=sys.stderr if self.aside else sys.stdout, flush=True)
