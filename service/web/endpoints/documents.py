"""The documents: /, /openapi.json, /docs, the explorer or the page for everyone, and the element <store-locator>."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import hdrs

from service.model.attributes import NO_ATTRIBUTES, Attribute, Schema
from service.model.operation import JSON, VERSION_HEADER, Operation
from service.model.records import STORES
from service.settings import ACCENT, IMAGE_TYPES, Settings, tiles_origin
from service.web.endpoints.resources import ServedData
from service.web.http.header_fields import NO_STORE, HeaderLines, bounded_fields, header_lines, weights
from service.web.http.links import HELP_PATH
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.plan import CommonHeaders, Identity, Plan, Representation
from service.web.pipeline.routes import AnswerRoute, ResourceRoute, Route

_EXPLORER_PATH: Final = "/explorer"
# Of other projects: vendored.toml says what and of which release.
_VENDORED: Final = resources.files("service.web") / "vendored"
_HTML: Final = "text/html"
_PAGES: Final = {
    "/openapi.json": "The interface as OpenAPI",
    HELP_PATH: "The interface as a page to try it",
    _EXPLORER_PATH: "The stores as a page to look at",
}


def start_route(operations: Iterable[Operation], settings: Settings) -> AnswerRoute:
    """Return the route of /, which redirects browsers to a page and lists the paths of operations for others."""
    hidden = (_EXPLORER_PATH,) if settings.no_explorer else ()
    paths = {operation.path: operation.summary for operation in operations}
    pages = {path: summary for path, summary in _PAGES.items() if path not in hidden}
    index = Answer((msgspec.json.encode({"paths": paths | pages}),), JSON, headers=NO_STORE, vary=hdrs.ACCEPT)
    # Relative, so that it is correct behind a proxy that adds a prefix to the path.
    location = HELP_PATH.removeprefix("/") if hidden else _EXPLORER_PATH.removeprefix("/")
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
# By the ending of a path; that of a page has none.
_MEDIA_TYPES: Final = {
    "": f"{_HTML}; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": JSON,
    **IMAGE_TYPES,
}
_POLICY: Final = header_lines(
    {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    }
)
# On lines of its own. A comment with a licence begins with one asterisk: it stays.
_COMMENT: Final = re.compile(rb"^[ \t]*(?://.*|/\*\*[^*]*\*+(?:[^/*][^*]*\*+)*/)[ \t]*\n", re.MULTILINE)
_SWAGGER_UI: Final = ("swagger-ui.css", "swagger-ui-bundle.js")
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
    return _openapi_route(data, openapi), *_docs_routes(link, _key(settings).encode())


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
def _docs_routes(link: bytes, key: bytes) -> tuple[Route, ...]:
    folder = resources.files("service.web.endpoints") / "docs"
    page = (folder / "page.html").read_bytes().replace(_LINK, link).replace(b"{KEY}", key)
    files = {name: served(folder / name) for name in ("page.js", "key.js")}
    files |= {name: (_VENDORED / "swagger-ui" / name).read_bytes() for name in _SWAGGER_UI}
    return (
        _document_route(HELP_PATH, page, _POLICY),
        *(_document_route(f"{HELP_PATH}/{name}", body, _POLICY) for name, body in files.items()),
        AnswerRoute(path="/favicon.ico", answer=lambda *_: _NO_ICON),
    )


def served(file: Traversable) -> bytes:
    """Return the bytes of a file as pages load it: modules without comments, which are a tenth of a first view."""
    body = file.read_bytes()
    return _COMMENT.sub(b"", body) if file.name.endswith(".js") else body


def _document_route(path: str, body: bytes, headers: HeaderLines, *, group: str = "") -> ResourceRoute:
    """Return the route of a document, which never changes while the service runs; it may be one of a group."""
    identity = _identity(path, body, _MEDIA_TYPES[path.partition(".")[2]])
    return ResourceRoute(path=path, plan=lambda *_: _plan(body, identity, headers), group=group)


def _identity(path: str, body: bytes, media_type: str) -> Identity:
    return Identity(path, "", sha256(body).hexdigest(), media_type)


_PAGE: Final = "page.html"
# Its other files are counted as one.
_FILES: Final = f"{_EXPLORER_PATH}/{{file}}"
_LEAFLET: Final = ("leaflet.css", "leaflet.js")


def explorer_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the page and its files; none if it is not served."""
    if settings.no_explorer:
        return ()
    return _routes(_key(settings), settings.tiles, settings.tiles_attribution, settings.images)


@cache  # the files do not change, and their digests take long
def _routes(key: str, tiles: str, attribution: str, images: tuple[str, ...]) -> tuple[Route, ...]:
    folder = resources.files("service.web") / "explorer"
    files = {file.name: file for file in folder.iterdir()} | {name: _VENDORED / "leaflet" / name for name in _LEAFLET}
    known = {"KEY": key, "TILES": tiles, "ATTRIBUTION": attribution, "IMAGES": " ".join(images)}
    known |= {"MEMBERS": " ".join(STORES.members), "FILTERS": " ".join(field.name for field in STORES.filters)}
    page = _filled(files.pop(_PAGE).read_text("utf-8"), **known)
    return _page_routes(page, {name: served(file) for name, file in files.items()}, _page_headers(tiles, images))


def public_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the page for everyone, which has the element, and its files; none if it is not served."""
    if settings.no_explorer:
        return ()
    web = resources.files("service.web")
    ancestors = " ".join(settings.ancestors) or "'none'"
    logo = Path(settings.logo)
    picture = logo.read_bytes() if settings.logo else (web / "explorer" / "icon.svg").read_bytes()
    name = f"logo{logo.suffix.lower() or '.svg'}"
    known = {"TITLE": settings.title or "Stores", "KEY": settings.explorer_key, "LOGO": f"explorer/{name}"}
    page, style, script = ((web / "public" / f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    files = {"page.css": _filled(style, ACCENT=settings.accent or ACCENT), "page.js": script.encode(), name: picture}
    return _page_routes(_filled(page, **known), files, _page_headers(settings.tiles, settings.images, ancestors))


def _page_routes(page: bytes, files: Mapping[str, bytes], headers: HeaderLines) -> tuple[Route, ...]:
    """Return the routes of a page for people, and of its files."""
    return (
        _document_route(_EXPLORER_PATH, page, headers),
        *(
            _document_route(f"{_EXPLORER_PATH}/{name}", body, headers, group=_FILES)
            for name, body in sorted(files.items())
        ),
    )


def _page_headers(tiles: str, images: tuple[str, ...], ancestors: str = "'none'") -> HeaderLines:
    """Return the header fields of a page for people, with the sources of its images, and who may frame it."""
    sources = " ".join(["'self'", *([tiles_origin(tiles)] if tiles else []), *images])
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {sources}; connect-src 'self'; "
        f"frame-ancestors {ancestors}; base-uri 'none'; form-action 'self'"
    )
    fields = {"Cache-Control": "no-cache", "Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    return header_lines(fields)


def _filled(page: str, **values: str) -> bytes:
    """Return a page or a style sheet with what it needs to know of the service."""
    for name, value in values.items():
        page = page.replace(f"{{{name}}}", escape(value))
    return page.encode()


_EMBED_PATH: Final = "/embed"
_EMBED_FILES: Final = f"{_EMBED_PATH}/{{file}}"
# Of the explorer, what the element imports or loads.
_SHARED: Final = (
    *("api.js", "dom.js", "en.js", "hours.js", "language.js", "search.js"),
    *("base.js", "locations.js", "map.js", "marks.js", "names.js"),
    *("map.css", "countries.json", "provinces.json", "names.json"),
)
# As a module: whatever loads other modules in the page does not see it, and the page has its own `L` again.
_AS_MODULE: Final = (b"const exports={},module={exports};", b"\nexport default exports.noConflict();\n")
_EMBED_HEADERS: Final = header_lines(
    {"Cache-Control": "public, max-age=3600", "Cross-Origin-Resource-Policy": "cross-origin"}
)


def embed_routes(data: ServedData, settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the files, which pages of any origin may read without a key."""
    routes = (_service_route(data, settings), *_embed_file_routes())
    return tuple(msgspec.structs.replace(route, any_origin=True) for route in routes)


@cache  # the files do not change, and their digests take long
def _embed_file_routes() -> tuple[Route, ...]:
    return tuple(
        _document_route(f"{_EMBED_PATH}/{name}", body, _EMBED_HEADERS, group=_EMBED_FILES)
        for name, body in _embed_files()
    )


def _embed_files() -> Iterator[tuple[str, bytes]]:
    web = resources.files("service.web")
    for file in (*(web / "embed").iterdir(), *(web / "explorer" / name for name in _SHARED)):
        yield file.name, served(file)
    yield "leaflet.css", (_VENDORED / "leaflet" / "leaflet.css").read_bytes()
    yield "leaflet.js", (_VENDORED / "leaflet" / "leaflet.js").read_bytes().join(_AS_MODULE)


def _shown(attribute: Attribute) -> dict[str, str]:
    """Return what the element shows of an attribute."""
    label = attribute.label or attribute.name.replace("_", " ").capitalize()
    return {"name": attribute.name, "kind": attribute.kind, "label": label, "show": attribute.show or "card"}


def _service_route(data: ServedData, settings: Settings) -> Route:
    """Return the route of what the element knows of the served data and the settings."""
    path = f"{_EMBED_PATH}/service.json"

    @lru_cache(2)  # without attributes, and with those of the data that is served
    def document(schema: Schema) -> tuple[bytes, Identity]:
        known = {"tiles": settings.tiles, "attribution": settings.tiles_attribution, "images": settings.images}
        body = msgspec.json.encode({"attributes": [*map(_shown, schema.declaration.stores)], **known})
        return body, _identity(path, body, JSON)

    def plan(*_: object) -> Plan:
        return _plan(*document(data.snapshots.schema), _EMBED_HEADERS)

    return ResourceRoute(path=path, plan=plan, group=_EMBED_FILES)
