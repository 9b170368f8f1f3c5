"""The service as a function from request to response."""

import logging
from http import HTTPStatus
from time import perf_counter
from typing import Final

from aiohttp import hdrs, web
from yarl import URL

from service.errors import (
    BadRequest,
    ContentTooLarge,
    InternalServerError,
    MethodNotAllowed,
    NotFound,
    RequestError,
)
from service.openapi import openapi_document
from service.replica import Replica
from service.web import prefer
from service.web.answer import Answer, header_lines
from service.web.auth import KEY_HEADER, Authenticate
from service.web.documents import document_routes
from service.web.metrics import Metrics
from service.web.probes import probe_routes
from service.web.records import record_routes
from service.web.response import Response
from service.web.routes import Call, Route, Routes
from service.web.target import without_slash

# Nobody needs a body to read; one up to here is read past, so that the connection can go on.
MAX_BODY_BYTES: Final = 1 << 20

_METHODS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_UNMATCHED: Final = "unmatched"
_log = logging.getLogger(__name__)


class UnsupportedVersion(web.BaseRequest):
    """A request in a version of HTTP that is not ours."""


class App:
    """Answers requests. What is judged, in this order: path, method, key, parameters, record."""

    def __init__(self, replica: Replica, authenticate: Authenticate) -> None:
        self._metrics = Metrics(replica)
        described = (*record_routes(replica), *probe_routes(replica))
        self.openapi = openapi_document([route.operation for route in described if route.operation is not None])
        self._routes = Routes((*described, *document_routes(self.openapi), self._metrics.route()))
        self._authenticate = authenticate

    async def __call__(self, request: web.BaseRequest) -> Response:
        """Answer a request. Never raises."""
        started = perf_counter()
        route, segment = self._routes.find(request.rel_url.raw_path)
        path = _UNMATCHED if route is None else route.path
        closes = False
        try:
            _check_framing(request)
            answer = self._elsewhere(request.rel_url) if route is None else self._answer(request, route, segment)
        except RequestError as error:
            answer, closes = Answer.of(error), error.closes
        except Exception:  # noqa: BLE001 - whatever it is, the client gets an answer and the log the traceback
            _log.exception("a request to %s failed", path)
            answer = Answer.of(InternalServerError())
        self._metrics.observe(request.method, path, answer.status, perf_counter() - started)
        return Response(answer, closes=closes)

    def malformed(self, error: RequestError) -> Response:
        """Answer what HTTP parsing refused."""
        return self._refuse(Answer.of(error))

    def unknown_method(self, target: str) -> Response:
        """Answer a request that HTTP parsing refused for its method: it may be any token (RFC 9110 section 9.1)."""
        url = URL(target, encoded=True)
        try:
            known, _ = self._routes.find(url.raw_path)
            return self._refuse(Answer.of(MethodNotAllowed()) if known else self._elsewhere(url))
        except NotFound as error:
            return self._refuse(Answer.of(error))

    def _refuse(self, answer: Answer) -> Response:
        self._metrics.observe("other", _UNMATCHED, answer.status, 0.0)
        return Response(answer, closes=True)

    def _elsewhere(self, url: URL) -> Answer:
        """Return the redirect of a known path behind which one slash stands; raise `NotFound` for any other path."""
        above = url.raw_path.removesuffix("/")
        known, _ = self._routes.find(above)
        if above == url.raw_path or known is None:
            raise NotFound
        location = header_lines({"Location": without_slash(url.raw_path, url.raw_query_string)})
        return Answer((), status=HTTPStatus.TEMPORARY_REDIRECT.value, headers=location)

    def _answer(self, request: web.BaseRequest, route: Route, segment: str) -> Answer:
        if request.method not in _METHODS:
            raise MethodNotAllowed
        query = request.rel_url.raw_query_string
        if not route.protected:
            return route.answer(Call(segment, query, strict=False))
        headers = request.headers
        self._authenticate(headers.getall(KEY_HEADER, ()))
        strict = prefer.is_strict(headers.getall("Prefer", ()))
        answer = route.answer(Call(segment, query, strict=strict))
        return answer.with_headers(prefer.APPLIED) if strict else answer


def _check_framing(request: web.BaseRequest) -> None:
    if isinstance(request, UnsupportedVersion):
        raise BadRequest
    if hdrs.CONTENT_LENGTH in request.headers and (request.content_length or 0) > MAX_BODY_BYTES:
        raise ContentTooLarge
