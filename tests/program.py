"""The program as its users run it: a process."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from time import monotonic, sleep
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec

PROGRAM = (sys.executable, "-m", "service")
SECONDS = 60


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with no setting of the service but those given, and no cache of the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STORE_DIRECTORY_")}
    return {**kept, "XDG_CACHE_HOME": str(Path(gettempdir()) / "store-directory-tests"), **settings}


def run(*arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment(settings)
    )


class Answer(msgspec.Struct, frozen=True):
    """What came back over HTTP."""

    status: int
    body: bytes


class Running(msgspec.Struct, frozen=True):
    """A running service: its process, what it printed until it was ready, and where it listens."""

    process: subprocess.Popen[str]
    printed: str
    address: str

    @property
    def key(self) -> str:
        """The key that it printed."""
        found = re.search(r"^Key: (\S+)", self.printed, re.MULTILINE)
        assert found is not None, self.printed
        return found[1]

    def get(self, target: str, key: str | None = None) -> Answer:
        """Ask for a target, with a key if one is given."""
        headers = {} if key is None else {"x-api-key": key}
        try:
            with urlopen(Request(self.address + target, headers=headers), timeout=SECONDS) as response:  # noqa: S310 - an address of our own
                return Answer(response.status, response.read())
        except HTTPError as error:
            return Answer(error.code, error.read())


def eventually(holds: Callable[[], bool], *, seconds: float = SECONDS) -> None:
    """Wait until something holds; fail where it does not in time."""
    deadline = monotonic() + seconds
    while not holds():
        assert monotonic() < deadline, "it does not come to hold"
        sleep(0.02)


def started(*arguments: str | Path, **settings: str) -> subprocess.Popen[str]:
    """Start the service on a free port."""
    command = [*PROGRAM, "serve", "--port", "0", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(settings)
    )


@contextmanager
def serving(*arguments: str | Path, **settings: str) -> Iterator[Running]:
    """Run the service on a free port until it is ready, and stop it afterwards."""
    with started(*arguments, **settings) as process:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Docs: "):
                break
        address = re.search(r"^Listening on (\S+)$", printed, re.MULTILINE)
        try:
            assert address is not None, printed + process.communicate(timeout=SECONDS)[1]
            yield Running(process, printed, address[1])
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=SECONDS)
