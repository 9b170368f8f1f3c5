"""The log of the service on standard error, its access log, and progress: as bars on a terminal, else in the log."""

import errno
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from time import monotonic, time_ns
from typing import Any, Final

from service.background import Progress
from service.files import locked
from service.texts import printable
from service.web.pipeline.access_log import timestamp

_NANOSECONDS: Final = 1_000_000_000


def start_log(*, as_json: bool) -> None:
    """Log to standard error, in this process and the workers forked from it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if as_json else _Text("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class _Text(logging.Formatter):
    """Lines of text, in local time with its offset; only tracebacks have several."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - logging's
        """Return the time of a record (RFC 3339)."""
        return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line of a record, with control characters and line breaks escaped."""
        return printable(super().formatMessage(record))


class _Json(logging.Formatter):
    """Lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, including its traceback."""
        error = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        return json_line(record.name, record.getMessage(), record.levelname.lower(), record.created, **error)


def json_line(logger: str, message: str, level: str = "info", at: float | None = None, **others: str) -> str:
    """Return a line of the log as JSON, in ASCII with control characters escaped; `at` in seconds, by default now."""
    when = timestamp(time_ns() if at is None else int(at * _NANOSECONDS))
    entry = {"time": when, "level": level, "logger": logger, "message": message, **others}
    return json.dumps({name: text.encode("utf-8", "backslashreplace").decode() for name, text in entry.items()})


STANDARD_OUTPUT: Final = "-"

# Lines that a slow file or reader can hold up, of some 300 bytes each. Further ones are dropped.
_MAX_QUEUED_LINES: Final = 32_768
_log = logging.getLogger(__name__)

Encode = Callable[[Sequence[Any]], bytes]


class AccessLogFile:
    """Appends entries, as lines, to a file in a separate thread, so that a slow disk or reader delays no request.

    Each batch opens the file, so that one that was renamed or removed, as by log rotation, is created again. Lines of
    several processes do not mix: a lock serializes their writes, and a write that fails midway is undone and retried.
    """

    def __init__(self, name: str, lock_file: Path, encode: Encode) -> None:
        """Write entries, encoded as lines, to a file, or to standard output if the name is `-`. Raises OSError."""
        self._name = name
        self._lock = os.open(lock_file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._encode = encode
        self._entries: list[object] = []
        self._batch = b""
        self._closing = Event()
        self._thread = Thread(target=self._run, name="access log", daemon=True)  # never delays the exit
        self._thread.start()

    def write(self, entry: object) -> bool:
        """Queue an entry without blocking; return whether there was room for it."""
        if len(self._entries) >= _MAX_QUEUED_LINES:
            return False
        self._entries.append(entry)
        return True

    def close(self) -> None:
        """Write the queued lines, for at most a second."""
        self._closing.set()
        self._thread.join(1)

    def _run(self) -> None:
        closing, logged = False, ""
        while not closing:
            closing = self._closing.wait(0.1)  # lines are written in batches
            try:
                self._flush()
                logged = ""
            except OSError as error:
                if str(error) != logged:
                    logged = str(error)
                    _log.error("the access log cannot be written: %s", error.strerror)

    def _flush(self) -> None:
        if not self._batch:
            entries = self._entries[:]
            self._batch = self._encode(entries)
            del self._entries[: len(entries)]  # others were appended meanwhile
        if self._batch:
            with locked(self._lock), open(_open(self._name), "wb", buffering=0) as file:
                self._append(file.fileno())

    def _append(self, file: int) -> None:
        size, batch = os.fstat(file).st_size, self._batch
        try:
            while self._batch:
                self._batch = self._batch[os.write(file, self._batch) :]
        except OSError:
            written = len(batch) - len(self._batch)
            if written and os.fstat(file).st_size == size + written:  # nobody else appended; the size of a pipe is 0
                os.ftruncate(file, size)
                os.lseek(file, size, os.SEEK_SET)  # of standard output, which stays open
                self._batch = batch
            raise


def access_log(name: str, lock_file: Path, encode: Encode) -> AbstractContextManager[AccessLogFile | None]:
    """Open the access log, None without a name; the context closes it. Raises OSError."""
    return closing(AccessLogFile(name, lock_file, encode)) if name else nullcontext()


def checked_access_log(name: str) -> ExitStack:
    """Check that the access log can be written, creating its file. Raises OSError if not, or if a pipe has no reader.

    The result keeps a pipe open: its reader would see its end once no process has it open for writing.
    """
    kept = ExitStack()
    if name:
        kept.callback(os.close, _open(name))
        if not Path(name).is_fifo():
            kept.close()
    return kept


def _open(name: str) -> int:
    if name == STANDARD_OUTPUT:
        return os.dup(1)
    try:
        file = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o640)
    except OSError as error:
        if error.errno == errno.ENXIO:  # of a non-blocking open; a blocking one would wait for a reader
            error.strerror = "no process reads from this pipe or socket"
        raise
    os.set_blocking(file, True)
    return file


_SHOWN_SECONDS: Final = 1.0
_LOG_SECONDS: Final = 5.0


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second on a line of standard error, if that is a terminal, else in the log."""
    terminal = sys.stderr.isatty()
    began = shown = monotonic()

    def show(step: str, done: int, total: int) -> None:
        nonlocal shown
        if monotonic() - shown < (_SHOWN_SECONDS if terminal else _LOG_SECONDS):
            return
        shown = monotonic()
        if terminal:
            _rewrite_line(f"{step:20} {'#' * (30 * done // total):30} {done / total:4.0%}")
        else:
            _log.info("%s: %.0f %%", step, 100 * done / total)

    try:
        yield show
    finally:
        if terminal and shown > began:
            _rewrite_line("")


def _rewrite_line(text: str) -> None:
    """Replace the line of the terminal, and return to its beginning: what is printed next replaces it."""
    sys.stderr.write(f"\r\x1b[K{text}\r")
    sys.stderr.flush()
