"""The process that reads a file, with limits: what the main program of each such process has in common.

The decoder is a large library in a language without bounds, and the file may be hostile: memory and time are limited
here, and a crash does not end the service. Standard input is the file, then requests, one in a line; standard output
messages. It exits when its standard input is closed, so with its parent.
"""

import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Final, TypeVar

import msgspec

from service.reading.isolation.process_messages import LENGTH_BYTES, Unreadable

MAX_ADDRESSES: Final = 2 * 2**30  # bytes of address space, beside four times the file
MAX_DATA: Final = 512 * 2**20  # bytes of memory, beside the same
MAX_SECONDS: Final = 300  # of CPU time
_FILES: Final = 4
_Request = TypeVar("_Request", bound=msgspec.Struct)


def run(
    answer: Callable[[bytes, Iterable[_Request]], Iterator[msgspec.Struct]],
    request: type[_Request],
    too_much_memory: str,
) -> None:
    """Answer the requests of a type, on standard input, with the messages of `answer` about the file."""
    content = sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES), "little"))
    requests: SimpleQueue[_Request] = SimpleQueue()
    Thread(target=_receive, args=(requests, request), daemon=True).start()
    _limit(len(content))
    try:
        for message in answer(content, iter(requests.get, None)):
            _send(message)
    except MemoryError:
        _send(Unreadable(too_much_memory))


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


def _receive(requests: "SimpleQueue[_Request]", request: type[_Request]) -> None:
    for line in sys.stdin.buffer:
        requests.put(msgspec.json.decode(line, type=request))
    os._exit(1)


def _send(message: msgspec.Struct) -> None:
    encoded = msgspec.msgpack.encode(message)
    sys.stdout.buffer.write(len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded)
    sys.stdout.buffer.flush()
