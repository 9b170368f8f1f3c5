"""A real Redis for a test."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from tests.interop.software import found
from tests.program import SECONDS, eventually

PASSWORD: Final = "the-secret"  # noqa: S105 - of a Redis that lives as long as a test


class Server(msgspec.Struct, frozen=True):
    """A running Redis; its URL contains the password."""

    url: str
    process: subprocess.Popen[bytes]

    def holds(self) -> dict[str, tuple[float, int]]:
        """Return the requests taken by name of the bucket, each with its time to live in seconds."""
        with Redis.from_url(self.url, decode_responses=True) as client:
            asked: Any = client  # its types are those of both clients, of which one is waited for
            return {name: (float(asked.hget(name, "taken")), asked.ttl(name)) for name in asked.scan_iter()}

    def stop(self) -> None:
        """Suspend it: it accepts connections but does not respond."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume it."""
        self.process.send_signal(signal.SIGCONT)

    def answers(self) -> bool:
        """Return whether it responds."""
        try:
            with Redis.from_url(self.url) as client:
                return bool(client.ping())
        except RedisError:
            return False


@contextmanager
def redis_server(folder: Path, *options: str | Path, url: str) -> Iterator[Server]:
    """Run a Redis without persistence inside the block."""
    program = found("redis-server", package="redis-server")
    folder.mkdir(exist_ok=True)
    command: Sequence[str | Path] = (program, "--save", "", "--dir", folder, "--requirepass", PASSWORD, *options)
    with (folder / "redis.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, process_group=0)
    server = Server(url, process)
    try:
        eventually(server.answers)
        yield server
    finally:
        server.go_on()
        process.terminate()
        process.wait(SECONDS)
