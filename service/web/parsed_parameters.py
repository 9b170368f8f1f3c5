"""Parsed parameters of requests, cached, each with what was last made of them: the identity and the frame of a page."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import msgspec

from service.model.envelope import opening
from service.model.errors import UnprocessableContent
from service.model.operation import JSON
from service.model.query import Query, QueryParser
from service.web.answer import HeaderLines
from service.web.headers.links import link_lines, page_link_base
from service.web.identity import Identified, Identity
from service.web.request_target import query_pairs

# Bounds of the cache: the number of requests, and the length of a path segment and query string.
_MAX_ENTRIES: Final = 8192
_MAX_CHARACTERS: Final = 256


class Frame(msgspec.Struct, frozen=True):
    """The parts of a page that depend on the number of matching rows: the start of its body, and its Link field."""

    total_count: int
    opening: bytes
    links: HeaderLines


class ParsedParameters:
    """The path segment and the query of a request to an operation.

    identified  the last identity, which also depends on the data version
    frame       the last frame, which also depends on `total_count`, and on the raw query string for the links
    """

    def __init__(self, operation: str, segment: str, raw: str, query: Query, media_type: str = JSON) -> None:
        self.segment, self.query = unquote(segment), query
        self._operation, self._raw, self._media_type = operation, raw, media_type
        self._identified: Identified | None = None
        self._frame: Frame | None = None

    def identified(self, version: str) -> Identified:
        """Return the identity of the answer from the data of a version."""
        identified = self._identified
        if identified is None or identified.identity.version != version:
            parameters = self.segment or self.query.normalised
            identified = self._identified = Identified(Identity(self._operation, parameters, version, self._media_type))
        return identified

    def frame(self, total_count: int) -> Frame:
        """Return the frame of a page when `total_count` rows match."""
        frame = self._frame
        if frame is None or frame.total_count != total_count:
            links = link_lines(page_link_base(self._raw), self.query, total_count)
            frame = self._frame = Frame(total_count, opening(self.query, total_count), links)
        return frame


# Parses a raw path segment and query string; if the flag is set, unknown names are errors. Raises UnprocessableContent.
Parse = Callable[[str, str, bool], ParsedParameters]


def parser(operation: str, reader: QueryParser, media_type: str = JSON) -> Parse:
    """Return the parser of the parameters of an operation with responses of a media type.

    Each operation has its own cache, so the key is the raw segment, the raw query string and the flag. It holds errors
    too.
    """

    def parse(segment: str, raw: str, strict: bool) -> ParsedParameters | UnprocessableContent:  # noqa: FBT001 - lru_cache has positions
        try:
            query = reader.parse(query_pairs(raw), strict=strict)
            return ParsedParameters(operation, segment, raw, query, media_type)
        except UnprocessableContent as error:
            return error.with_traceback(None)  # which would keep the stack frames alive

    cached = lru_cache(_MAX_ENTRIES)(parse)

    def parse_or_raise(segment: str, raw: str, strict: bool) -> ParsedParameters:  # noqa: FBT001 - as above
        parsed = (cached if len(segment) + len(raw) <= _MAX_CHARACTERS else parse)(segment, raw, strict)
        if isinstance(parsed, UnprocessableContent):
            raise parsed
        return parsed

    return parse_or_raise
