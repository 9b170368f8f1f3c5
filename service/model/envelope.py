"""The envelope of a page, on the wire and in the OpenAPI document alike."""

from collections.abc import Sequence
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from service.model.query import Query

Item = TypeVar("Item")


class PaginatedResponse(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """A page of records, with what was asked and how many records match in all."""

    limit: int = 1000
    num_pages: int
    page_num: int = 1
    sort_order: Annotated[Literal["asc", "desc"], Meta(extra_json_schema={"type": "string"})] = "asc"
    sort_by: str = "created_at"
    total_count: int
    data: list[Item]


_ENCODE: Final = msgspec.json.Encoder().encode
_CLOSING: Final = b"]}"


def opening(query: Query, total_count: int) -> bytes:
    """Return the JSON of a page as far as its first row."""
    head: PaginatedResponse[object] = PaginatedResponse(
        limit=query.limit,
        num_pages=query.num_pages(total_count),
        page_num=query.page_num,
        sort_order="desc" if query.descending else "asc",
        sort_by=query.sort_by,
        total_count=total_count,
        data=[],
    )
    return _ENCODE(head)[: -len(_CLOSING)]


def wrap(opening: bytes, rows: Sequence[bytes | memoryview]) -> Sequence[bytes | memoryview]:
    """Return the JSON of a page with rows that are encoded already: pieces that, end to end, are joined by commas.

    It comes in pieces too: rows that are one run stay where they are, any others are copied into one piece.
    """
    pieces = (opening, *rows, _CLOSING)
    return pieces if len(rows) == 1 else (b"".join(pieces),)
