"""The shapes of a run, with variants: other header fields; compressed and not modified responses."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.servers import Server, same_targets
from bench.shapes import ACCEPT_ENCODING, Shape, ratio, read_shapes
from bench.wire.locator import read_locator_shapes
from service.model.operation import REQUEST_ID_HEADER
from service.web.http.content_coding import CODINGS

_NOT_MODIFIED: Final = 304
_MIN_RATIO: Final = ratio(1.05)
_CODINGS: Final = [coding.token for coding in CODINGS]
NO_CACHE: Final = ("--response-cache", "0")
# Pages of 1,000 are large even when compressed: this many fit into a cache of 64 MiB.
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
    company, city, page = (
        replace(each, has_floors=False) for each in shapes if each.slug in ("company", "city", "page")
    )
    pages, best = replace(page, requests=page.requests[:_MAX_PAGES]), _CODINGS[0]
    title = f"{_NOT_MODIFIED}: {city.title}, `If-None-Match`"
    return (
        _own_fields(company),
        replace(city, slug="not-modified", title=title, status=_NOT_MODIFIED, bound=_MIN_RATIO),
        *(_coded(shape, best, cached=True) for shape in (city, pages)),
        *(_coded(city, coding, cached=False) for coding in _CODINGS),
        _coded(pages, best, cached=False),
    )


def _own_fields(shape: Shape) -> Shape:
    """Return a shape whose requests have distinct header fields, so that the service parses each anew."""
    requests = tuple(
        replace(request, fields=((REQUEST_ID_HEADER, f"bench-{number}"),))
        for number, request in enumerate(shape.requests)
    )
    title = f"{shape.title}, each request with an `{REQUEST_ID_HEADER}` of its own"
    return replace(shape, slug=f"{shape.slug}-own-fields", title=title, requests=requests)


def _coded(shape: Shape, coding: str, *, cached: bool) -> Shape:
    how, options, bound = ("cached", (), _MIN_RATIO) if cached else ("not cached", NO_CACHE, None)
    return replace(
        shape,
        slug=f"{shape.slug}-{coding}-{how.replace(' ', '-')}",
        title=f"{shape.title}, {coding}, {how}",
        requests=tuple(replace(request, fields=((ACCEPT_ENCODING, coding),)) for request in shape.requests),
        options=options,
        bound=bound,
    )


def with_entity_tags(server: Server, shape: Shape) -> Shape:
    """Return a shape of 304 with the entity tags of the service in its requests; any other unchanged."""
    if shape.status != _NOT_MODIFIED:
        return shape
    tags = (server.fetch(target).tag for target in same_targets(shape))
    requests = (
        replace(request, fields=(("If-None-Match", tag),)) for request, tag in zip(shape.requests, tags, strict=True)
    )
    return replace(shape, requests=tuple(requests))
