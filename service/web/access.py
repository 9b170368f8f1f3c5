"""The access log: a line of JSON for each request."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Protocol
from urllib.parse import unquote

import msgspec

from service.keys.key import KEY_PREFIX, masked

# Longer paths are cut: nobody wrote them to be read.
_MAX_PATH: Final = 1024
# A key is looked for under so many layers of percent-encoding; each layer costs as much as the path is long.
_DECODINGS: Final = 4
_NANOSECONDS: Final = 1_000_000_000


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a request.

    time      when the answer was handed to the connection (RFC 3339, UTC)
    method    null, as the path is, of what is no HTTP
    route     the path that answered, or `unmatched`
    path      as the client wrote it, without its query
    bytes     of the body that was sent
    duration  seconds in which the answer was composed
    key       the name of the key; null where none was found to be valid
    client    the address
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


class Lines(Protocol):
    """Takes lines, and sees to it that they are written."""

    def write(self, line: bytes) -> bool:
        """Take a line, without waiting; return whether there was room for it."""


def line(entry: Entry) -> bytes:
    """Return the line of an entry, its end included."""
    return msgspec.json.encode(entry) + b"\n"


def shown_path(path: str) -> str:
    """Return a path as it may stand in a log: ASCII, of bounded length, with no key of ours in it, however written."""
    read = path = path[:_MAX_PATH]  # a key is masked though it is cut
    for _ in range(_DECODINGS):
        if "%" not in read:
            break
        read = unquote(read, errors="surrogateescape")
    shown = masked(read) if KEY_PREFIX in read else path
    return shown[:_MAX_PATH].encode("ascii", "backslashreplace").decode()


def timestamp(nanoseconds: int) -> str:
    """Return a time since the epoch, to the microsecond."""
    seconds, fraction = divmod(nanoseconds, _NANOSECONDS)
    return f"{_second(seconds)}.{fraction // 1000:06}Z"


@lru_cache(2)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
