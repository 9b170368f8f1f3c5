"""The process that checks batches for another one, which reads and collects them.

It ends when the other one closes its socket, so with it.
"""

import gc
import sys
from contextlib import suppress
from socket import socket
from typing import Final

import msgspec

from service.loading.checked_batch import BatchChecker
from service.loading.messages import received, send
from service.model.records import COMPANIES, STORES
from service.reading.batch import Cell

_SWITCH_SECONDS: Final = 1e-4  # so that the next batch is received while one is checked


class Setup(msgspec.Struct, frozen=True):
    """The first message: the resource, and the identifiers of served companies."""

    resource: str
    companies: set[str] | None


Cells = dict[str, list[Cell]]  # each further message: field -> the cell of each record


def main() -> None:
    """Check batches until there are no more."""
    gc.disable()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with socket(fileno=sys.stdin.fileno()) as other, suppress(BrokenPipeError, ConnectionResetError):
        messages = received(other)
        if (first := messages.get()) is None:
            return
        setup = msgspec.msgpack.decode(first, type=Setup)
        checker = BatchChecker({each.name: each for each in (STORES, COMPANIES)}[setup.resource], setup.companies)
        decode, encode = msgspec.msgpack.Decoder(Cells).decode, msgspec.msgpack.Encoder().encode
        while (message := messages.get()) is not None:
            send(other, encode(checker.check(decode(message))))


if __name__ == "__main__":
    main()
