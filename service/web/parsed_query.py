"""A query string, parsed once and cached, with the parts of its pages that no row is in."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from service.model.envelope import opening
from service.model.errors import UnprocessableContent
from service.model.query import Query, QueryParser
from service.web.headers.links import base_of, link_line
from service.web.request_target import query_pairs

# So many query strings of at most so many characters are cached.
_CACHED: Final = 8192
_MAX_CHARACTERS: Final = 256


class Frame(msgspec.Struct, frozen=True):
    """The parts of a page that follow from how many rows match: how its body begins, and its Link header line."""

    total_count: int
    opening: bytes
    links: str


class ParsedQuery:
    """A query, its normalised form, and the last frame that was made for it.

    A frame depends on the query, on how the query string was written (for the links), and on `total_count`.
    """

    def __init__(self, raw: str, query: Query) -> None:
        self.query = query
        self.normalised = query.normalised
        self._base = base_of(raw)
        self._frame: Frame | None = None

    def frame(self, total_count: int) -> Frame:
        """Return the frame of a page where so many rows match."""
        frame = self._frame
        if frame is None or frame.total_count != total_count:
            links = link_line(self._base, self.query, total_count)
            frame = self._frame = Frame(total_count, opening(self.query, total_count), links)
        return frame


# Parses a raw query string, unknown names being errors or not; the errors are a value, so that they are cached, too.
Parse = Callable[[str, bool], ParsedQuery | UnprocessableContent]


def parser(reader: QueryParser) -> Parse:
    """Return what parses query strings for one operation.

    Its cache is its own and holds whole query strings: nothing else but the operation's parameters matters.
    """

    def parse(raw: str, strict: bool) -> ParsedQuery | UnprocessableContent:  # noqa: FBT001 - lru_cache has positions
        try:
            return ParsedQuery(raw, reader.parse(query_pairs(raw), strict=strict))
        except UnprocessableContent as error:
            return error.with_traceback(None)  # which would keep the frames alive

    cached = lru_cache(_CACHED)(parse)
    return lambda raw, strict: (cached if len(raw) <= _MAX_CHARACTERS else parse)(raw, strict)
