"""Parsed parameters of requests, cached, each with what was last made of them: the identity and the frame of a page."""

from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

import msgspec
from msgspec import UNSET

from service.engine.bounded_cache import BoundedCache
from service.model.attributes import Schema
from service.model.envelope import opening
from service.model.operation import JSON
from service.model.query import Query, QueryParser
from service.web.headers.header_lines import HeaderLines
from service.web.headers.ignored_parameters import ignored_parameter_lines
from service.web.headers.links import body_link_base, link_lines, page_link_base
from service.web.pipeline.identity import Identified, Identity
from service.web.requests.request_target import query_pairs

# Bounds of a cache: its size, and the length of a path segment and query string.
_CACHE_BYTES: Final = 16 << 20
_MAX_CHARACTERS: Final = 256
# Memory of the objects of an entry, and of each character of the request in its links and normalized values.
_OVERHEAD_BYTES: Final = 1408
_CHARACTER_BYTES: Final = 15


class Frame(msgspec.Struct, frozen=True, gc=False):
    """The parts of a page that depend on the number of matching rows: the start of its body, and its Link field."""

    total_count: int
    opening: bytes
    links: HeaderLines


class ParsedParameters(msgspec.Struct, eq=False, gc=False):
    """The path segment, decoded, and the query of a request to an operation, whose query string was `raw`.

    ignored      the field of the unknown parameters
    _identified  the last identity, which also depends on the data version
    _frame       the last frame, which also depends on `total_count`, and on the raw query string for the links

    Like all that it refers to, it is never part of a cycle: thousands are cached, and the garbage collector, which
    stops all requests, does not look at them.
    """

    operation: str
    segment: str
    raw: str
    query: Query
    media_type: str = JSON
    ignored: HeaderLines = ()
    _identified: Identified | None = None
    _frame: Frame | None = None

    @property
    def nbytes(self) -> int:
        """The most memory in bytes that it may take, with everything that is made of it."""
        length = len(self.segment) + len(self.raw) + sum(map(len, self.ignored))
        return _OVERHEAD_BYTES + _CHARACTER_BYTES * length + self.query.criteria.nbytes

    def identified(self, version: str, media_type: str = "") -> Identified:
        """Return the identity of the answer from the data of a version, in another media type than the default."""
        identified, media_type = self._identified, media_type or self.media_type
        if identified is None or identified.identity.version != version or identified.identity.media_type != media_type:
            parameters = self.segment or self.query.normalized
            links = UNSET if media_type == self.media_type else body_link_base(self.operation, self.raw)
            identity = Identity(self.operation, parameters, version, media_type, links=links)
            identified = self._identified = Identified(identity)
        return identified

    def frame(self, total_count: int) -> Frame:
        """Return the frame of a page when `total_count` rows match."""
        frame = self._frame
        if frame is None or frame.total_count != total_count:
            links = link_lines(page_link_base(self.raw), self.query, total_count)
            frame = self._frame = Frame(total_count, opening(self.query, total_count), links)
        return frame


# Parses a raw path segment and query string, whose parameters are those of a schema; if the flag is set, unknown names
# are errors. Raises UnprocessableContent.
Parse = Callable[[Schema, str, str, bool], ParsedParameters]


def parser(
    operation: str, make: Callable[[Schema], QueryParser], media_type: str = JSON, *, is_cached: bool = True
) -> Parse:
    """Return the parser of the parameters of an operation with responses of a media type.

    Each operation has its own cache, so the key is the raw segment, the raw query string and the flag. It is emptied
    when data with another schema is served. It has no errors: one may be a hundred times as large as the request.
    """
    cache = BoundedCache[tuple[str, str, bool], ParsedParameters](_CACHE_BYTES if is_cached else 0)
    known: Schema | None = None
    reader = QueryParser()

    def parse(schema: Schema, segment: str, raw: str, strict: bool) -> ParsedParameters:  # noqa: FBT001 - called for each request
        nonlocal known, reader
        if schema is not known:
            known, reader = schema, make(schema)
            cache.clear()
        key = (segment, raw, strict)
        parsed = cache.get(key)
        if parsed is None:
            pairs = query_pairs(raw)
            query = reader.parse(pairs, strict=strict)
            ignored = ignored_parameter_lines(reader.unknown(pairs))
            parsed = ParsedParameters(operation, unquote(segment), raw, query, media_type, ignored)
            if len(segment) + len(raw) <= _MAX_CHARACTERS:
                cache.put(key, parsed, parsed.nbytes)
        return parsed

    return parse
