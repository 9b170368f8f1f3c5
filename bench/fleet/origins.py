"""Origins: servers of the baked file that every replica follows."""

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

from bench.wire.servers import free_port
from tests.interop.caching_proxies import HOST, listens, nginx_options
from tests.interop.software import found, running
from tests.program import kill

_EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "edge" / "nginx.conf"
_LISTENING: Final = f"listen {HOST}:8090;"


class Origin(Protocol):
    """A server of one baked file; `url` is what `serve --data` takes."""

    url: str

    def start(self) -> None:
        """Serve, also again."""

    def publish(self, baked: Path) -> None:
        """Replace the file atomically; the server runs."""

    def kill(self) -> None:
        """Send SIGKILL."""

    def stop(self) -> None:
        """Stop, if it runs."""


class NginxOrigin:
    """nginx with the configuration of examples/edge, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._port, self._folder, self._runs = free_port(), folder, ExitStack()
        self.url = f"http://{HOST}:{self._port}/stores.baked"
        (folder / "origin").mkdir(parents=True)
        text = _EXAMPLE.read_text().replace(_LISTENING, f"listen {HOST}:{self._port};")
        (folder / "nginx.conf").write_text(text)

    def start(self) -> None:
        """Serve, also again."""
        command = [found("nginx", package="nginx"), *nginx_options(self._folder, self._port)]
        log = self._folder / "nginx.log"
        self._process = self._runs.enter_context(running(command, log, ready=lambda: listens(self._port)))

    def publish(self, baked: Path) -> None:
        """Copy the file, which gives it a new time and so a new entity tag, then rename the copy."""
        shutil.copyfile(baked, self._folder / "new")
        (self._folder / "new").replace(self._folder / "origin" / "stores.baked")

    def kill(self) -> None:
        """Send SIGKILL to nginx and its worker."""
        kill(self._process)

    def stop(self) -> None:
        """Stop, if it runs."""
        self._runs.close()
