"""The access log: one line of JSON for each request."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from time import time_ns
from typing import Final, Protocol
from urllib.parse import unquote

import msgspec
from aiohttp import hdrs

from service.access.api_key import KEY_PREFIX, Principal, redacted
from service.web.http.forwarded import NO_PROXIES, UNIX, TrustedProxies
from service.web.http.header_fields import HeaderLines
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.counters import UNMATCHED, Counters, Event, KeyCounters

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


class AccessLogWriter(Protocol):
    """Writes entries as lines, in the background."""

    def write(self, entry: AccessLogEntry) -> bool:
        """Queue an entry without waiting; return False if the queue is full."""


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


_MICROSECONDS: Final = 1e6
_LIMITED: Final = HTTPStatus.TOO_MANY_REQUESTS.value


class Exchange(msgspec.Struct, gc=False):
    """The known attributes of a request, even if it fails later.

    route       the path of its route, or `unmatched`
    protected   whether that needs a key
    remote      the address of the client; None on a Unix socket
    principal   the authenticated client
    rate_limit  header fields with the state of its rate limit, for a response of any status
    """

    request_id: str
    route: str
    protected: bool
    method: str
    path: str
    fields: RequestFields
    remote: str | None
    principal: Principal | None = None
    rate_limit: HeaderLines = ""


class Observer:
    """Counts each request, and writes its line to the access log, if there is one.

    traffic          counters by route
    key_counters     counters by key, if there is an admin listener to serve them
    log              writer of the access log
    trusted_proxies  proxies whose X-Forwarded-For field is trusted; Forwarded is ignored
    """

    def __init__(
        self,
        traffic: Counters,
        *,
        key_counters: KeyCounters | None = None,
        log: AccessLogWriter | None = None,
        trusted_proxies: TrustedProxies = NO_PROXIES,
    ) -> None:
        self.traffic = traffic
        self._key_counters, self._log, self._trusted_proxies = key_counters, log, trusted_proxies

    def answered(self, exchange: Exchange, answer: Answer, seconds: float) -> None:
        """Record an answer and the seconds that it took to compose."""
        principal = exchange.principal
        self.traffic.observe(exchange.method, exchange.route, answer.status, seconds)
        if self._key_counters is not None and principal is not None:
            self._key_counters.count(principal.name, limited=answer.status == _LIMITED)
        if self._log is not None:
            entry = AccessLogEntry(
                time=timestamp(time_ns()),
                method=exchange.method,
                route=exchange.route,
                path=loggable_path(exchange.path),
                status=answer.status,
                bytes=0 if exchange.method == hdrs.METH_HEAD else answer.length,
                duration=round(seconds * _MICROSECONDS) / _MICROSECONDS,
                key=principal.name if principal is not None else None,
                request_id=exchange.request_id,
                trace_id=exchange.fields.trace_id,
                client=self._trusted_proxies.client(exchange.remote, exchange.fields.all),
            )
            self._write(self._log, entry)

    def malformed(self, answer: Answer, *, client: str | None, request_id: str) -> None:
        """Record the answer to a malformed request, with nothing of the request but its client."""
        self.traffic.observe("other", UNMATCHED, answer.status, None)
        if self._log is not None:
            entry = AccessLogEntry(
                time=timestamp(time_ns()),
                route=UNMATCHED,
                status=answer.status,
                bytes=answer.length,
                request_id=request_id,
                client=client or UNIX,
            )
            self._write(self._log, entry)

    def _write(self, log: AccessLogWriter, entry: AccessLogEntry) -> None:
        if not log.write(entry):
            self.traffic.count(Event.LINE_DROPPED)
