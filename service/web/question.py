"""A question as it is put by a query string: read once, and remembered."""

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import msgspec

from service.envelope import opening
from service.errors import UnprocessableContent
from service.query import Query, Reader
from service.web.coding import VERSIONS
from service.web.links import base_of, link_line
from service.web.target import query_pairs

# To be raised where the same question of the same data is answered by other bytes than before.
OUTPUT: Final = 1

# Up to so many query strings of up to so many characters are kept with what was read of them.
_REMEMBERED: Final = 8192
_SHORT: Final = 256
_DIGEST_BYTES: Final = 8


class Question:
    """What is asked; the digest that questions of the same answer share; what its last page began with."""

    def __init__(self, raw: str, query: Query) -> None:
        self.query = query
        self.digest = digest(query.normalised)
        self._base = base_of(raw)
        self._total_count = -1
        self._opening, self._links = b"", ""

    def opening(self, total_count: int) -> bytes:
        """Return what a page begins with where so many rows match."""
        if total_count != self._total_count:
            self._frame(total_count)
        return self._opening

    def links(self, total_count: int) -> str:
        """Return the header line of its links."""
        if total_count != self._total_count:
            self._frame(total_count)
        return self._links

    def _frame(self, total_count: int) -> None:
        self._opening = opening(self.query, total_count)
        self._links = link_line(self._base, self.query, total_count)
        self._total_count = total_count


def remembered(reader: Reader) -> Callable[[str, bool], Question | UnprocessableContent]:
    """Return what reads a raw query string, or tells its faults, and keeps what it read of the last short ones."""

    def read(query: str, strict: bool) -> Question | UnprocessableContent:  # noqa: FBT001 - a cache is asked by position
        try:
            return Question(query, reader.read(query_pairs(query), strict=strict))
        except UnprocessableContent as error:
            return error.with_traceback(None)  # which would keep what was read on the way

    remember = lru_cache(_REMEMBERED)(read)
    return lambda query, strict: (remember if len(query) <= _SHORT else read)(query, strict)


def digest(asked: Any) -> str:
    """Return what tells the answers to one question, of one data set and by one release, from those to another."""
    return blake2b(msgspec.json.encode((OUTPUT, VERSIONS, asked)), digest_size=_DIGEST_BYTES).hexdigest()
