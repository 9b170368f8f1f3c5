"""The process that reads a Parquet file, seen from the one that needs its records."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from signal import Signals
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, cast
from weakref import finalize

import msgspec

from service.files.mapped_bytes import FileBytes
from service.own_module import module_command
from service.reading.batches.diagnostics import FileError
from service.reading.formats.parquet.messages import (
    LENGTH_BYTES,
    ColumnRequest,
    End,
    Message,
    Opened,
    RowBatch,
    Unreadable,
)

_MODULE: Final = "service.reading.formats.parquet.reader_process"
# A memory pool that reserves no address space, and no more threads than are used.
_SETTINGS: Final = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_decode_message: Final = msgspec.msgpack.Decoder(Message).decode


class ParquetReader:
    """A process with an opened file; it ends with this object, or with this process.

    opened  what the file has
    """

    def __init__(self, content: FileBytes) -> None:
        """Open a file. Raises FileError."""
        environment = {**os.environ, **_SETTINGS}
        self._process = Popen(module_command(_MODULE), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)  # noqa: S603 - our own
        self._requests, self._messages = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self.close = finalize(self, _end, self._process)
        self._send(len(content).to_bytes(LENGTH_BYTES, "little"), content)
        self.opened = cast("Opened", self._receive())

    def rows(self, columns: Sequence[str]) -> Iterator[RowBatch]:
        """Yield the records, with the cells of some columns. Raises FileError."""
        self._send(msgspec.json.encode(ColumnRequest(columns)), b"\n")
        while isinstance(message := self._receive(), RowBatch):
            yield message

    def _send(self, *parts: FileBytes) -> None:
        with suppress(BrokenPipeError):  # why it ended is found out when its answer is missing
            self._requests.writelines(parts)
            self._requests.flush()

    def _receive(self) -> Opened | RowBatch | End:
        length = int.from_bytes(self._messages.read(LENGTH_BYTES), "little")
        encoded = self._messages.read(length)
        if not length or len(encoded) < length:
            raise self._ended()
        message: Message = _decode_message(encoded)
        if isinstance(message, Unreadable):
            raise FileError(message.why)
        return message

    def _ended(self) -> FileError:
        code = self._process.wait()
        how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
        return FileError(f"not a Parquet file that can be read: its reader {how}")


def _end(process: Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError), process:  # closes its pipes, and waits for it
        pass
