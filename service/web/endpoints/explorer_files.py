"""/explorer: the page for people with its files. It loads nothing from other servers, except an operator's map tiles."""

from functools import cache
from html import escape
from importlib import resources
from typing import Final

from service.model.operation import JSON
from service.model.records import STORES
from service.web.endpoints.documents import HTML, SCRIPT, STYLE, document_route
from service.web.endpoints.start_page import EXPLORER_PATH
from service.web.headers.header_lines import HeaderLines, header_lines
from service.web.pipeline.policy import Explorer, Policy
from service.web.pipeline.routes import Route

_MEDIA_TYPES: Final = {"css": STYLE, "js": SCRIPT, "json": JSON, "svg": "image/svg+xml"}
_PAGE: Final = "page.html"
# Of the map library: what is served of release 1.9.4.
_LEAFLET: Final = ("leaflet.css", "leaflet.js")


def explorer_routes(policy: Policy) -> tuple[Route, ...]:
    """Return the routes of the page and its files; none if it is not served."""
    return () if policy.explorer is None else _routes(policy.explorer, policy.needs_key)


@cache  # the files do not change, and their digests take long
def _routes(explorer: Explorer, needs_key: bool) -> tuple[Route, ...]:  # noqa: FBT001 - of a cached function
    headers, folder = _headers(explorer), resources.files("service.web") / "explorer"
    leaflet = resources.files("js_lib_leaflet") / "static" / "js_lib_leaflet"
    files = {file.name: file for file in folder.iterdir()} | {name: leaflet / name for name in _LEAFLET}
    page = _filled(files.pop(_PAGE).read_text("utf-8"), explorer, needs_key=needs_key)
    return (
        document_route(EXPLORER_PATH, page.encode(), HTML, headers),
        *(
            document_route(f"{EXPLORER_PATH}/{name}", file.read_bytes(), _MEDIA_TYPES[name.rpartition(".")[2]], headers)
            for name, file in sorted(files.items())
        ),
    )


def _headers(explorer: Explorer) -> HeaderLines:
    images = f"'self' {explorer.origin}".rstrip()
    return header_lines(
        {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
            f"img-src {images}; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
    )


def _filled(page: str, explorer: Explorer, *, needs_key: bool) -> str:
    """Return the page with what its scripts need to know of the service."""
    values = {
        "NEEDS_KEY": str(needs_key).lower(),
        "MEMBERS": " ".join(STORES.members),
        "FILTERS": " ".join(field.name for field in STORES.filters),
        "TILES": explorer.tiles,
        "ATTRIBUTION": explorer.attribution,
    }
    for name, value in values.items():
        page = page.replace(f"{{{name}}}", escape(value))
    return page
