"""`/embed/*`: the element `<store-locator>` for any website; the public page, which has it and nothing else."""

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from service.model.attributes import Attribute, Schema
from service.model.operation import JSON
from service.settings import ACCENT, Settings
from service.web.endpoints.documents import (
    MEDIA_TYPES,
    VENDORED,
    document_plan,
    document_route,
    filled,
    page_headers,
    page_routes,
    served,
)
from service.web.endpoints.resources import ServedData
from service.web.http.header_fields import header_lines
from service.web.pipeline.plan import Plan
from service.web.pipeline.routes import ResourceRoute, Route

EMBED_PATH: Final = "/embed"
_FILES: Final = f"{EMBED_PATH}/{{file}}"
# Of the explorer, what the element imports or loads.
_SHARED: Final = (
    *("api.js", "dom.js", "en.js", "hours.js", "language.js", "search.js"),
    *("base.js", "locations.js", "map.js", "marks.js", "names.js"),
    *("map.css", "countries.json", "provinces.json", "names.json"),
)
# As a module: whatever loads other modules in the page does not see it, and the page has its own `L` again.
_AS_MODULE: Final = (b"const exports={},module={exports};", b"\nexport default exports.noConflict();\n")
_HEADERS: Final = header_lines(
    {"Cache-Control": "public, max-age=3600", "Cross-Origin-Resource-Policy": "cross-origin"}
)


def embed_routes(data: ServedData, settings: Settings) -> tuple[Route, ...]:
    """Return the routes of the files, which pages of any origin may read without a key."""
    routes = (_service_route(data, settings), *_file_routes())
    return tuple(msgspec.structs.replace(route, any_origin=True) for route in routes)


@cache  # the files do not change, and their digests take long
def _file_routes() -> tuple[Route, ...]:
    return tuple(
        document_route(f"{EMBED_PATH}/{name}", body, MEDIA_TYPES[name.rpartition(".")[2]], _HEADERS, group=_FILES)
        for name, body in _files()
    )


def _files() -> Iterator[tuple[str, bytes]]:
    web = resources.files("service.web")
    for file in (*(web / "embed").iterdir(), *(web / "explorer" / name for name in _SHARED)):
        yield file.name, served(file)
    yield "leaflet.css", (VENDORED / "leaflet" / "leaflet.css").read_bytes()
    yield "leaflet.js", (VENDORED / "leaflet" / "leaflet.js").read_bytes().join(_AS_MODULE)


def _shown(attribute: Attribute) -> dict[str, str]:
    """Return what the element shows of an attribute."""
    label = attribute.label or attribute.name.replace("_", " ").capitalize()
    return {"name": attribute.name, "kind": attribute.kind, "label": label, "show": attribute.show or "card"}


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
    files = {"page.css": filled(style, ACCENT=settings.accent or ACCENT), "page.js": script.encode(), name: picture}
    return page_routes(filled(page, **known), files, page_headers(settings.tiles, settings.images, ancestors))


def _service_route(data: ServedData, settings: Settings) -> Route:
    """Return the route of what depends on the served data and the settings."""
    path = f"{EMBED_PATH}/service.json"

    @lru_cache(2)  # without attributes, and with those of the data that is served
    def body(schema: Schema) -> bytes:
        known = {"tiles": settings.tiles, "attribution": settings.tiles_attribution, "images": settings.images}
        return msgspec.json.encode({"attributes": [*map(_shown, schema.declaration.stores)], **known})

    def plan(*_: object) -> Plan:
        return document_plan(path, body(data.snapshots.schema), JSON, _HEADERS)

    return ResourceRoute(path=path, plan=plan, group=_FILES)
