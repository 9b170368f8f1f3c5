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
# Memory of the unsent responses of a listener, without the system's socket buffers and rows sent from the mapped file.
MAX_UNSENT_BYTES: Final = 1 << 28
# The admin listener has its own limit, so that it is reachable while the public one is full.
ADMIN_CONNECTIONS: Final = 100


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The timeouts and the connection limit of one listener.

    head_seconds     for the whole head of a request, from its first byte; for the first one from the connection's start
    idle_seconds     between a response and the next request
    write_seconds    without progress while a response is sent
    discard_seconds  for what the client still sends after a response: the rest of a body, or anything before a close
    check_seconds    interval between checks of the timeouts, by which each may be exceeded
    connections      open connections of one process; further ones get 503
    """

    head_seconds: float = 10
    idle_seconds: float = 30
    write_seconds: float = 15
    discard_seconds: float = 1
    check_seconds: float = 1
    connections: int = MAX_CONNECTIONS
