"""The process that reads a Parquet file: `python -m service.reading.parquet.process`.

The decoder is a large library in C++, and the file may be hostile: memory and time are limited here, and a crash does
not end the service. Standard input is a request and the file, standard output messages.
"""

import resource
import sys
from collections.abc import Iterator
from typing import Final

import msgspec

from service.reading.diagnostics import FileError
from service.reading.parquet.arrow import ArrowFile
from service.reading.parquet.messages import LENGTH_BYTES, End, Message, Opened, Refused, Request, Rows

MAX_ADDRESSES: Final = 2 * 2**30  # bytes of address space, beside four times the file
MAX_SECONDS: Final = 300  # of CPU time
_FILES: Final = 4


def answer(request: Request, content: bytes) -> Iterator[Message]:
    """Yield what is requested of a file, or why it cannot be used."""
    try:
        file = ArrowFile(content)
        if request.columns is None:
            yield Opened(file.paths, file.records)
        else:
            yield from (Rows(records, columns) for records, columns in file.batches(request.columns))
    except FileError as error:
        yield Refused(error.why)
    else:
        yield End()


def _limit(size: int) -> None:
    addresses = MAX_ADDRESSES + _FILES * size
    for limit, most in ((resource.RLIMIT_AS, addresses), (resource.RLIMIT_CPU, MAX_SECONDS), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (bound, hard))


def main() -> None:
    """Answer the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=Request)
    content = sys.stdin.buffer.read()
    _limit(len(content))
    for message in answer(request, content):
        encoded = msgspec.msgpack.encode(message)
        sys.stdout.buffer.write(len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
