"""The service as a function from request to response."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from http import HTTPStatus
from itertools import count
from secrets import token_hex
from time import perf_counter_ns
from typing import Final

from aiohttp import hdrs
from msgspec import structs

from service.model.errors import (
    Forbidden,
    InternalServerError,
    MethodNotAllowed,
    RequestError,
    ServiceUnavailable,
    Unauthorized,
    UnknownPath,
)
from service.model.operation import KEY_PARAMETER, PREFERENCE_STATUSES
from service.publishing.snapshot import SnapshotHolder
from service.settings import ANY_ORIGIN, Settings, parse_origin
from service.web.http.cors import PREFLIGHT_VARY, Cors
from service.web.http.forwarded import REQUEST_ID
from service.web.http.header_fields import LINE_END, STRICT_APPLIED, HeaderLines, header_lines, vary_of_data
from service.web.http.links import HELP_LINES, HELP_PATH
from service.web.http.request import Request, RequestFields, without_keys, without_trailing_slash
from service.web.http.response import Answer, Response, error_answer
from service.web.pipeline.answers import ANSWER_HIT, Answers, Deferred
from service.web.pipeline.auth import Authentication, check_public_key, make_rate_limits
from service.web.pipeline.counters import ABANDONED, UNMATCHED
from service.web.pipeline.observer import Exchange, Observer
from service.web.pipeline.routes import ResourceRoute, Route, Routes

_METHODS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_MILLISECOND: Final = 1e6  # in nanoseconds
_REQUEST_ID: Final = f"{REQUEST_ID}: "
_NO_KEYS: Final[Sequence[str]] = ()
_ANY_ORIGIN: Final = Cors(frozenset({ANY_ORIGIN}))
_OVERLOADED: Final = "Other responses, which their clients are reading, take too much memory"
# While connections hold more than this share of their memory, no file is begun, and idle ones end. If it is full, only
# short answers are made.
FILES_SHARE: Final = 0.5
SHORT_BYTES: Final = 32 << 10
_log = logging.getLogger(__name__)


class App:
    """Answers requests.

    Checks in this order: path, method, key, of a public key operation and website, rate, parameters, of a public key
    amount, version, record or number of clusters, conditions.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        snapshots: SnapshotHolder,
        authenticate: Authentication,
        observer: Observer,
        settings: Settings,
    ) -> None:
        self._routes = Routes(routes)
        self._has_docs = self._routes.find(HELP_PATH)[0] is not None
        self._snapshots = snapshots
        # A method is called in half the time of its object.
        self._authenticate, self._is_website = authenticate.__call__, authenticate.is_website
        self.traffic = observer.traffic
        self._observer = observer
        self._rate_limits = make_rate_limits(settings, self.traffic.count)
        self._identifiers = map(f"{token_hex(8)}-%x".__mod__, count(1))  # of requests that have none; unique
        self._server_timing = settings.server_timing
        self._cors = Cors(frozenset(map(parse_origin, settings.cors_origin)))
        self._answers = Answers(snapshots, settings.response_cache << 20, self.traffic.count)
        self._needs_key = not settings.no_auth
        self.memory_used = 0.0
        self._errors_vary = (hdrs.ACCEPT, vary_of_data(hdrs.ACCEPT, needs_key=self._needs_key))

    def __call__(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request at once, or return what waits for its response.

        Neither raises anything but the cancellation of the request.
        """
        started, keys = perf_counter_ns(), _NO_KEYS
        if request.query and (KEY_PARAMETER in request.query or "%" in request.query):
            request, keys = without_keys(request)
        fields, path = request.fields, request.path
        route, segment = self._routes.find(path)
        name, protected, any_origin = UNMATCHED, False, False
        if route is not None:
            name, protected, any_origin = route.name, route.protected, route.any_origin
        request_id = fields.request_id or next(self._identifiers)
        exchange = Exchange(
            request_id, name, protected, request.method, path, fields, request.remote, any_origin=any_origin, keys=keys
        )
        try:
            answer = self._answer(request, route, segment, exchange)
        except Exception as error:  # noqa: BLE001 - as below
            return self._failed(exchange, error, started)
        if isinstance(answer, Answer):
            return self._respond(exchange, answer, started)
        return partial(self._later, exchange, answer, started)

    async def _later(self, exchange: Exchange, waiting: Deferred[Answer], started: int) -> Response:
        self.traffic.slot.count_in_flight(1)
        try:
            answer = await waiting()
        except asyncio.CancelledError:
            self._observer.answered(exchange, Answer((), status=ABANDONED), perf_counter_ns() - started)
            raise
        except Exception as error:  # noqa: BLE001 - the client gets a 500 and the log the traceback
            return self._failed(exchange, error, started)
        finally:
            self.traffic.slot.count_in_flight(-1)
        return self._respond(exchange, answer, started)

    def _failed(self, exchange: Exchange, error: Exception, started: int) -> Response:
        if not isinstance(error, RequestError):
            _log.error("request %s to %s failed", exchange.request_id, exchange.route, exc_info=error)
        failure = error if isinstance(error, RequestError) else InternalServerError()
        answer = self._error_answer(failure, exchange.fields, protected=exchange.protected)
        if exchange.keys and isinstance(failure, Unauthorized | Forbidden):
            exchange.website = ANY_ORIGIN  # so that the page can say why
        error.__traceback__ = None  # which would make a cycle
        return self._respond(exchange, answer, started, closes=failure.closes)

    def from_cache(self, line: bytes, fields: RequestFields, remote: str | None) -> Response | None:
        """Answer a repeated request from the cache; None on a miss.

        The line decides route, segment and query; key and conditions are checked. A request that may wait or fail is a
        miss, and takes the steps of any other request.
        """
        started = perf_counter_ns()
        cached = self._answers.data.get(line + fields.cache_key_suffix)
        if cached is None:
            return None
        try:
            principal = self._authenticate(fields)
            answer = cached.answer(fields) if fields.is_conditional else cached.ok
        except RequestError:
            return None
        if answer is None or principal.rate is not None or principal.origins:
            return None
        self.traffic.count(ANSWER_HIT)
        request_id = fields.request_id or next(self._identifiers)
        exchange = Exchange(request_id, cached.route, True, hdrs.METH_GET, cached.path, fields, remote, principal)
        return self._respond(exchange, answer, started)

    def _respond(self, exchange: Exchange, answer: Answer, started: int, *, closes: bool = False) -> Response:
        """Record an answer, and return the response with it; not of a long one while memory is short."""
        if self.memory_used > FILES_SHARE and exchange.protected:
            answer = self._within_memory(answer, exchange.fields)
        nanoseconds, fields = perf_counter_ns() - started, exchange.fields
        if answer.stream is None or exchange.method == hdrs.METH_HEAD:
            self._observer.answered(exchange, answer, nanoseconds)
        else:
            self.traffic.slot.count_in_flight(1)
            answer.stream.ended = partial(self._ended, exchange, answer, started)
        cors = (_ANY_ORIGIN if exchange.any_origin else self._cors).lines(answer.vary, fields.origin, exchange.website)
        headers = f"{_REQUEST_ID}{exchange.request_id}{LINE_END}{cors}{exchange.rate_limit}"
        if self._server_timing:
            headers += f"Server-Timing: app;dur={nanoseconds / _MILLISECOND:.3f}{LINE_END}"
        if fields.has_preference and exchange.protected and answer.status in PREFERENCE_STATUSES and fields.is_strict:
            headers += STRICT_APPLIED
        closes = closes or self._snapshots.draining  # so that clients reconnect to another instance
        principal = exchange.principal
        # A public key can be anyone's: it has no precedence over requests without a key.
        return Response(answer, headers, closes=closes, authenticated=principal is not None and not principal.origins)

    def _ended(self, exchange: Exchange, answer: Answer, started: int) -> None:
        """Record an answer when its stream has ended."""
        self.traffic.slot.count_in_flight(-1)
        self._observer.answered(exchange, answer, perf_counter_ns() - started)

    def _answer(
        self, request: Request, route: Route | None, segment: str, exchange: Exchange
    ) -> Answer | Deferred[Answer]:
        """Take the steps from a request to its answer, or to what waits for it. Raises `RequestError`."""
        fields = request.fields
        if request.error is not None:
            raise request.error
        if route is None:
            return self._redirect(request.path, request.query)
        if request.method not in _METHODS:
            return self._preflight(request, route, exchange)
        if not isinstance(route, ResourceRoute):
            return route.answer(fields, self._is_authenticated(fields))
        if not route.protected:
            return self._answers.answer(route, segment, request)
        exchange.principal = principal = self._authenticate(fields, exchange.keys)
        if principal.origins:
            exchange.website = check_public_key(principal, fields, is_place=route.public)
            request = structs.replace(request, is_public=True)
        key_name = principal.name if self._needs_key else None
        if principal.rate is not None or principal.per_client is not None:
            lines = self._rate_limits.check(principal, request.remote, fields)
            if not isinstance(lines, str):
                answer = partial(self._answers.answer, route, segment, request, key_name)
                return partial(self._limited, lines, exchange, answer)
            exchange.rate_limit = lines
        return self._answers.answer(route, segment, request, key_name)

    async def _limited(
        self, waiting: Deferred[HeaderLines], exchange: Exchange, answer: Callable[[], Answer | Deferred[Answer]]
    ) -> Answer:
        """Return an answer, once the store of rate limits allows the request."""
        exchange.rate_limit = await waiting()
        made = answer()
        return made if isinstance(made, Answer) else await made()

    def _within_memory(self, answer: Answer, fields: RequestFields) -> Answer:
        """Return an answer, or an error if connections hold too much memory for it, which they may hold as well."""
        if answer.stream is not None or (self.memory_used > 1 and answer.length > SHORT_BYTES):
            return self._error_answer(ServiceUnavailable(_OVERLOADED), fields, protected=True)
        return answer

    def malformed(self, error: RequestError, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing rejected. Only its Accept fields and its client's address are known."""
        answer, request_id = error_answer(error, accept), next(self._identifiers)
        self._observer.malformed(answer, client=client, request_id=request_id)
        headers = f"{_REQUEST_ID}{request_id}{LINE_END}{self._cors.lines(answer.vary, None)}"
        return Response(answer, headers, closes=True)

    async def close(self) -> None:
        """Close the connections to the store of rate limits."""
        await self._rate_limits.close()

    def _error_answer(self, error: RequestError, fields: RequestFields, *, protected: bool) -> Answer:
        links = HELP_LINES if error.links_help and self._has_docs else ""
        return error_answer(error, fields.accept, vary=self._errors_vary[protected], links=links)

    def _redirect(self, path: str, query: str) -> Answer:
        """Redirect a known path with one trailing slash. Raises `UnknownPath` for any other path."""
        without_slash = path.removesuffix("/")
        known, _ = self._routes.find(without_slash)
        if without_slash in (path, "/") or known is None:
            raise UnknownPath
        location = header_lines({"Location": without_trailing_slash(path, query)})
        return Answer((), status=HTTPStatus.TEMPORARY_REDIRECT.value, headers=location)

    def _preflight(self, request: Request, route: Route, exchange: Exchange) -> Answer:
        if request.method != hdrs.METH_OPTIONS:
            raise MethodNotAllowed
        origin = request.fields.origin
        is_website = route.public and origin is not None and self._is_website(origin)
        headers = self._cors.preflight(request.fields.all, is_website=is_website)
        if headers is None:
            raise MethodNotAllowed
        exchange.website = origin if is_website else None
        return Answer((), status=HTTPStatus.NO_CONTENT.value, headers=headers, vary=PREFLIGHT_VARY)

    def _is_authenticated(self, fields: RequestFields) -> bool:
        """Return whether a request to a path that needs no key has a valid one, which is not public."""
        try:
            return not self._authenticate(fields).origins
        except Unauthorized:
            return False
