"""The documents: /openapi.json, and /docs, an interactive page that loads nothing from other servers."""

from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from http import HTTPStatus
from importlib import resources
from typing import Final

from aiohttp import hdrs
from swagger_ui_bundle import swagger_ui_path

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.operation import JSON, VERSION_HEADER
from service.web.answers.answer import Answer
from service.web.endpoints.resources import ServedData
from service.web.formats.document import Document
from service.web.headers.header_lines import HeaderLines, header_lines
from service.web.headers.links import HELP_PATH
from service.web.pipeline.identity import Identity
from service.web.pipeline.plan import CommonHeaders, Plan, Representation
from service.web.pipeline.routes import AnswerRoute, Call, ResourceRoute, Route

_OPENAPI: Final = "/openapi.json"
HTML: Final = "text/html; charset=utf-8"
SCRIPT: Final = "text/javascript; charset=utf-8"
STYLE: Final = "text/css; charset=utf-8"
_POLICY: Final = header_lines(
    {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }
)
# A place in the page, and the link that is there if the explorer is served.
_LINK: Final = b"<!--EXPLORER-->"
_TO_EXPLORER: Final = b'<a href="explorer">Explorer</a>'
# Browsers request it by themselves. There is none; the response is cached for a day.
_NO_ICON: Final = Answer(
    (), status=HTTPStatus.NO_CONTENT.value, headers=header_lines({"Cache-Control": "public, max-age=86400"})
)


def document_routes(data: ServedData, openapi: Callable[[Schema], bytes], *, has_explorer: bool) -> tuple[Route, ...]:
    """Return the routes of the OpenAPI document, and of the page that shows it with its assets."""
    return _openapi_route(data, openapi), *_page_routes(_TO_EXPLORER if has_explorer else b"")


def _openapi_route(data: ServedData, openapi: Callable[[Schema], bytes]) -> ResourceRoute:
    """Return the route of the OpenAPI document, which depends on the attributes of the served data."""

    @lru_cache(2)  # without attributes, and with those of the data that is served
    def document(schema: Schema) -> tuple[Identity, Document]:
        body = openapi(schema)
        return _identity(_OPENAPI, body, JSON), Document(body)

    document(NO_ATTRIBUTES)

    def plan(_: Call) -> Plan:
        current = data.snapshots.current
        identity, body = document(data.snapshots.schema)
        version = {} if current is None else {VERSION_HEADER: current.dataset.version}
        headers = _POLICY + header_lines(version)
        return Plan(Representation(identity, CommonHeaders(headers=headers, vary=hdrs.ACCEPT_ENCODING)), body)

    return ResourceRoute(path=_OPENAPI, plan=plan)


@cache  # the files do not change; the digest of the script takes longer than all other routes
def _page_routes(link: bytes) -> tuple[Route, ...]:
    page, swagger_ui = resources.files("service.web.endpoints") / "docs", swagger_ui_path
    return (
        _file(HELP_PATH, (page / "page.html").read_bytes().replace(_LINK, link), HTML),
        _file("/docs/page.js", (page / "page.js").read_bytes(), SCRIPT),
        _file("/docs/key.js", (page / "key.js").read_bytes(), SCRIPT),
        _file("/docs/swagger-ui.css", (swagger_ui / "swagger-ui.css").read_bytes(), STYLE),
        _file("/docs/swagger-ui-bundle.js", (swagger_ui / "swagger-ui-bundle.js").read_bytes(), SCRIPT),
        AnswerRoute(path="/favicon.ico", answer=lambda *_: _NO_ICON),
    )


def _file(path: str, body: bytes, media_type: str) -> ResourceRoute:
    return document_route(path, body, media_type, _POLICY)


def document_route(path: str, body: bytes, media_type: str, headers: HeaderLines, *, group: str = "") -> ResourceRoute:
    """Return the route of a document, which never changes while the service runs; it may be one of a group."""
    common = CommonHeaders(headers=headers, vary=hdrs.ACCEPT_ENCODING)
    document = Plan(Representation(_identity(path, body, media_type), common), Document(body))
    return ResourceRoute(path=path, plan=lambda _: document, group=group)


def _identity(path: str, body: bytes, media_type: str) -> Identity:
    return Identity(path, "", sha256(body).hexdigest(), media_type)
