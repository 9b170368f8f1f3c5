"""The envelope of a page, for responses and for the OpenAPI document."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.parameters import MAX_LIMIT
from service.model.query import Query
from service.model.records import CREATED_AT, STORES, Resource, define

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
# The JSON around the features of a collection, and at the end of a list.
OPENING: Final = b'{"type":"FeatureCollection","features":['
CLOSING: Final = b"]}"


def opening(query: Query, total_count: int) -> bytes:
    """Return the JSON of a page up to its first row."""
    head: PaginatedResponse[object] = PaginatedResponse(
        limit=query.limit,
        num_pages=query.num_pages(total_count),
        page_num=query.page_num,
        sort_order=query.sort_order,
        sort_by=query.sort_by,
        total_count=total_count,
        data=[],
    )
    return _ENCODE(head)[: -len(CLOSING)]


def wrap(
    opening: bytes, rows: Sequence[bytes | memoryview], facets: Mapping[str, msgspec.Raw] | UnsetType = UNSET
) -> Sequence[bytes | memoryview]:
    """Return the JSON of a page with encoded rows and facets; the rows are chunks that concatenate to a list body.

    A single chunk of rows is not copied; several are copied into one.
    """
    closing = CLOSING if facets is UNSET else b'],"facets":%b}' % _ENCODE(facets)
    chunks = (opening, *rows, closing)
    return chunks if len(rows) == 1 else (b"".join(chunks),)


class Point(msgspec.Struct, frozen=True, tag_field="type", tag="Point"):
    """A point: longitude and latitude in degrees."""

    # Not a pair: generators of clients cannot read its schema, whose `items` are false.
    coordinates: Annotated[list[float], Meta(min_length=2, max_length=2)]


class ClusterProperties(msgspec.Struct, frozen=True):
    """The number of stores of a cluster, and some members of the store if it is only one."""

    count: int
    store_id: str | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    address_1: str | UnsetType = UNSET
    is_open: bool | UnsetType = UNSET


class Cluster(msgspec.Struct, frozen=True, tag_field="type", tag="Feature"):
    """The stores in a cell of a map, at their mean position."""

    geometry: Point
    properties: ClusterProperties


class ClusterCollection(msgspec.Struct, frozen=True, tag_field="type", tag="FeatureCollection"):
    """The clusters of a map, from north to south, then from west to east."""

    features: list[Cluster]


_, _PartialStore = STORES.items


class StoreFeature(msgspec.Struct, frozen=True, tag_field="type", tag="Feature"):
    """A store: its location, if it has one, and its members."""

    id: str
    geometry: Point | None
    properties: _PartialStore  # type: ignore[valid-type]


class StoreCollection(msgspec.Struct, frozen=True, tag_field="type", tag="FeatureCollection"):
    """All matching stores, in the order of the request."""

    features: list[StoreFeature]


class PageLink(msgspec.Struct, frozen=True):
    """A link to another page."""

    href: str
    rel: str
    type: str


class StorePage(msgspec.Struct, frozen=True, tag_field="type", tag="FeatureCollection", rename="camel", kw_only=True):
    """A page of stores, with the numbers of matching stores and of those on the page."""

    number_matched: int
    number_returned: int
    links: list[PageLink]
    features: list[StoreFeature]
    facets: dict[str, Facet] | UnsetType = UNSET


def of_features(whole: type[msgspec.Struct], stores: Resource) -> type[msgspec.Struct]:
    """Return the type of all matching stores or of a page of them, which may have attributes."""
    if not stores.attributes:
        return whole
    features: Any = list[_feature_of(stores.items[1])]  # type: ignore[misc]
    return define(whole.__name__, whole.__doc__, [("features", features)], whole)


@lru_cache(2)  # a document has one type of a name
def _feature_of(properties: type[msgspec.Struct]) -> type[msgspec.Struct]:
    return define(StoreFeature.__name__, StoreFeature.__doc__, [("properties", properties)], StoreFeature)


# The members of the store, if it is the only one of a cluster.
STORE_MEMBERS: Final = ClusterProperties.__struct_fields__[1:]
_FEATURE: Final = b'{"type":"Feature","geometry":{"type":"Point","coordinates":'
_PROPERTIES: Final = b'},"properties":{"count":'
_FEATURE_END: Final = b"}}"
_NEXT: Final = _FEATURE_END + b"," + _FEATURE


def wrap_clusters(coordinates: Iterable[bytes], properties: Iterable[bytes]) -> Sequence[bytes]:
    """Return the JSON of clusters, in chunks, given that of the coordinates and of the properties of each.

    Properties are without their brackets and the name of the first, `count`.
    """
    features = _NEXT.join(map(_PROPERTIES.join, zip(coordinates, properties, strict=True)))
    return (OPENING + _FEATURE, features, _FEATURE_END + CLOSING) if features else (OPENING + CLOSING,)


def page_opening(matched: int, returned: int, links: Sequence[PageLink]) -> bytes:
    """Return the JSON of a page up to its first feature."""
    page = StorePage(number_matched=matched, number_returned=returned, links=list(links), features=[])
    return _ENCODE(page)[: -len(CLOSING)]
