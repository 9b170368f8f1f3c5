"""External programs: if one is missing, the test fails and names the package to install."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGTERM, Signals

import pytest

from tests.program import SECONDS, eventually, kill

TOOLS = Path(__file__).parents[2] / ".interop"


def found(program: str, *, package: str) -> str:
    """Return the path of a program; fail if it is not installed."""
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if path is None:
        pytest.fail(f"there is no {program}; install it: apt-get install {package}", pytrace=False)
    return path


def installed(program: str) -> Path:
    """Return the path of a program that `make interop` installs; fail if it did not."""
    path = TOOLS / "bin" / program
    if not path.exists():
        pytest.fail(f"there is no {program}: run `make interop`, which installs it", pytrace=False)
    return path


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, *, ready: Callable[[], object], stop: Signals = SIGTERM
) -> Iterator[subprocess.Popen[str]]:
    """Run a program and yield its process once it is ready; if it ends before that, fail with its output."""
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, text=True, process_group=0)

    def is_ready() -> object:
        assert process.poll() is None, log.read_text()
        return ready()

    try:
        eventually(is_ready)
        yield process
    finally:
        process.send_signal(stop)
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        kill(process)
