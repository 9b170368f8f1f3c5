"""The envelope of a page, for responses and for the OpenAPI document."""

from collections.abc import Sequence
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from service.model.query import Query

Item = TypeVar("Item")


class PaginatedResponse(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """A page of records, with the paging and sorting of the request and the total number of matching records."""

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
    """Return the JSON of a page up to its first row."""
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
    """Return the JSON of a page around encoded rows: chunks that concatenate to comma-separated records.

    A single chunk of rows is not copied; several are copied into one.
    """
    chunks = (opening, *rows, _CLOSING)
    return chunks if len(rows) == 1 else (b"".join(chunks),)
