"""The documents: /, /openapi.json, /docs (an interactive page without foreign resources), the explorer."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import msgspec
from aiohttp import hdrs

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.operation import JSON, VERSION_HEADER, Operation
from service.model.records import STORES
from service.settings import IMAGE_TYPES, Settings, tiles_origin
from service.web.endpoints.resources import ServedData
from service.web.http.header_fields import NO_STORE, HeaderLines, bounded_fields, header_lines, weights
from service.web.http.links import HELP_PATH
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.plan import CommonHeaders, Identity, Plan, Representation
from service.web.pipeline.routes import AnswerRoute, ResourceRoute, Route

EXPLORER_PATH: Final = "/explorer"
# Of other projects: vendored.toml says what and of which release.
VENDORED: Final = resources.files("service.web") / "vendored"
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


_OPENAPI: Final = "/openapi.json"
HTML: Final = "text/html; charset=utf-8"
SCRIPT: Final = "text/javascript; charset=utf-8"
STYLE: Final = "text/css; charset=utf-8"
_POLICY: Final = header_lines(
    {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    }
)
# On lines of its own. A comment with a licence begins with one asterisk: it stays.
_COMMENT: Final = re.compile(rb"^[ \t]*(?://.*|/\*\*[^*]*\*+(?:[^/*][^*]*\*+)*/)[ \t]*\n", re.MULTILINE)
# A place in the page, and the link that is there if the explorer is served.
_LINK: Final = b"<!--EXPLORER-->"
_TO_EXPLORER: Final = b'<a href="explorer">Explorer</a>'
# Browsers request it by themselves. There is none; the response is cached for a day.
_NO_ICON: Final = Answer(
    (), status=HTTPStatus.NO_CONTENT.value, headers=header_lines({"Cache-Control": "public, max-age=86400"})
)


def document_routes(data: ServedData, openapi: Callable[[Schema], bytes], settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the OpenAPI document, and of the page that shows it with its assets."""
    link = b"" if settings.no_explorer else _TO_EXPLORER
    return _openapi_route(data, openapi), *_page_routes(link, _key(settings).encode())


def _openapi_route(data: ServedData, openapi: Callable[[Schema], bytes]) -> ResourceRoute:
    """Return the route of the OpenAPI document, which depends on the attributes of the served data."""

    @lru_cache(2)  # without attributes, and with those of the data that is served
    def document(schema: Schema) -> tuple[bytes, Identity]:
        body = openapi(schema)
        return body, _identity(_OPENAPI, body, JSON)

    document(NO_ATTRIBUTES)

    def plan(*_: object) -> Plan:
        current = data.snapshots.current
        body, identity = document(data.snapshots.schema)
        version = {} if current is None else {VERSION_HEADER: current.dataset.version}
        return _plan(body, identity, _POLICY + header_lines(version))

    return ResourceRoute(path=_OPENAPI, plan=plan)


def _plan(body: bytes, identity: Identity, headers: HeaderLines) -> Plan:
    common = CommonHeaders(headers=headers, vary=hdrs.ACCEPT_ENCODING)
    return Plan(Representation(identity, common), partial(Answer, (body,)))


def _key(settings: Settings) -> str:
    """Return what pages know of keys: whether one is needed."""
    return "" if settings.no_auth else "needed"


@cache  # the files do not change; the digest of the script takes longer than all other routes
def _page_routes(link: bytes, key: bytes) -> tuple[Route, ...]:
    page, swagger_ui = resources.files("service.web.endpoints") / "docs", VENDORED / "swagger-ui"
    return (
        _file(HELP_PATH, (page / "page.html").read_bytes().replace(_LINK, link).replace(b"{KEY}", key), HTML),
        _file("/docs/page.js", served(page / "page.js"), SCRIPT),
        _file("/docs/key.js", served(page / "key.js"), SCRIPT),
        _file("/docs/swagger-ui.css", (swagger_ui / "swagger-ui.css").read_bytes(), STYLE),
        _file("/docs/swagger-ui-bundle.js", (swagger_ui / "swagger-ui-bundle.js").read_bytes(), SCRIPT),
        AnswerRoute(path="/favicon.ico", answer=lambda *_: _NO_ICON),
    )


def _file(path: str, body: bytes, media_type: str) -> ResourceRoute:
    return document_route(path, body, media_type, _POLICY)


def served(file: Traversable) -> bytes:
    """Return the bytes of a file as pages load it: modules without comments, which are a tenth of a first view."""
    body = file.read_bytes()
    return _COMMENT.sub(b"", body) if file.name.endswith(".js") else body


def document_plan(path: str, body: bytes, media_type: str, headers: HeaderLines) -> Plan:
    """Return the plan of a document, of which the served data may have another version."""
    return _plan(body, _identity(path, body, media_type), headers)


def document_route(path: str, body: bytes, media_type: str, headers: HeaderLines, *, group: str = "") -> ResourceRoute:
    """Return the route of a document, which never changes while the service runs; it may be one of a group."""
    identity = _identity(path, body, media_type)
    return ResourceRoute(path=path, plan=lambda *_: _plan(body, identity, headers), group=group)


def _identity(path: str, body: bytes, media_type: str) -> Identity:
    return Identity(path, "", sha256(body).hexdigest(), media_type)


MEDIA_TYPES: Final = {"css": STYLE, "js": SCRIPT, "json": JSON, **IMAGE_TYPES}
_PAGE: Final = "page.html"
# Its other files are counted as one.
_FILES: Final = f"{EXPLORER_PATH}/{{file}}"
_LEAFLET: Final = ("leaflet.css", "leaflet.js")


def explorer_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the page and its files; none if it is not served."""
    if settings.no_explorer:
        return ()
    return _routes(_key(settings), settings.tiles, settings.tiles_attribution, settings.images)


@cache  # the files do not change, and their digests take long
def _routes(key: str, tiles: str, attribution: str, images: tuple[str, ...]) -> tuple[Route, ...]:
    folder = resources.files("service.web") / "explorer"
    files = {file.name: file for file in folder.iterdir()} | {name: VENDORED / "leaflet" / name for name in _LEAFLET}
    known = {"KEY": key, "TILES": tiles, "ATTRIBUTION": attribution, "IMAGES": " ".join(images)}
    known |= {"MEMBERS": " ".join(STORES.members), "FILTERS": " ".join(field.name for field in STORES.filters)}
    page = filled(files.pop(_PAGE).read_text("utf-8"), **known)
    return page_routes(page, {name: served(file) for name, file in files.items()}, page_headers(tiles, images))


def page_routes(page: bytes, files: Mapping[str, bytes], headers: HeaderLines) -> tuple[Route, ...]:
    """Return the routes of a page for people, and of its files."""
    return (
        document_route(EXPLORER_PATH, page, HTML, headers),
        *(
            document_route(f"{EXPLORER_PATH}/{name}", body, MEDIA_TYPES[name.rpartition(".")[2]], headers, group=_FILES)
            for name, body in sorted(files.items())
        ),
    )


def page_headers(tiles: str, images: tuple[str, ...], ancestors: str = "'none'") -> HeaderLines:
    """Return the header fields of a page for people, with the sources of its images, and who may frame it."""
    sources = " ".join(["'self'", *([tiles_origin(tiles)] if tiles else []), *images])
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {sources}; connect-src 'self'; "
        f"frame-ancestors {ancestors}; base-uri 'none'; form-action 'self'"
    )
    fields = {"Cache-Control": "no-cache", "Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    return header_lines(fields)


def filled(page: str, **values: str) -> bytes:
    """Return a page or a style sheet with what it needs to know of the service."""
    for name, value in values.items():
        page = page.replace(f"{{{name}}}", escape(value))
    return page.encode()
