"""Limits of the listeners: sizes, timeouts, numbers of connections."""

from typing import Final

import msgspec

from service.settings import MAX_CONNECTIONS

MAX_FIELD_BYTES: Final = 8190
MAX_FIELDS: Final = 100
# Different from the limit for a header field: the parser's error identifies the exceeded limit only by its value.
MAX_LINE_BYTES: Final = 8192
# The host in a target, as a client of a proxy writes it. Host names are no longer (RFC 1035, section 3.1).
MAX_HOST_CHARACTERS: Final = 255
# The whole head of a request. Also the limit for reading ahead while an earlier request is answered.
MAX_HEAD_BYTES: Final = 32_768
# CR and LF before a request line. RFC 9112 section 2.2 has a server ignore at least one empty line.
MAX_LINE_END_BYTES: Final = 64
# No operation reads a body. One up to this size, framing included, is skipped, so that the connection can be reused.
MAX_BODY_BYTES: Final = 1 << 20
# Chunks and trailer fields of one body, and the bytes of their lines: each part costs steps in Python, however short,
# and a line costs more than data.
MAX_BODY_PARTS: Final = 32
MAX_BODY_LINE_BYTES: Final = 4096
# Read from a socket at a time. With MAX_HEAD_BYTES it bounds the unparsed bytes of a connection.
RECEIVE_BYTES: Final = 32_768
# Sent in one turn of a client that is not authenticated: a long response takes several.
TURN_BYTES: Final = 65_536
# Memory of what the connections of a listener hold: heads under way, requests that wait, responses that are not sent,
# streams. Without the system's socket buffers, and rows sent from the mapped file.
MAX_HELD_BYTES: Final = 1 << 28
# So little of requests that wait is not counted: most fit.
UNCOUNTED_BYTES: Final = 1024
# A client that has received nothing of its response for so long does not read, as far as memory is needed.
READING_SECONDS: Final = 2
# The admin listener has its own limits, so that it is reachable while the public one is full.
ADMIN_CONNECTIONS: Final = 100
MAX_ADMIN_HELD_BYTES: Final = 1 << 24


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The timeouts of one listener, and the limits of its connections.

    head_seconds     for the whole head of a request, from its first byte; for the first one from the connection's start
    idle_seconds     between a response and the next request
    write_seconds    without progress while a response is sent
    discard_seconds  for what the client still sends after a response: the rest of a body, or anything before a close
    check_seconds    interval between checks of the timeouts, by which each may be exceeded
    connections      open connections of one process; further ones get 503
    held_bytes       memory of what they hold; beyond it idle ones are dropped
    """

    head_seconds: float = 10
    idle_seconds: float = 30
    write_seconds: float = 15
    discard_seconds: float = 1
    check_seconds: float = 1
    connections: int = MAX_CONNECTIONS
    held_bytes: int = MAX_HELD_BYTES
