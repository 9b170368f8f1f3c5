"""The service as a function from request to response."""

import logging
from collections.abc import Awaitable, Iterable, Sequence
from http import HTTPStatus
from time import perf_counter
from typing import Final

from aiohttp import hdrs

from service.model.errors import InternalServerError, MethodNotAllowed, RequestError, Unauthorized, UnknownPath
from service.model.operation import VERSION_HEADER
from service.snapshot.snapshot import SnapshotHolder
from service.web.answer import Answer, header_lines
from service.web.auth import KEY_HEADER, Authenticate
from service.web.connections.request import Request
from service.web.headers import prefer
from service.web.headers.cors import Cors
from service.web.headers.links import HELP_LINE, HELP_PATH
from service.web.headers.request_id import REQUEST_ID, RequestIds
from service.web.policy import Policy
from service.web.problems import error_answer
from service.web.rate_limiting import make_rate_limits
from service.web.representation import Representation, Sender
from service.web.request_target import without_trailing_slash
from service.web.response import Response
from service.web.routes import Call, Route, Routes
from service.web.telemetry.counters import UNMATCHED
from service.web.telemetry.observer import Exchange, Observer

_METHODS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_MILLISECONDS: Final = 1e3
_log = logging.getLogger(__name__)


class App:
    """Answers requests.

    Checks in this order: path, method, key, rate, parameters, version, record, conditions.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        snapshots: SnapshotHolder,
        authenticate: Authenticate,
        observer: Observer,
        policy: Policy,
    ) -> None:
        self._routes = Routes(routes)
        self._has_docs = self._routes.find(HELP_PATH)[0] is not None
        self._snapshots = snapshots
        self._authenticate = authenticate
        self.traffic = observer.traffic
        self._observer = observer
        self._rate_limits = make_rate_limits(policy, self.traffic.count)
        self._request_ids = RequestIds()
        self._server_timing = policy.server_timing
        self._cors = Cors(policy.origins)
        self._sender = Sender(policy.encoded_bytes, self.traffic.count)
        self._errors_vary = {of_data: policy.vary(hdrs.ACCEPT, of_data=of_data) for of_data in (False, True)}

    async def __call__(self, request: Request) -> Response:
        """Answer a request. Never raises."""
        started = perf_counter()
        route, segment = self._routes.find(request.rel_url.raw_path)
        request_id = self._request_ids.of(request.headers.get(REQUEST_ID))
        exchange = Exchange(request_id, UNMATCHED if route is None else route.path)
        # While the service drains, keep-alive clients are to reconnect to another instance.
        closes = self._snapshots.draining or (request.error is not None and request.error.closes)
        try:
            result = self._route(exchange, request, route, segment)
            answer = result if isinstance(result, Answer) else await result
        except RequestError as error:
            answer, closes = self._error_answer(error, request, route), closes or error.closes
        except Exception:  # noqa: BLE001 - the client gets a 500 and the log the traceback
            _log.exception("request %s to %s failed", request_id, exchange.route)
            answer = self._error_answer(InternalServerError(), request, route)
        seconds = perf_counter() - started
        self._observer.answered(request, exchange, answer, seconds)
        lines = f"{REQUEST_ID}: {request_id}\r\n{self._cors.lines(answer.vary, request.headers.get(hdrs.ORIGIN))}"
        if exchange.rate_lines:
            lines += exchange.rate_lines
        if self._server_timing:
            lines += f"Server-Timing: app;dur={seconds * _MILLISECONDS:.3f}\r\n"
        if prefer.PREFER in request.headers and route is not None and route.protected:
            lines += prefer.applied_line(request.headers.getall(prefer.PREFER), answer.status)
        return Response(answer, lines, closes=closes, authenticated=exchange.principal is not None)

    def malformed(self, error: RequestError, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing rejected. Only its Accept fields and its client's address are known."""
        return self._unparsed(error_answer(error, accept), client)

    def unknown_method(self, target: str, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing rejected for its method, which may be any token (RFC 9110 section 9.1).

        The target begins with a slash and is read as a path, even if it begins with two.
        """
        path, _, query = target.partition("#")[0].partition("?")
        try:
            known, _ = self._routes.find(path)
            answer = error_answer(MethodNotAllowed(), accept) if known else self._redirect(path, query)
        except UnknownPath as error:
            answer = error_answer(error, accept, links=self._links(error))
        return self._unparsed(answer, client)

    async def close(self) -> None:
        """Close the connections to the store of rate limits."""
        await self._rate_limits.close()

    def _unparsed(self, answer: Answer, client: str | None) -> Response:
        request_id = self._request_ids.of(None)
        self._observer.malformed(answer, client=client, request_id=request_id)
        lines = f"{REQUEST_ID}: {request_id}\r\n{self._cors.lines(answer.vary, None)}"
        return Response(answer, lines, closes=True)

    def _error_answer(self, error: RequestError, request: Request, route: Route | None) -> Answer:
        vary = self._errors_vary[route is not None and route.protected]
        accept = request.headers.getall(hdrs.ACCEPT, ())
        return error_answer(error, accept, vary=vary, links=self._links(error))

    def _links(self, error: RequestError) -> str:
        """Return the Link line from an error to the documentation, "" if it would not help or this app has none."""
        return HELP_LINE if error.links_help and self._has_docs else ""

    def _redirect(self, path: str, query: str) -> Answer:
        """Redirect a known path with one trailing slash. Raises `UnknownPath` for any other path."""
        without_slash = path.removesuffix("/")
        known, _ = self._routes.find(without_slash)
        if without_slash == path or known is None:
            raise UnknownPath
        location = header_lines({"Location": without_trailing_slash(path, query)})
        return Answer((), status=HTTPStatus.TEMPORARY_REDIRECT.value, headers=location)

    def _route(
        self, exchange: Exchange, request: Request, route: Route | None, segment: str
    ) -> Answer | Awaitable[Answer]:
        """Answer a request. An error in its framing is not raised: the traceback would make a cycle."""
        if request.error is not None:
            return self._error_answer(request.error, request, route)
        if route is None:
            return self._redirect(request.rel_url.raw_path, request.rel_url.raw_query_string)
        return self._answer(exchange, request, route, segment)

    def _answer(self, exchange: Exchange, request: Request, route: Route, segment: str) -> Answer | Awaitable[Answer]:
        if request.method not in _METHODS:
            return self._preflight(request)
        if route.protected:
            exchange.principal = principal = self._authenticate(request.headers.getall(KEY_HEADER, ()))
            if principal.rate is not None:
                pending = self._rate_limits.check(exchange, principal.name, principal.rate)
                if pending is not None:
                    return self._call_after(pending, request, route, segment)
        return self._call(request, route, segment)

    async def _call_after(self, pending: Awaitable[None], request: Request, route: Route, segment: str) -> Answer:
        """Call the route after the rate limit is checked."""
        await pending
        result = self._call(request, route, segment)
        return result if isinstance(result, Answer) else await result

    def _call(self, request: Request, route: Route, segment: str) -> Answer | Awaitable[Answer]:
        """Call the route and answer with its outcome."""
        headers, query = request.headers, request.rel_url.raw_query_string
        if route.protected:
            strict = prefer.PREFER in headers and prefer.is_strict(headers.getall(prefer.PREFER))
            call = Call(segment, query, strict=strict, versions=headers.getall(VERSION_HEADER, ()))
        else:
            call = Call(segment, query, authenticated=self._is_authenticated(headers.getall(KEY_HEADER, ())))
        outcome = route.answer(call)
        if isinstance(outcome, Representation):
            return self._sender.answer(outcome, headers)
        return self._error_answer(outcome, request, route) if isinstance(outcome, RequestError) else outcome

    def _preflight(self, request: Request) -> Answer:
        answer = self._cors.preflight(request.headers) if request.method == hdrs.METH_OPTIONS else None
        if answer is None:
            raise MethodNotAllowed
        return answer

    def _is_authenticated(self, keys: Sequence[str]) -> bool:
        """Return whether a request to a path that needs no key has a valid one."""
        try:
            self._authenticate(keys)
        except Unauthorized:
            return False
        return True
