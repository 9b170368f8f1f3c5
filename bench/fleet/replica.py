"""A replica of the service: a process with a cache of its own."""

from contextlib import ExitStack
from pathlib import Path

from bench.wire.servers import Failed, free_port
from tests.program import Running, kill, serving


class Replica:
    """A replica with its files in a folder. It keeps its port when it starts again."""

    _running: Running

    def __init__(self, folder: Path, runs: ExitStack, *options: str) -> None:
        self.port, self._folder, self._runs = free_port(), folder, runs
        self._options = ("--port", str(self.port), "--cache", str(folder / "cache"), *options)
        folder.mkdir()

    def start(self) -> None:
        """Start, and wait until it is ready."""
        self._running = self._runs.enter_context(serving(*self._options, log=self._folder / "log"))

    def drain(self) -> None:
        """Send SIGTERM, and wait for the end of the process. Raises `Failed`."""
        if code := self._running.end():
            raise Failed(f"a replica that drained exited with {code}: {(self._folder / 'log').read_text()[-500:]}")

    def kill(self) -> None:
        """Send SIGKILL."""
        kill(self._running.process)

    def version(self) -> str:
        """Return the version of the data that it serves."""
        return str(self._running.ready()["version"])
