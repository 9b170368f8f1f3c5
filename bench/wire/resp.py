"""The protocol of Redis (RESP): commands, and replies of one line or of members with their distances."""

import socket
from typing import Final

_LINE_END: Final = b"\r\n"
# A member with its distance: an array of two, each with its length before it.
_LINES_PER_MEMBER: Final = 5
_BUFFER_BYTES: Final = 1 << 16


def encode(command: str) -> bytes:
    """Return the bytes of a command whose words are separated by spaces."""
    words = command.encode().split(b" ")
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def is_complete(reply: bytes | bytearray) -> bool:
    """Return whether all lines of a reply have been received."""
    if not reply.endswith(_LINE_END):
        return False
    members = int(reply[1 : reply.index(_LINE_END)]) if reply.startswith(b"*") else 0
    return reply.count(_LINE_END) == 1 + _LINES_PER_MEMBER * members


def members(reply: bytes) -> list[str]:
    """Return the members of a reply of members with their distances."""
    return [line.decode() for line in reply.split(_LINE_END)[3::_LINES_PER_MEMBER]]


def is_error(reply: bytes | bytearray) -> bool:
    """Return whether a reply is an error."""
    return reply.startswith(b"-")


def ask(port: int, command: str, seconds: float) -> bytes:
    """Return the reply to a command on a connection of its own. Raises OSError."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(encode(command))
        reply = b""
        while not is_complete(reply):
            received = connection.recv(_BUFFER_BYTES)
            if not received:
                raise ConnectionResetError("the connection ended within a reply")
            reply += received
    return reply
