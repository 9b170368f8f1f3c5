"""/: a way to the page for people, or the paths for other clients."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import hdrs

from service.model.operation import JSON, Operation
from service.settings import Settings
from service.web.answers.answer import Answer
from service.web.headers.header_lines import NO_STORE, header_lines
from service.web.headers.links import HELP_PATH
from service.web.headers.list_fields import bounded_fields, weights
from service.web.pipeline.routes import AnswerRoute
from service.web.requests.request_fields import RequestFields

EXPLORER_PATH: Final = "/explorer"
_HTML: Final = "text/html"
_PAGES: Final = {
    "/openapi.json": "The interface as OpenAPI",
    HELP_PATH: "The interface as a page to try it",
    EXPLORER_PATH: "The stores as a page to look at",
}


def start_route(operations: Iterable[Operation], settings: Settings) -> AnswerRoute:
    """Return the route of /, which redirects browsers to a page and lists the paths of operations for others."""
    hidden = (EXPLORER_PATH,) if settings.no_explorer else ()
    paths = {operation.path: operation.summary for operation in operations}
    pages = {path: summary for path, summary in _PAGES.items() if path not in hidden}
    index = Answer((msgspec.json.encode({"paths": paths | pages}),), JSON, headers=NO_STORE, vary=hdrs.ACCEPT)
    # Relative, so that it is correct behind a proxy that adds a prefix to the path.
    location = HELP_PATH.removeprefix("/") if hidden else EXPLORER_PATH.removeprefix("/")
    redirect = Answer(
        (),
        status=HTTPStatus.TEMPORARY_REDIRECT.value,
        headers=NO_STORE + header_lines({"Location": location}),
        vary=hdrs.ACCEPT,
    )
    return AnswerRoute(path="/", answer=lambda fields, _: redirect if _prefers_html(fields) else index)


def _prefers_html(fields: RequestFields) -> bool:
    """Return whether a client prefers a page to JSON by name, as browsers do."""
    weight = weights(bounded_fields(fields.accept))
    return weight.get(_HTML, 0.0) > weight.get(JSON, 0.0)
