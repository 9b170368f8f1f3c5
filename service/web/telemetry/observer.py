"""What is noted of each answer: numbers, and a line of the access log."""

from http import HTTPStatus
from time import time_ns
from typing import Final

import msgspec
from aiohttp import hdrs

from service.access.principal import Principal
from service.web.answer import Answer
from service.web.connections.request import Request
from service.web.headers.forwarded import NOBODY, UNIX, Forwarding
from service.web.headers.request_id import TRACE_PARENT, trace_id
from service.web.telemetry.access_log import AccessLogEntry, AccessLogWriter, line, shown_path, timestamp
from service.web.telemetry.counters import UNMATCHED, Counters
from service.web.telemetry.events import Event
from service.web.telemetry.key_counters import KeyCounters

_LIMITED: Final = HTTPStatus.TOO_MANY_REQUESTS.value


class Exchange(msgspec.Struct):
    """What is known of a request while it is answered.

    request_id  tells it from others
    route       the path that answers
    principal   who asks, once that is known
    lines       header lines that stand on whatever is answered
    """

    request_id: str
    route: str
    principal: Principal | None = None
    lines: str = ""


class Observer:
    """Counts each answer, and tells the access log of it where there is one.

    traffic  counts answers by route
    callers  counts them by key, where somebody wants to know
    log      takes the lines of the access log

    forwarding  which proxies are believed about who asks
    """

    def __init__(
        self,
        traffic: Counters,
        *,
        callers: KeyCounters | None = None,
        log: AccessLogWriter | None = None,
        forwarding: Forwarding = NOBODY,
    ) -> None:
        self.traffic = traffic
        self._callers, self._log, self._forwarding = callers, log, forwarding

    def answered(self, request: Request, exchange: Exchange, answer: Answer, seconds: float) -> None:
        """Note an answer that took so long to compose."""
        principal = exchange.principal
        self.traffic.observe(request.method, exchange.route, answer.status, seconds)
        if self._callers is not None and principal is not None:
            self._callers.count(principal.name, limited=answer.status == _LIMITED)
        if self._log is not None:
            entry = AccessLogEntry(
                time=timestamp(time_ns()),
                method=request.method,
                route=exchange.route,
                path=shown_path(request.rel_url.raw_path),
                status=answer.status,
                bytes=0 if request.method == hdrs.METH_HEAD else answer.length,
                duration=round(seconds, 6),
                key=principal.name if principal is not None else None,
                request_id=exchange.request_id,
                trace_id=trace_id(request.headers.get(TRACE_PARENT)),
                client=self._forwarding.client(request.remote, request.headers),
            )
            self._write(self._log, entry)

    def malformed(self, answer: Answer, *, client: str | None, request_id: str) -> None:
        """Note the answer to what is no request, of which nothing is told but whom it came from."""
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
        if not log.write(line(entry)):
            self.traffic.count(Event.LINE_DROPPED)
