"""The service as a function from request to response."""

import logging
from collections.abc import Awaitable, Iterable, Sequence
from http import HTTPStatus
from time import perf_counter
from typing import Final

from aiohttp import hdrs

from service.errors import InternalServerError, MethodNotAllowed, RequestError, Unauthorized, UnknownPath
from service.operation import VERSION_HEADER
from service.replica.replica import Replica
from service.web import prefer
from service.web.answer import Answer, header_lines
from service.web.auth import KEY_HEADER, Authenticate
from service.web.connections.request import Request
from service.web.cors import Cors
from service.web.links import HELP_LINE, HELP_PATH
from service.web.observer import Exchange, Observer
from service.web.policy import Policy
from service.web.problem import refusal
from service.web.rate_limits import make_rate_limits
from service.web.representation import Representation, Sender
from service.web.response import Response
from service.web.routes import Call, Route, Routes
from service.web.target import without_slash
from service.web.tracing import REQUEST_ID, RequestIds
from service.web.traffic import UNMATCHED

_METHODS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_MILLISECONDS: Final = 1e3
_log = logging.getLogger(__name__)


class App:
    """Answers requests.

    What is judged, in this order: path, method, key, rate, parameters, version, record, conditions.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        replica: Replica,
        authenticate: Authenticate,
        observer: Observer,
        policy: Policy,
    ) -> None:
        self._routes = Routes(routes)
        self._helps = self._routes.find(HELP_PATH)[0] is not None
        self._replica = replica
        self._authenticate = authenticate
        self.traffic = observer.traffic
        self._observer = observer
        self._rate_limits = make_rate_limits(policy, self.traffic.count)
        self._request_ids = RequestIds()
        self._times = policy.server_timing
        self._cors = Cors(policy.origins)
        self._sender = Sender(policy.encoded_bytes, self.traffic.count)
        self._refusals_vary = {of_data: policy.vary(hdrs.ACCEPT, of_data=of_data) for of_data in (False, True)}

    async def __call__(self, request: Request) -> Response:
        """Answer a request. Never raises."""
        started = perf_counter()
        route, segment = self._routes.find(request.rel_url.raw_path)
        request_id = self._request_ids.of(request.headers.get(REQUEST_ID))
        exchange = Exchange(request_id, UNMATCHED if route is None else route.path)
        # While the service drains, whoever keeps the connection is to take another one.
        closes = self._replica.draining or (request.error is not None and request.error.closes)
        try:
            told = self._judged(exchange, request, route, segment)
            answer = told if isinstance(told, Answer) else await told
        except RequestError as error:
            answer, closes = self._refusal(error, request, route), closes or error.closes
        except Exception:  # noqa: BLE001 - whatever it is, the client gets an answer and the log the traceback
            _log.exception("request %s to %s failed", request_id, exchange.route)
            answer = self._refusal(InternalServerError(), request, route)
        seconds = perf_counter() - started
        self._observer.answered(request, exchange, answer, seconds)
        lines = f"{REQUEST_ID}: {request_id}\r\n{self._cors.lines(answer.vary, request.headers.get(hdrs.ORIGIN))}"
        if exchange.lines:
            lines += exchange.lines
        if self._times:
            lines += f"Server-Timing: app;dur={seconds * _MILLISECONDS:.3f}\r\n"
        if prefer.PREFER in request.headers and route is not None and route.protected:
            lines += prefer.applied(request.headers.getall(prefer.PREFER), answer.status)
        return Response(answer, lines, closes=closes, authenticated=exchange.principal is not None)

    def malformed(self, error: RequestError, accept: Sequence[str], client: str | None) -> Response:
        """Answer what HTTP parsing refused, of which only what it accepts is known, and who sent it."""
        return self._unparsed(refusal(error, accept), client)

    def unknown_method(self, target: str, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing refused for its method: it may be any token (RFC 9110 section 9.1).

        The target begins with a slash, and is taken for a path even where two stand there.
        """
        path, _, query = target.partition("#")[0].partition("?")
        try:
            known, _ = self._routes.find(path)
            answer = refusal(MethodNotAllowed(), accept) if known else self._elsewhere(path, query)
        except UnknownPath as error:
            answer = refusal(error, accept, links=self._links(error))
        return self._unparsed(answer, client)

    async def close(self) -> None:
        """Let go of what was asked about rates."""
        if self._rate_limits is not None:
            await self._rate_limits.close()

    def _unparsed(self, answer: Answer, client: str | None) -> Response:
        request_id = self._request_ids.of(None)
        self._observer.malformed(answer, client=client, request_id=request_id)
        lines = f"{REQUEST_ID}: {request_id}\r\n{self._cors.lines(answer.vary, None)}"
        return Response(answer, lines, closes=True)

    def _refusal(self, error: RequestError, request: Request, route: Route | None) -> Answer:
        vary = self._refusals_vary[route is not None and route.protected]
        accept = request.headers.getall(hdrs.ACCEPT, ())
        return refusal(error, accept, vary=vary, links=self._links(error))

    def _links(self, error: RequestError) -> str:
        """Return the header line of the link from an error to the documentation, where that is here and helps."""
        return HELP_LINE if error.helped and self._helps else ""

    def _elsewhere(self, path: str, query: str) -> Answer:
        """Return the redirect of a known path behind which one slash stands; raise `UnknownPath` for any other."""
        above = path.removesuffix("/")
        known, _ = self._routes.find(above)
        if above == path or known is None:
            raise UnknownPath
        location = header_lines({"Location": without_slash(path, query)})
        return Answer((), status=HTTPStatus.TEMPORARY_REDIRECT.value, headers=location)

    def _judged(
        self, exchange: Exchange, request: Request, route: Route | None, segment: str
    ) -> Answer | Awaitable[Answer]:
        """Return the answer to a request; what is wrong with its framing is not raised, as it would keep the frames."""
        if request.error is not None:
            return self._refusal(request.error, request, route)
        if route is None:
            return self._elsewhere(request.rel_url.raw_path, request.rel_url.raw_query_string)
        return self._answer(exchange, request, route, segment)

    def _answer(self, exchange: Exchange, request: Request, route: Route, segment: str) -> Answer | Awaitable[Answer]:
        if request.method not in _METHODS:
            return self._preflight(request)
        if route.protected:
            exchange.principal = principal = self._authenticate(request.headers.getall(KEY_HEADER, ()))
            if principal.rate is not None and self._rate_limits is not None:
                waits = self._rate_limits.judge(exchange, principal.name, principal.rate)
                if waits is not None:
                    return self._after(waits, request, route, segment)
        return self._asked(request, route, segment)

    async def _after(self, waits: Awaitable[None], request: Request, route: Route, segment: str) -> Answer:
        """Answer once the rate is judged."""
        await waits
        told = self._asked(request, route, segment)
        return told if isinstance(told, Answer) else await told

    def _asked(self, request: Request, route: Route, segment: str) -> Answer | Awaitable[Answer]:
        """Answer what may be asked."""
        headers, query = request.headers, request.rel_url.raw_query_string
        if route.protected:
            strict = prefer.PREFER in headers and prefer.is_strict(headers.getall(prefer.PREFER))
            call = Call(segment, query, strict=strict, versions=headers.getall(VERSION_HEADER, ()))
        else:
            call = Call(segment, query, known=self._knows(headers.getall(KEY_HEADER, ())))
        outcome = route.answer(call)
        if isinstance(outcome, Representation):
            return self._sender.answer(outcome, headers)
        return self._refusal(outcome, request, route) if isinstance(outcome, RequestError) else outcome

    def _preflight(self, request: Request) -> Answer:
        answer = self._cors.preflight(request.headers) if request.method == hdrs.METH_OPTIONS else None
        if answer is None:
            raise MethodNotAllowed
        return answer

    def _knows(self, given: Sequence[str]) -> bool:
        """Return whether a caller who need not be let in would be."""
        try:
            self._authenticate(given)
        except Unauthorized:
            return False
        return True
