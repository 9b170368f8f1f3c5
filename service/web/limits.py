"""How much of a client the service bears, and for how long."""

from typing import Final

import msgspec

MAX_FIELD_BYTES: Final = 8190
MAX_FIELDS: Final = 100
# Another number than that for a header field: the parser's error tells which limit was passed by its value alone.
MAX_LINE_BYTES: Final = 8192
# All of a head: it waits in memory until the answers to earlier requests are taken.
MAX_HEAD_BYTES: Final = 32_768
# Nobody needs a body to read; one up to here is read past, so that the connection can go on.
MAX_BODY_BYTES: Final = 1 << 20
# Those of the admin's listener have a number of their own: it is reached when the public one is full.
ADMIN_CONNECTIONS: Final = 100


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a listener allows.

    head_seconds     for the head of a request, from its first byte; for the first one from the connection's begin
    idle_seconds     between an answer and the next request
    write_seconds    while the client takes nothing of an answer
    discard_seconds  for the body of a request, once it is answered
    look_seconds     how often connections are looked at: each of the first three may take two looks longer
    connections      at most, of one process; more are refused
    """

    head_seconds: float = 10
    idle_seconds: float = 30
    write_seconds: float = 15
    discard_seconds: float = 1
    look_seconds: float = 1
    connections: int = 10_000
