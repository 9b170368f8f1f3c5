"""Parquet and GeoParquet as a file of records by column."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from itertools import islice
from signal import Signals
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, cast

import msgspec

from service.processes import module_command
from service.reading.batch import Batch, UnusedName
from service.reading.diagnostics import FileError
from service.reading.field_names import MAX_UNUSED
from service.reading.geometry import LATITUDE, LONGITUDE
from service.reading.json_paths import heads
from service.reading.parquet.messages import LENGTH_BYTES, End, Message, Opened, Refused, Request, Rows
from service.reading.record_file import RecordFile

_NOT_INSTALLED: Final = "reading Parquet needs pyarrow: `pip install 'store-directory[parquet]'`"
_MODULE: Final = "service.reading.parquet.process"
_MALLOC: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # the memory pool that reserves no address space
_decode_message: Final = msgspec.msgpack.Decoder(Message).decode


class ParquetFile(RecordFile):
    """The records of a Parquet file."""

    is_table = False

    def __init__(self, content: bytes) -> None:
        """Open a file. Raises FileError."""
        if find_spec("pyarrow") is None:
            raise FileError(_NOT_INSTALLED)
        self._content, self._opened = content, Opened({}, 0)
        for message in _messages(content, None):
            if isinstance(message, Opened):
                self._opened = message
        self.names, self.assumed = list(self._opened.paths), ()

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Yield all records, with the cells of some columns. Raises FileError."""
        used = {name for path in columns for name in (path, *heads(path))}
        located = {self._opened.paths.get(name) for name in (LATITUDE, LONGITUDE)}
        unused = dict.fromkeys(name for name in self._opened.paths.values() if name not in used | located)
        unused_names, first = list(islice(unused, MAX_UNUSED)), 1
        with closing(_messages(self._content, columns)) as messages:
            for message in messages:
                if isinstance(message, Rows):
                    yield _batch(message, columns, unused_names, first, self._opened.records)
                    first += message.records


def _batch(rows: Rows, columns: Sequence[str], unused: Sequence[str], first: int, total: int) -> Batch:
    numbers = range(first, first + rows.records)
    done = numbers.stop - 1
    return Batch(
        numbers,
        dict(zip(columns, rows.columns, strict=True)),
        lambda: [None] * len(numbers),
        [],
        [UnusedName(name, None, rows.records) for name in unused],
        done=done,
        total=max(total, done),
    )


def _messages(content: bytes, columns: Sequence[str] | None) -> Generator[Opened | Rows]:
    """Yield what the process sends about a file. Raises FileError."""
    command, environment = module_command(_MODULE), {**os.environ, **_MALLOC}
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment) as process:  # noqa: S603 - our own
        try:
            with suppress(BrokenPipeError), cast("IO[bytes]", process.stdin) as request:
                request.write(msgspec.json.encode(Request(columns)) + b"\n")
                request.write(content)
            for message in _received(cast("IO[bytes]", process.stdout)):
                if isinstance(message, Refused):
                    raise FileError(message.why)
                if isinstance(message, End):
                    return
                yield message
            process.wait()
        finally:
            process.kill()
    code = process.returncode
    how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
    raise FileError(f"not a Parquet file that can be read: its reader {how}")


def _received(stream: IO[bytes]) -> Iterator[Message]:
    """Yield the messages that are complete."""
    while length := int.from_bytes(stream.read(LENGTH_BYTES), "little"):
        encoded = stream.read(length)
        if len(encoded) < length:
            return
        yield _decode_message(encoded)
