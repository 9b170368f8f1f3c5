"""Variants of shapes: header fields that differ, and responses that are compressed, not modified, or logged."""

from collections.abc import Iterable
from typing import Final

import msgspec

from bench.wire.answers import Answers
from bench.wire.contender import HOME, ROOT, same_targets
from bench.wire.servers import Failed, Server
from bench.wire.shapes import ACCEPT_ENCODING, Shape
from service.model.operation import REQUEST_ID_HEADER
from service.settings import Settings
from service.web.headers.content_coding import CODINGS

_NOT_MODIFIED: Final = 304
_LEAST_NOT_MODIFIED: Final = 1.05
_LEAST_KEPT: Final = 1.05
_MOST_LOGGED: Final = 1.12
_CODINGS: Final = [coding.token for coding in CODINGS]
_NOTHING_KEPT: Final = ("--encoded-cache", "0")
# The heads of responses take a part of it.
_KEPT_BYTES: Final = (Settings().encoded_cache << 20) * 3 // 4
# Pages of 1,000 are large even when compressed: this many fit into the cache.
_MOST_PAGES: Final = 200


def variants(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the variants of `company`, `city` and `page`.

    Cached bodies cost the same in every coding, so one coding is enough.
    """
    drawn = {shape.slug: shape for shape in shapes}
    company, city, page = drawn["company"], drawn["city"], drawn["page"]
    pages = msgspec.structs.replace(page, requests=page.requests[:_MOST_PAGES])
    best = _CODINGS[0]
    kept = (_coded(shape, best, kept=True) for shape in (city, pages))
    cities = (_coded(city, coding, kept=False) for coding in _CODINGS)
    return (
        *(_own_fields(company), _again(city), *kept, *cities, _coded(pages, best, kept=False)),
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
    return msgspec.structs.replace(shape, slug=slug, title=title, requests=tuple(requests), least=0.0)


def _logged(shape: Shape) -> Shape:
    """Return a shape for a service with an access log."""
    options = ("--access-log", str((HOME / "access.log").relative_to(ROOT)))
    slug, title = f"{shape.slug}-logged", f"{shape.title}, with an access log"
    return msgspec.structs.replace(shape, slug=slug, title=title, options=options, least=0.0, most=_MOST_LOGGED)


def _again(shape: Shape) -> Shape:
    """Return a shape of 304; `tagged` adds the entity tags."""
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
        least=_LEAST_KEPT if kept else 0.0,
    )


def check_kept(shape: Shape, answers: Answers) -> None:
    """Raise `Failed` if the compressed bodies of a shape should be cached but do not fit into the cache."""
    taken = sum(answers.sizes)
    if shape.coding and not shape.options and taken > _KEPT_BYTES:
        raise Failed(f"the answers to {shape.slug} take {taken:,} bytes, but only {_KEPT_BYTES:,} fit into the cache")


def tagged(server: Server, shape: Shape) -> Shape:
    """Return a shape of 304 with the entity tags of the service in its requests; any other unchanged."""
    if shape.status != _NOT_MODIFIED:
        return shape
    tags = (server.ask(target, shape.key).tag for target in same_targets(shape))
    requests = (
        msgspec.structs.replace(request, fields=(("If-None-Match", tag),))
        for request, tag in zip(shape.requests, tags, strict=True)
    )
    return msgspec.structs.replace(shape, requests=tuple(requests))
