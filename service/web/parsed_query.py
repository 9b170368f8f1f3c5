"""Parsed query strings, cached, each with the frame of its page: the parts around the rows."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from service.model.envelope import opening
from service.model.errors import UnprocessableContent
from service.model.query import Query, QueryParser
from service.web.headers.links import link_line, page_link_base
from service.web.request_target import query_pairs

# Bounds of the cache: the number of query strings, and the length of each.
_MAX_ENTRIES: Final = 8192
_MAX_CHARACTERS: Final = 256


class Frame(msgspec.Struct, frozen=True):
    """The parts of a page that depend on the number of matching rows: the start of its body, and its Link line."""

    total_count: int
    opening: bytes
    links: str


class ParsedQuery:
    """A query, its normalised form, and its last frame.

    A frame depends on the query, on the raw query string (for the links), and on `total_count`.
    """

    def __init__(self, raw: str, query: Query) -> None:
        self.query = query
        self.normalised = query.normalised
        self._link_base = page_link_base(raw)
        self._frame: Frame | None = None

    def frame(self, total_count: int) -> Frame:
        """Return the frame of a page when `total_count` rows match."""
        frame = self._frame
        if frame is None or frame.total_count != total_count:
            links = link_line(self._link_base, self.query, total_count)
            frame = self._frame = Frame(total_count, opening(self.query, total_count), links)
        return frame


# Parses a raw query string; if the flag is set, unknown names are errors. Returns errors instead of raising them, so
# that the cache holds them too.
Parse = Callable[[str, bool], ParsedQuery | UnprocessableContent]


def parser(reader: QueryParser) -> Parse:
    """Return the parser of query strings for one operation.

    Each operation has its own cache, so the key is the raw query string and the flag alone.
    """

    def parse(raw: str, strict: bool) -> ParsedQuery | UnprocessableContent:  # noqa: FBT001 - lru_cache has positions
        try:
            return ParsedQuery(raw, reader.parse(query_pairs(raw), strict=strict))
        except UnprocessableContent as error:
            return error.with_traceback(None)  # which would keep the stack frames alive

    cached = lru_cache(_MAX_ENTRIES)(parse)
    return lambda raw, strict: (cached if len(raw) <= _MAX_CHARACTERS else parse)(raw, strict)
