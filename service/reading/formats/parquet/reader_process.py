"""The process that reads a Parquet file: `python -m service.reading.formats.parquet.reader_process`.

The decoder is a large library in C++, and the file may be hostile: memory and time are limited here, and a crash does
not end the service. Standard input is the file, then requests, one in a line; standard output messages. It exits when
its standard input is closed, so with its parent.
"""

import os
import resource
import sys
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Final

import msgspec

from service.reading.batches.diagnostics import FileError
from service.reading.formats.parquet.arrow import TOO_MUCH_MEMORY, ArrowFile
from service.reading.formats.parquet.messages import (
    LENGTH_BYTES,
    ColumnRequest,
    End,
    Message,
    Opened,
    RowBatch,
    Unreadable,
)

MAX_ADDRESSES: Final = 2 * 2**30  # bytes of address space, beside four times the file
MAX_DATA: Final = 512 * 2**20  # bytes of memory, beside the same
MAX_SECONDS: Final = 300  # of CPU time
_FILES: Final = 4


def answer(content: bytes, requests: Iterable[ColumnRequest]) -> Iterator[Message]:
    """Yield what a file has, and then what is requested of it, or why it cannot be used."""
    try:
        file = ArrowFile(content)
        yield Opened(file.paths, file.records)
        for request in requests:
            yield from (RowBatch(records, columns) for records, columns in file.batches(request.columns))
            yield End()
    except FileError as error:
        yield Unreadable(error.why)


def _limit(size: int) -> None:
    limits = {
        resource.RLIMIT_AS: MAX_ADDRESSES + _FILES * size,
        resource.RLIMIT_DATA: MAX_DATA + _FILES * size,
        resource.RLIMIT_CPU: MAX_SECONDS,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (bound, hard))


def _receive(requests: SimpleQueue[ColumnRequest]) -> None:
    for line in sys.stdin.buffer:
        requests.put(msgspec.json.decode(line, type=ColumnRequest))
    os._exit(1)


def _send(message: Message) -> None:
    encoded = msgspec.msgpack.encode(message)
    sys.stdout.buffer.write(len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded)
    sys.stdout.buffer.flush()


def main() -> None:
    """Answer the requests on standard input."""
    content = sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES), "little"))
    requests: SimpleQueue[ColumnRequest] = SimpleQueue()
    Thread(target=_receive, args=(requests,), daemon=True).start()
    _limit(len(content))
    try:
        for message in answer(content, iter(requests.get, None)):
            _send(message)
    except MemoryError:
        _send(Unreadable(TOO_MUCH_MEMORY))


if __name__ == "__main__":
    main()
