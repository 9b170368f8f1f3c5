"""/explorer: a page for people, with its files. It loads nothing from other servers but an operator's map tiles."""

from functools import cache
from html import escape
from importlib import resources
from typing import Final

from service.model.operation import JSON
from service.model.records import STORES
from service.settings import Settings
from service.web.endpoints.documents import HTML, SCRIPT, STYLE, document_route
from service.web.endpoints.start_page import EXPLORER_PATH
from service.web.headers.header_lines import HeaderLines, header_lines
from service.web.headers.origins import tiles_origin
from service.web.pipeline.routes import Route

_MEDIA_TYPES: Final = {"css": STYLE, "js": SCRIPT, "json": JSON, "svg": "image/svg+xml"}
_PAGE: Final = "page.html"
# Of the map library: what is served of release 1.9.4.
_LEAFLET: Final = ("leaflet.css", "leaflet.js")


def explorer_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the page and its files; none if it is not served."""
    if settings.no_explorer:
        return ()
    return _routes("" if settings.no_auth else "needed", settings.tiles, settings.tiles_attribution)


@cache  # the files do not change, and their digests take long
def _routes(key: str, tiles: str, attribution: str) -> tuple[Route, ...]:
    headers, folder = _headers(tiles), resources.files("service.web") / "explorer"
    leaflet = resources.files("js_lib_leaflet") / "static" / "js_lib_leaflet"
    files = {file.name: file for file in folder.iterdir()} | {name: leaflet / name for name in _LEAFLET}
    page = _filled(files.pop(_PAGE).read_text("utf-8"), KEY=key, TILES=tiles, ATTRIBUTION=attribution)
    return (
        document_route(EXPLORER_PATH, page.encode(), HTML, headers),
        *(
            document_route(f"{EXPLORER_PATH}/{name}", file.read_bytes(), _MEDIA_TYPES[name.rpartition(".")[2]], headers)
            for name, file in sorted(files.items())
        ),
    )


def _headers(tiles: str) -> HeaderLines:
    images = f"'self' {tiles_origin(tiles)}" if tiles else "'self'"
    return header_lines(
        {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
            f"img-src {images}; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
    )


def _filled(page: str, **values: str) -> str:
    """Return the page with what its scripts need to know of the service."""
    values["MEMBERS"] = " ".join(STORES.members)
    values["FILTERS"] = " ".join(field.name for field in STORES.filters)
    for name, value in values.items():
        page = page.replace(f"{{{name}}}", escape(value))
    return page
