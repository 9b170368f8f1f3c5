"""Stores and clusters of a map as features of GeoJSON (RFC 7946), for responses and for the OpenAPI document."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.envelope import Facet
from service.model.records import STORES, Resource


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


def collection_of(stores: Resource) -> type[msgspec.Struct]:
    """Return the type of all matching stores, which may have attributes."""
    return _of_features(StoreCollection, stores) if stores.attributes else StoreCollection


def page_of_features(stores: Resource) -> type[msgspec.Struct]:
    """Return the type of a page of stores, which may have attributes."""
    return _of_features(StorePage, stores) if stores.attributes else StorePage


def _of_features(whole: type[msgspec.Struct], stores: Resource) -> type[msgspec.Struct]:
    return _redefined(whole, features=list[_feature_of(stores.items[1])])  # type: ignore[misc]


@lru_cache(2)  # a document has one type of a name
def _feature_of(properties: type[msgspec.Struct]) -> type[msgspec.Struct]:
    return _redefined(StoreFeature, properties=properties)


def _redefined(whole: type[msgspec.Struct], **members: Any) -> type[msgspec.Struct]:
    """Return a type with other types of some members."""
    namespace = {"__doc__": whole.__doc__}
    return msgspec.defstruct(whole.__name__, members.items(), bases=(whole,), namespace=namespace, frozen=True)


# The members of the store, if it is the only one of a cluster.
STORE_MEMBERS: Final = ClusterProperties.__struct_fields__[1:]
# The JSON around the features of a collection.
OPENING: Final = b'{"type":"FeatureCollection","features":['
CLOSING: Final = b"]}"
_ENCODE: Final = msgspec.json.Encoder().encode
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
