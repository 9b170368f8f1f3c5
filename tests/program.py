"""The program as a process, as users run it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from tempfile import gettempdir
from time import monotonic, sleep
from typing import IO, Any, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec
import orjson
from click.testing import CliRunner, Result

from service import __version__
from service.baking.layout import FORMAT
from service.commands import main
from tests.warm import AUTHORITY, Warm

PROGRAM = (sys.executable, "-m", "service")
# When a test that hangs is ended: a machine may be slow, and no test depends on how slow.
SECONDS = 600
# Between two looks: first and longest. Most ask the service, which needs the processor time for what is waited for.
_PAUSES_SECONDS = 0.02, 0.2
_Found = TypeVar("_Found")


def eventually(look: Callable[[], _Found]) -> _Found:
    """Repeat a call until its value is true, and return that; fail after `SECONDS`."""
    deadline, (pause, longest) = monotonic() + SECONDS, _PAUSES_SECONDS
    while not (found := look()):
        assert monotonic() < deadline, f"after {SECONDS} s it is still {found!r}"
        sleep(pause)
        pause = min(1.3 * pause, longest)
    return found


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with only these settings of the service, without the user's cache.

    It trusts one authority: aiohttp reads all of the system's on import, a tenth of a start. Clients of object stores
    need one, even for http.
    """
    others = {name: value for name, value in os.environ.items() if not name.startswith("STORE_DIRECTORY_")}
    cache = Path(gettempdir()) / "store-directory-tests"
    return {**others, "SSL_CERT_FILE": str(AUTHORITY), "XDG_CACHE_HOME": str(cache), **settings}


def run(*arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, in a new Python where a setting is for that, such as PYTHONPATH."""
    return run_into(PIPE, *arguments, **settings)


def run_into(stdout: int | IO[str], *arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, as `run` does, with a standard output."""
    command = [*PROGRAM, *map(str, arguments)]
    start = subprocess.Popen if any(name.startswith("PYTHON") for name in settings) else Warm
    with start(command, stdout=stdout, stderr=PIPE, text=True, env=environment(settings)) as process:
        try:
            printed = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, *printed)


def usage(*arguments: str | Path, **settings: str) -> Result:
    """Run the program in this process, for calls that start no service: starting a process takes long.

    Raises the exceptions that the program does not handle.
    """
    unset = dict.fromkeys(name for name in os.environ if name.startswith("STORE_DIRECTORY_"))
    runner = CliRunner(env={**unset, **settings})
    return runner.invoke(main, [*map(str, arguments)], prog_name="store-directory", catch_exceptions=False)


def run_here(*arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the program in this process, as `usage` does; return what `run` returns."""
    result = usage(*arguments, **settings)
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


@contextmanager
def forked(work: Callable[[], object]) -> Iterator[int]:
    """Run a function in a fork of this process, without the start of another; yield its id, and kill it at the end."""
    if not (child := os.fork()):
        try:
            work()
        finally:
            os._exit(sys.exc_info()[0] is not None)
    try:
        yield child
    finally:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def exit_code(child: int) -> int:
    """Wait for a fork to end; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def start_error(ended: subprocess.CompletedProcess[str]) -> str:
    """Return what a start that failed printed after the first line of the log, which says what was started."""
    first, _, error = ended.stderr.partition("\n")
    assert first.endswith(f"store-directory {__version__}, which reads baked files of the format {FORMAT!r}")
    return error


class Answer(msgspec.Struct, frozen=True):
    """A response."""

    status: int
    body: bytes


class Running(msgspec.Struct, frozen=True):
    """A running service: its process, what it printed until it was ready, its address, and its log file, if any."""

    process: subprocess.Popen[str]
    printed: str
    address: str
    log: str | Path = ""

    @property
    def key(self) -> str:
        """The key that it printed."""
        found = re.search(r"^Key: (\S+)", self.printed, re.MULTILINE)
        assert found is not None, self.printed
        return found[1]

    def get(self, target: str, key: str | None = None) -> Answer:
        """Send a GET request, with a key if one is given."""
        headers = {} if key is None else {"x-api-key": key}
        try:
            with urlopen(Request(self.address + target, headers=headers), timeout=SECONDS) as response:  # noqa: S310 - an address of our own
                return Answer(response.status, response.read())
        except HTTPError as error:
            return Answer(error.code, error.read())

    def ready(self) -> dict[str, Any]:
        """Return the body of /ready without a key: `status`, and everything with --no-auth."""
        body: dict[str, Any] = orjson.loads(self.get("/ready").body)
        return body

    def metrics(self) -> dict[str, float]:
        """Return the metrics by name and labels."""
        lines = (line for line in self.get("/metrics").body.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def workers(self) -> list[int]:
        """Return its worker processes if there are several."""
        return children(self.process.pid)

    def logged(self) -> list[str]:
        """Return the lines of its log until now."""
        return Path(self.log).read_text().splitlines()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def children(pid: int) -> list[int]:
    """Return the processes that a process started and that live."""
    everyone = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return sorted(each for each in everyone if _status(each)[1:2] == [str(pid)] and not has_ended(each))


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; it may be a zombie."""
    return _status(pid)[:1] in ([], ["Z"], ["X"])


def compilers(pid: int) -> list[int]:
    """Return the compilers that a process started and that run."""
    return [child for child in children(pid) if "service.publishing.compiler_process" in command_line(child)]


def sockets(pid: int) -> set[int]:
    """Return the inodes of the sockets that a process has open; none if it has ended."""
    found = set()
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):  # it is closed meanwhile
            if (name := str(link.readlink())).startswith("socket:["):
                found.add(int(name[len("socket:[") : -1]))
    return found


def command_line(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    return _of_process(pid, "cmdline").replace("\0", " ")


def _status(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name, state and parent first (proc_pid_stat(5))."""
    return _of_process(pid, "stat").rpartition(")")[2].split()


def _of_process(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


@contextmanager
def started(
    *arguments: str | Path, log: str | Path = "", program: Sequence[str] = PROGRAM, **settings: str
) -> Iterator[subprocess.Popen[str]]:
    """Start the service on a free port, in a process group of its own, with its log in a file if one is named.

    It is killed at the end: a test that fails does not wait for it.
    """
    command = [*program, "serve", "--port", "0", *map(str, arguments)]
    with (
        Path(log or os.devnull).open("a") as opened,
        Warm(command, stdout=PIPE, stderr=opened if log else PIPE, text=True, env=environment(settings)) as process,
    ):
        try:
            yield process
        finally:
            kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a service that was started here, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)


@contextmanager
def serving(
    *arguments: str | Path, log: str | Path = "", program: Sequence[str] = PROGRAM, **settings: str
) -> Iterator[Running]:
    """Run the service on a free port until it is ready, and stop it afterwards."""
    with started(*arguments, log=log, program=program, **settings) as process:
        assert process.stdout is not None
        printed = ""
        for printed_line in process.stdout:
            is_json = printed_line.startswith("{")  # with `--log-format json`
            line = f"{json.loads(printed_line)['message']}\n" if is_json else printed_line
            printed += line
            if line.startswith("Docs: ") or "--unix-socket" in line:
                break
        address = re.search(r"^(?:Docs: (\S+)/docs|Listening on (unix:\S+))$", printed, re.MULTILINE)
        try:
            assert address is not None, printed + (process.communicate(timeout=SECONDS)[1] or "")
            yield Running(process, printed, address[1] or address[2], log)
        finally:
            if process.poll() is None:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=SECONDS)
            kill(process)
