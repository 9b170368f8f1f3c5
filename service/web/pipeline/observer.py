"""The observer of requests: counts them and writes the access log."""

from collections.abc import Sequence
from http import HTTPStatus
from time import time_ns
from typing import Final

import msgspec
from aiohttp import hdrs

from service.access.api_key import Principal
from service.web.http.forwarded import NO_PROXIES, UNIX, TrustedProxies
from service.web.http.header_fields import HeaderLines
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.access_log import AccessLogEntry, WriteEntry, loggable_path, timestamp
from service.web.pipeline.counters import METHODS, UNMATCHED, Counters, Event, KeyCounters

_MICROSECOND: Final = 1000  # in nanoseconds
_MICROSECONDS: Final = 1e6  # of a second
_LIMITED: Final = HTTPStatus.TOO_MANY_REQUESTS.value


class Exchange(msgspec.Struct, gc=False):
    """The known attributes of a request, even if it fails later.

    route       the path of its route, or `unmatched`
    protected   whether that needs a key
    remote      the address of the client; None on a Unix socket
    principal   the authenticated client
    rate_limit  header fields with the state of its rate limit, for a response of any status
    any_origin  whether pages of any origin may read its response
    keys        the values of the parameter `key`
    website     for a response to a public key: the origin that may read it, `*` for any, "" if none asks for that
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
    any_origin: bool = False
    keys: Sequence[str] = ()
    website: str | None = None


class Observer:
    """Counts each request, and writes its line to the access log, if there is one.

    traffic          counters by route
    key_counters     counters by key, if there is an admin listener to serve them
    log              writes to the access log
    trusted_proxies  proxies whose X-Forwarded-For field is trusted; Forwarded is ignored
    """

    def __init__(
        self,
        traffic: Counters,
        *,
        key_counters: KeyCounters | None = None,
        log: WriteEntry | None = None,
        trusted_proxies: TrustedProxies = NO_PROXIES,
    ) -> None:
        self.traffic = traffic
        self._key_counters, self._log, self._trusted_proxies = key_counters, log, trusted_proxies

    def answered(self, exchange: Exchange, answer: Answer, nanoseconds: int) -> None:
        """Record an answer and the time that it took to compose."""
        principal, length = exchange.principal, 0
        if exchange.method != hdrs.METH_HEAD:  # as in `Answer.length`, without a call for each request
            length = answer.size or (sum(map(len, answer.pieces)) if answer.stream is None else answer.stream.sent)
        self.traffic.observe(exchange.method, exchange.route, answer.status, nanoseconds, length)
        if answer.found_nothing:
            self.traffic.found_nothing(exchange.route)
        if self._key_counters is not None and principal is not None:
            self._key_counters.count(principal.name, limited=answer.status == _LIMITED)
        if self._log is not None:
            entry = AccessLogEntry(
                time=timestamp(time_ns()),
                method=exchange.method if exchange.method in METHODS else None,
                route=exchange.route,
                path=loggable_path(exchange.path),
                status=answer.status,
                bytes=length,
                duration=round(nanoseconds / _MICROSECOND) / _MICROSECONDS,
                key=principal.name if principal is not None else None,
                request_id=exchange.request_id,
                trace_id=exchange.fields.trace_id,
                client=self._trusted_proxies.client(exchange.remote, exchange.fields.all),
            )
            if not self._log(entry):
                self.traffic.count(Event.LINE_DROPPED)

    def malformed(self, answer: Answer, *, client: str | None, request_id: str) -> None:
        """Record the answer to a malformed request, with nothing of the request but its client."""
        self.traffic.observe("other", UNMATCHED, answer.status, None, answer.length)
        if self._log is not None:
            entry = AccessLogEntry(
                time=timestamp(time_ns()),
                route=UNMATCHED,
                status=answer.status,
                bytes=answer.length,
                request_id=request_id,
                client=client or UNIX,
            )
            if not self._log(entry):
                self.traffic.count(Event.LINE_DROPPED)
