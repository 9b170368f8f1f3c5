"""Where the access log is written to."""

import errno
import logging
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

from service.files.locks import locked

STANDARD_OUTPUT: Final = "-"

# Lines are written together: whoever looks at the log waits no longer than that for one.
_GATHER_SECONDS: Final = 0.1
# So many lines wait where they cannot be written as quickly as they come, each of some 300 bytes.
_MOST_LINES: Final = 32_768
# What a file or a reader gets to take the last lines when the process ends.
_END_SECONDS: Final = 1
_MODE: Final = 0o640
_NONE: Final = -1
_log = logging.getLogger(__name__)


class AccessFile:
    """Appends lines to a file, in a thread of its own: a disk or a reader that is slow holds up no request.

    Lines of several processes do not mix: they write in turn, and what was written of lines that do not fit is taken
    back. A file that was moved away, as logs are rotated, is made anew. What cannot be written is tried again.
    """

    def __init__(self, name: str, turn: Path) -> None:
        """Write to a file, `-` for standard output; who has locked the file `turn` writes. Raises OSError."""
        self._path = None if name == STANDARD_OUTPUT else Path(name)
        self._file = os.dup(1) if self._path is None else _NONE
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
            with locked(self._turn):
                self._reopen()
                self._append()

    def _reopen(self) -> None:
        """Open the file where it is not yet, or no longer, the one of its name."""
        if self._path is not None and (self._file == _NONE or not _is(self._path, self._file)):
            file, self._file = self._file, _opened(self._path)
            if file != _NONE:
                os.close(file)

    def _append(self) -> None:
        lines, size = self._rest, os.fstat(self._file).st_size
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._file, self._rest) :]
        except OSError:
            if self._rest != lines and _taken_back(self._file, size, length=len(lines) - len(self._rest)):
                self._rest = lines
            raise

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


@contextmanager
def checked_access_log(name: str) -> Iterator[None]:
    """Make the file of an access log if need be. Raises OSError where it cannot be written to, or nobody reads a pipe.

    A pipe is kept open meanwhile: its reader takes it for ended once nobody may write to it.
    """
    file = _NONE if name in ("", STANDARD_OUTPUT) else _opened(Path(name))
    if file != _NONE and not stat.S_ISFIFO(os.fstat(file).st_mode):
        os.close(file)
        file = _NONE
    try:
        yield
    finally:
        if file != _NONE:
            os.close(file)


def _opened(path: Path) -> int:
    try:
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, _MODE)
    except OSError as error:
        if error.errno == errno.ENXIO:  # which else would be waited for
            raise OSError(error.errno, "it is a pipe or socket, and nobody reads from it") from None
        raise
    os.set_blocking(file, True)
    return file


def _taken_back(file: int, size: int, *, length: int) -> bool:
    """Cut what was written behind a size, of a file where nobody else wrote meanwhile; return whether that came off."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size != size + length:
        return False
    os.ftruncate(file, size)
    os.lseek(file, size, os.SEEK_SET)
    return True


def _is(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
