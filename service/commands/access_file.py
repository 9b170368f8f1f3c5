"""Where the access log is written to."""

import fcntl
import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

STANDARD_OUTPUT: Final = "-"

# Lines are written together: whoever looks at the log waits no longer than that for one.
_GATHER_SECONDS: Final = 0.1
# So many lines wait where they cannot be written as quickly as they come, each of some 300 bytes.
_MOST_LINES: Final = 32_768
# What a file or a reader gets to take the last lines when the process ends.
_END_SECONDS: Final = 1
_MODE: Final = 0o640
_log = logging.getLogger(__name__)


class AccessFile:
    """Appends lines to a file, in a thread of its own: a disk or a reader that is slow holds up no request.

    Lines of several processes do not mix: they write in turn. A file that was moved away, as logs are rotated, is made
    anew. What cannot be written is tried again.
    """

    def __init__(self, name: str, turn: Path) -> None:
        """Open a file, `-` for standard output; who has locked the file `turn` writes. Raises OSError."""
        self._path = None if name == STANDARD_OUTPUT else Path(name)
        self._file = os.dup(1) if self._path is None else _opened(self._path)
        self._turn = os.open(turn, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._failure = ""
        self._ends = Event()
        self._thread = Thread(target=self._run, name="access log", daemon=True)  # nobody waits for a stalled reader
        self._thread.start()

    def write(self, line: bytes) -> bool:
        """Take a line, without waiting; return whether there was room for it."""
        if len(self._lines) >= _MOST_LINES:
            return False
        self._lines.append(line)
        return True

    def close(self) -> None:
        """Write what waits, unless that takes long."""
        self._ends.set()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        ends = False
        while not ends:
            ends = self._ends.wait(_GATHER_SECONDS)
            try:
                self._flush()
                self._failure = ""
            except OSError as error:
                self._tell(error)

    def _flush(self) -> None:
        if not self._rest:
            self._rest = b"".join(self._lines.popleft() for _ in range(len(self._lines)))
        if self._rest:
            fcntl.flock(self._turn, fcntl.LOCK_EX)
            try:
                self._reopen()
                while self._rest:
                    self._rest = self._rest[os.write(self._file, self._rest) :]
            finally:
                fcntl.flock(self._turn, fcntl.LOCK_UN)

    def _reopen(self) -> None:
        """Open the file anew where it is no longer the one of its name."""
        if self._path is not None and not _is(self._path, self._file):
            file, self._file = self._file, _opened(self._path)
            os.close(file)

    def _tell(self, error: OSError) -> None:
        """Log a failure, once for as long as it lasts."""
        if str(error) != self._failure:
            self._failure = str(error)
            _log.error("the access log cannot be written: %s", error.strerror)


@contextmanager
def access_log(name: str, turn: Path) -> Iterator[AccessFile | None]:
    """Keep the access log of a name, if there is one, and close it in the end. Raises OSError."""
    if not name:
        yield None
        return
    file = AccessFile(name, turn)
    try:
        yield file
    finally:
        file.close()


def check_access_log(name: str) -> None:
    """Make the file of an access log if need be. Raises OSError where it cannot be written to."""
    if name not in ("", STANDARD_OUTPUT):
        os.close(_opened(Path(name)))


def _opened(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, _MODE)


def _is(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
