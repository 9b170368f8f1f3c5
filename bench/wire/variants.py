"""Variants of shapes: their requests with header fields, for answers that are compressed or that are not sent again."""

from collections.abc import Iterable
from typing import Final

import msgspec

from bench.wire.contender import same_targets
from bench.wire.servers import Server
from bench.wire.shapes import ACCEPT_ENCODING, Shape

_NOT_MODIFIED: Final = 304
_LEAST_NOT_MODIFIED: Final = 0.85
_CODINGS: Final = ("zstd", "br", "gzip")
_NOTHING_KEPT: Final = ("--encoded-cache", "0")
# Pages of 1,000 are large: the service keeps so many, compressed, and some to spare.
_MOST_PAGES: Final = 200


def variants(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the variants of `city` and `page`.

    What is kept is sent alike whatever its coding, so one coding shows it.
    """
    drawn = {shape.slug: shape for shape in shapes}
    city, page = drawn["city"], drawn["page"]
    pages = msgspec.structs.replace(page, requests=page.requests[:_MOST_PAGES])
    best = _CODINGS[0]
    kept = [_coded(shape, best, kept=True) for shape in (city, pages)]
    return (
        _again(city),
        *kept,
        *(_coded(city, each, kept=False) for each in _CODINGS),
        _coded(pages, best, kept=False),
    )


def _again(shape: Shape) -> Shape:
    """Return a shape that is `tagged` before it is asked."""
    title = f"{_NOT_MODIFIED}: {shape.title}, asked again"
    return msgspec.structs.replace(
        shape, slug="unchanged", title=title, status=_NOT_MODIFIED, least=_LEAST_NOT_MODIFIED
    )


def _coded(shape: Shape, coding: str, *, kept: bool) -> Shape:
    how, options = ("kept", ()) if kept else ("not kept", _NOTHING_KEPT)
    fields = ((ACCEPT_ENCODING, coding),)
    return msgspec.structs.replace(
        shape,
        slug=f"{shape.slug}-{coding}-{how.replace(' ', '-')}",
        title=f"{shape.title}, {coding}, {how}",
        requests=tuple(msgspec.structs.replace(request, fields=fields) for request in shape.requests),
        options=options,
    )


def tagged(server: Server, shape: Shape) -> Shape:
    """Return a shape of 304 with the tags of the service's own answers in its requests; any other as it is."""
    if shape.status != _NOT_MODIFIED:
        return shape
    tags = (server.ask(target, shape.key).tag for target in same_targets(shape))
    requests = (
        msgspec.structs.replace(request, fields=(("If-None-Match", tag),))
        for request, tag in zip(shape.requests, tags, strict=True)
    )
    return msgspec.structs.replace(shape, requests=tuple(requests))
