"""Writing the access log to a file, a pipe or standard output."""

import errno
import logging
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Final, Generic, TypeVar

from service.files.locks import locked

STANDARD_OUTPUT: Final = "-"

# Lines are written in batches at this interval.
_FLUSH_SECONDS: Final = 0.1
# Lines that a slow file or reader can hold up, of some 300 bytes each. Further ones are dropped.
_MAX_QUEUED_LINES: Final = 32_768
# Timeout of the last write when the process ends.
_CLOSE_SECONDS: Final = 1
_MODE: Final = 0o640
_CLOSED: Final = -1
_log = logging.getLogger(__name__)


Entry = TypeVar("Entry")


class AccessLogFile(Generic[Entry]):
    """Appends entries, as lines, to a file in a separate thread, so that a slow disk or reader delays no request.

    Lines of several processes do not mix: a lock serializes their writes, and a write that fails midway is undone. A
    file that was renamed or removed, as by log rotation, is created again. Failed writes are retried.
    """

    def __init__(self, name: str, lock_file: Path, encode: Callable[[Sequence[Entry]], bytes]) -> None:
        """Write entries, encoded as lines, to a file, or to standard output if the name is `-`. Raises OSError."""
        self._path = None if name == STANDARD_OUTPUT else Path(name)
        self._file = os.dup(1) if self._path is None else _CLOSED
        self._lock = os.open(lock_file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._encode = encode
        self._entries: list[Entry] = []
        self._batch = b""
        self._error = ""
        self._closing = Event()
        self._thread = Thread(target=self._run, name="access log", daemon=True)  # never delays the exit
        self._thread.start()

    def write(self, entry: Entry) -> bool:
        """Queue an entry without blocking; return whether there was room for it."""
        if len(self._entries) >= _MAX_QUEUED_LINES:
            return False
        self._entries.append(entry)
        return True

    def close(self) -> None:
        """Write the queued lines, with a timeout."""
        self._closing.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        closing = False
        while not closing:
            closing = self._closing.wait(_FLUSH_SECONDS)
            try:
                self._flush()
                self._error = ""
            except OSError as error:
                self._log_once(error)

    def _flush(self) -> None:
        if not self._batch:
            entries = self._entries[:]
            self._batch = self._encode(entries)
            del self._entries[: len(entries)]  # others were appended meanwhile
        if self._batch:
            with locked(self._lock):
                self._reopen()
                self._append()

    def _reopen(self) -> None:
        """Open the file unless the open one is still that of the path."""
        if self._path is not None and (self._file == _CLOSED or not _is_open_at(self._path, self._file)):
            file, self._file = self._file, _open(self._path)
            if file != _CLOSED:
                os.close(file)

    def _append(self) -> None:
        batch, size = self._batch, os.fstat(self._file).st_size
        try:
            while self._batch:
                self._batch = self._batch[os.write(self._file, self._batch) :]
        except OSError:
            if self._batch != batch and _undo_write(self._file, size, written=len(batch) - len(self._batch)):
                self._batch = batch
            raise

    def _log_once(self, error: OSError) -> None:
        """Log an error unless the previous write failed with the same one."""
        if str(error) != self._error:
            self._error = str(error)
            _log.error("the access log cannot be written: %s", error.strerror)


def access_log(
    name: str, lock_file: Path, encode: Callable[[Sequence[Entry]], bytes]
) -> AbstractContextManager[AccessLogFile[Entry] | None]:
    """Open the access log, None without a name; the context closes it. Raises OSError."""
    return closing(AccessLogFile(name, lock_file, encode)) if name else nullcontext()


def checked_access_log(name: str) -> ExitStack:
    """Check that the access log can be written, creating its file. Raises OSError if not, or if a pipe has no reader.

    The result keeps a pipe open: its reader would see its end once no process has it open for writing.
    """
    kept = ExitStack()
    if name not in ("", STANDARD_OUTPUT):
        file = _open(Path(name))
        kept.callback(os.close, file)
        if not stat.S_ISFIFO(os.fstat(file).st_mode):
            kept.close()
    return kept


def _open(path: Path) -> int:
    try:
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, _MODE)
    except OSError as error:
        if error.errno == errno.ENXIO:  # of a non-blocking open; a blocking one would wait for a reader
            raise OSError(error.errno, "it is a pipe or socket without a reader") from None
        raise
    os.set_blocking(file, True)
    return file


def _undo_write(file: int, size: int, *, written: int) -> bool:
    """Truncate a regular file to its previous size, unless others have appended since; return whether it was."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size != size + written:
        return False
    os.ftruncate(file, size)
    os.lseek(file, size, os.SEEK_SET)
    return True


def _is_open_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
