"""Messages between two processes of this program, over a pair of sockets: each is its length, then its bytes."""

from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from socket import MSG_WAITALL, socket
from threading import Thread
from typing import Final

_LENGTH: Final = 8  # bytes


def send(to: socket, message: bytes) -> None:
    """Send a message. Raises OSError if the other process has ended."""
    to.sendall(len(message).to_bytes(_LENGTH, "little") + message)


def received(by: socket) -> SimpleQueue[bytes | None]:
    """Receive messages in a thread, so that the sender never waits for their use; None follows the last one."""
    queue = SimpleQueue[bytes | None]()
    Thread(target=_receive_all, args=(by, queue), daemon=True).start()
    return queue


def _receive_all(by: socket, queue: SimpleQueue[bytes | None]) -> None:
    try:
        with suppress(OSError):
            for message in _messages(by):
                queue.put(message)
    finally:
        queue.put(None)


def _messages(by: socket) -> Iterator[bytes]:
    while length := _receive(by, _LENGTH):
        if not (message := _receive(by, int.from_bytes(length, "little"))):
            break
        yield message


def _receive(by: socket, length: int) -> bytes:
    """Return the next bytes, none at the end; received by one call, after which alone the thread waits for the GIL."""
    received = bytearray()
    while len(received) < length:
        part = by.recv(length - len(received), MSG_WAITALL)
        if not part:
            return b""
        if len(part) == length:
            return part
        received += part
    return bytes(received)
