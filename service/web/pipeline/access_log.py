"""The access log: one line of JSON for each request."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import msgspec

from service.access.api_key import KEY_PREFIX, redacted

# Longer paths are truncated.
_MAX_PATH: Final = 1024
# Layers of percent-encoding to decode in search of a key; each costs time linear in the length of the path.
_MAX_DECODINGS: Final = 4
_NANOSECONDS: Final = 1_000_000_000


class AccessLogEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The members of a line.

    time      when the response was handed to the connection (RFC 3339, UTC)
    method    null, like the path, if the request was malformed
    route     the path of the route, as OpenAPI writes it, or `unmatched`
    path      as the client wrote it, without the query
    bytes     length of the body sent
    duration  seconds to compose the response
    key       name of the key; null if the request had no valid key
    client    address of the client
    """

    time: str
    method: str | None = None
    route: str
    path: str | None = None
    status: int
    bytes: int
    duration: float = 0.0
    key: str | None = None
    request_id: str
    trace_id: str | None = None
    client: str | None


# Queues an entry to be written in the background, without waiting; returns False if the queue is full.
WriteEntry = Callable[[AccessLogEntry], bool]
# Encodes entries as lines, each with its line end. One at a time costs twice as much.
encode_lines: Final[Callable[[Sequence[AccessLogEntry]], bytes]] = msgspec.json.Encoder().encode_lines


def loggable_path(path: str) -> str:
    """Return a path for the log: ASCII, of bounded length, and with API keys masked, even percent-encoded ones."""
    if path.isascii() and "%" not in path and KEY_PREFIX not in path:
        return path[:_MAX_PATH]
    decoded = path = path[:_MAX_PATH]  # a key is masked even if it is truncated
    for _ in range(_MAX_DECODINGS):
        if "%" not in decoded or (once_more := unquote(decoded, errors="surrogateescape")) == decoded:
            break
        decoded = once_more
    safe = redacted(decoded) if KEY_PREFIX in decoded else path
    return safe[:_MAX_PATH].encode("ascii", "backslashreplace").decode()


def timestamp(nanoseconds: int) -> str:
    """Format nanoseconds since the epoch, at least a second, as RFC 3339 in UTC, to the microsecond."""
    microseconds = str(nanoseconds // 1000)
    return f"{_second(nanoseconds // _NANOSECONDS)}.{microseconds[-6:]}Z"


@lru_cache(2)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
