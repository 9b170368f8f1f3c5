"""The shapes of a run, with variants: other header fields; compressed, not modified, logged responses."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.contender import HOME, ROOT, same_targets
from bench.wire.locator import read_locator_shapes
from bench.wire.servers import Failed, Server
from bench.wire.shapes import ACCEPT_ENCODING, Bound, Shape, read_shapes
from service.model.operation import REQUEST_ID_HEADER
from service.settings import Settings
from service.web.headers.content_coding import CODINGS

_NOT_MODIFIED: Final = 304
_MIN_RATIO: Final = Bound("cpu_ratio", 1.05)
_MAX_LOGGED: Final = Bound("cpu_added", 2.5, is_upper=True)
_CODINGS: Final = [coding.token for coding in CODINGS]
NO_CACHE: Final = ("--response-cache", "0")
# The heads of responses take a part of it.
_CACHED_BYTES: Final = (Settings().response_cache << 20) * 3 // 4
# Pages of 1,000 are large even when compressed: this many fit into the cache.
_MAX_PAGES: Final = 200
LOCATED_FROM: Final = 1_000_000


def choose_shapes(folder: Path, slugs: Sequence[str], *, stores: int, seed: int) -> list[Shape]:
    """Return the named shapes of the data set in a folder; all by default, those by location or text if it is large.

    Raises ValueError, which lists the shapes, if there is none of these names.
    """
    drawn = read_shapes(folder, seed)
    located = read_locator_shapes(folder, seed) if slugs or stores >= LOCATED_FROM else ()
    every = (*drawn, *located, *variants(drawn))
    shapes = [shape for shape in every if not slugs or shape.slug in slugs]
    if not shapes:
        raise ValueError(f"the shapes are {', '.join(shape.slug for shape in every)}")
    return shapes


def variants(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the variants of `company`, `city` and `page`.

    Cached bodies cost the same in every coding, so one coding is enough.
    """
    drawn = {shape.slug: shape for shape in shapes}
    company, city, page = drawn["company"], drawn["city"], drawn["page"]
    pages = msgspec.structs.replace(page, requests=page.requests[:_MAX_PAGES])
    best = _CODINGS[0]
    cached = (_coded(shape, best, cached=True) for shape in (city, pages))
    cities = (_coded(city, coding, cached=False) for coding in _CODINGS)
    return (
        *(_own_fields(company), _not_modified(city), *cached, *cities, _coded(pages, best, cached=False)),
        *(_logged(company), _logged(city)),
    )


def _own_fields(shape: Shape) -> Shape:
    """Return a shape whose requests have distinct header fields, so that the service parses each anew."""
    requests = (
        msgspec.structs.replace(request, fields=((REQUEST_ID_HEADER, f"bench-{number}"),))
        for number, request in enumerate(shape.requests)
    )
    title = f"{shape.title}, each request with an `{REQUEST_ID_HEADER}` of its own"
    slug = f"{shape.slug}-own-fields"
    return msgspec.structs.replace(shape, slug=slug, title=title, requests=tuple(requests), has_floors=False)


def _logged(shape: Shape) -> Shape:
    """Return a shape for a service with an access log."""
    options = ("--access-log", str((HOME / "access.log").relative_to(ROOT)))
    slug, title = f"{shape.slug}-logged", f"{shape.title}, with an access log"
    changed = {
        "slug": slug,
        "title": title,
        "options": options,
        "bound": _MAX_LOGGED,
        "is_logged": True,
        "has_floors": False,
    }
    return msgspec.structs.replace(shape, **changed)


def _not_modified(shape: Shape) -> Shape:
    """Return a shape of 304; `with_entity_tags` adds the condition."""
    title = f"{_NOT_MODIFIED}: {shape.title}, `If-None-Match`"
    changed = {
        "slug": "not-modified",
        "title": title,
        "status": _NOT_MODIFIED,
        "bound": _MIN_RATIO,
        "has_floors": False,
    }
    return msgspec.structs.replace(shape, **changed)


def _coded(shape: Shape, coding: str, *, cached: bool) -> Shape:
    how, options = ("cached", ()) if cached else ("not cached", NO_CACHE)
    fields = ((ACCEPT_ENCODING, coding),)
    return msgspec.structs.replace(
        shape,
        slug=f"{shape.slug}-{coding}-{how.replace(' ', '-')}",
        title=f"{shape.title}, {coding}, {how}",
        requests=tuple(msgspec.structs.replace(request, fields=fields) for request in shape.requests),
        options=options,
        bound=_MIN_RATIO if cached else None,
        has_floors=False,
    )


def check_cached(shape: Shape, size: int) -> None:
    """Raise `Failed` if the compressed bodies of a shape, of a size in all, should be cached but do not fit."""
    if shape.coding and not shape.options and size > _CACHED_BYTES:
        raise Failed(f"the bodies of {shape.slug} take {size:,} bytes, but only {_CACHED_BYTES:,} fit into the cache")


def with_entity_tags(server: Server, shape: Shape) -> Shape:
    """Return a shape of 304 with the entity tags of the service in its requests; any other unchanged."""
    if shape.status != _NOT_MODIFIED:
        return shape
    tags = (server.fetch(target, shape.key).tag for target in same_targets(shape))
    requests = (
        msgspec.structs.replace(request, fields=(("If-None-Match", tag),))
        for request, tag in zip(shape.requests, tags, strict=True)
    )
    return msgspec.structs.replace(shape, requests=tuple(requests))
