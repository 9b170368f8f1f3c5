"""The envelope of a page, for responses and for the OpenAPI document."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.parameters import MAX_LIMIT
from service.model.query import Query
from service.model.records import CREATED_AT

Item = TypeVar("Item")
MAX_FACET_VALUES: Final = 100
_VALUE_SCHEMA: Final = {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}]}


class FacetValue(msgspec.Struct, frozen=True):
    """A value of a field, as the first record with it has it, and the number of matching records with it."""

    # A number, which only attributes are, is `Raw`: it keeps its digits.
    value: Annotated[Any, Meta(extra_json_schema=_VALUE_SCHEMA)]
    count: int


class Facet(msgspec.Struct, frozen=True):
    """The values of a field in all matching records: how many are distinct, and the most frequent ones.

    Values that tie are in ascending order. The number of records without a value comes last; it is not in `distinct`.
    """

    distinct: int
    values: list[FacetValue]


class PaginatedResponse(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """A page of records, with the paging and sorting of the request and the total number of matching records."""

    limit: int = MAX_LIMIT
    num_pages: int
    page_num: int = 1
    sort_order: Annotated[Literal["asc", "desc"], Meta(extra_json_schema={"type": "string"})] = "asc"
    sort_by: str = CREATED_AT
    total_count: int
    data: list[Item]
    facets: dict[str, Facet] | UnsetType = UNSET


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


def wrap(
    opening: bytes, rows: Sequence[bytes | memoryview], facets: Mapping[str, msgspec.Raw] | UnsetType = UNSET
) -> Sequence[bytes | memoryview]:
    """Return the JSON of a page with encoded rows and facets; the rows are chunks that concatenate to a list body.

    A single chunk of rows is not copied; several are copied into one.
    """
    closing = _CLOSING if facets is UNSET else b'],"facets":%b}' % _ENCODE(facets)
    chunks = (opening, *rows, closing)
    return chunks if len(rows) == 1 else (b"".join(chunks),)
