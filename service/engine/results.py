"""The results of a query: a page, a whole file, or the clusters of a map."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import RowList, Selection
from service.engine.facets import Matches
from service.engine.geography.clusters import Clusters, cluster
from service.engine.geography.grid import Positions
from service.engine.geography.z_order import Z_ORDER
from service.engine.row_csv import header, lines
from service.engine.row_json import (
    DECODED_BYTES,
    Distances,
    decode_within_budget,
    distances,
    encoded,
    features,
    json_lines,
    json_list,
    shows_distances,
)
from service.engine.select import batches, ordered, scanned_rows
from service.engine.table import Table
from service.model.envelope import CLOSING, OPENING, STORE_MEMBERS, wrap_clusters
from service.model.parameters import SORT_ORDERS
from service.model.query import ALL_ROWS, Query
from service.model.records import ATTRIBUTES, DISTANCE, Resource

_Pieces = Sequence[bytes | memoryview]
_Write = Callable[[Table, Query, Rows, Distances | None], _Pieces]


class Page(msgspec.Struct, frozen=True):
    """The total number of matching rows, the rows of one page, and the facets of all matching rows, each as JSON.

    The rows are chunks of JSON that concatenate to a list body; `count` is their number.
    """

    total_count: int
    rows: _Pieces
    facets: Mapping[str, msgspec.Raw] | UnsetType = UNSET
    count: int = 0


def page(table: Table, query: Query, write: _Write = json_list) -> Page:
    """Answer a query: select, sort, slice; count facets and leave out members if the query says so."""
    # Facets first: their matching rows are cached, and put into any order.
    facets: Mapping[str, msgspec.Raw] | UnsetType = UNSET
    if query.facets:
        matches = Matches(table, query.criteria)
        facets = {name: matches.facet(name) for name in query.facets}
    descending, stop = query.sort_order != SORT_ORDERS[0], query.page_num * query.limit
    order = ordered(table, query, None if descending else stop)
    first, total = stop - query.limit, order.total
    if first >= total:  # page numbers are unbounded and may not fit into an array
        return Page(total, [], facets)
    rows = (order.descending if descending else order.slice)(first, min(stop, total))
    metres = _distances(table, query, order, first, rows) if query.near else None
    return Page(total, write(table, query, rows, metres), facets, len(rows))


def feature_page(table: Table, query: Query) -> Page:
    """Answer a query with features of GeoJSON instead of records."""
    return page(table, query, lambda *rows: [features(*rows)])


def _distances(table: Table, query: Query, order: Selection, first: int, rows: Rows) -> Distances | None:
    """Return the distances of rows, from a position on, if the query wants them: from their order if it knows them."""
    if query.fields and not shows_distances(query):
        return None
    known = order.metres[first : first + len(rows)] if isinstance(order, RowList) and not query.descending else ()
    return known if len(known) == len(rows) else distances(table, query, rows)


Pieces = Iterator[bytes | memoryview]
# Writes the rows of an order, all that answer a query.
Write = Callable[[Resource, Table, Query, Selection], Pieces]

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def column_names(resource: Resource, query: Query) -> tuple[str, ...]:
    """Return the names of all members that the records of an answer may have, in order."""
    if not query.fields:
        return (*resource.columns, *((DISTANCE,) if shows_distances(query) else ()))
    attributes = [field.name for field in resource.attributes]
    return tuple(name for member in query.fields for name in (attributes if member == ATTRIBUTES else [member]))


def _csv(resource: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    names = column_names(resource, query)
    yield (_BYTE_ORDER_MARK if query.bom else b"") + header(names)
    for rows in batches(table, query, order):
        yield lines(table, resource, names, rows, distances(table, query, rows) if query.near else None)


def _ndjson(_: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    for rows in batches(table, query, order):
        yield json_lines(table, query, rows, distances(table, query, rows) if query.near else None)


def _geojson(_: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    separator = OPENING
    for rows in batches(table, query, order):
        yield separator + features(table, query, rows, distances(table, query, rows) if query.near else None)
        separator = b","
    yield CLOSING if separator == b"," else OPENING + CLOSING


# The ending of the name of a file -> what writes it.
WRITERS: Final[Mapping[str, Write]] = {"csv": _csv, "ndjson": _ndjson, "geojson": _geojson}


# To write a cluster takes as long as to look at so many rows.
_WRITING: Final = 200
# Rows that are decoded in one step, during which no other thread runs.
_DECODED: Final = 500


def map_clusters(table: Table, query: Query) -> Sequence[bytes]:
    """Return the clusters of a query as JSON, in chunks. Raises `TooManyCells`."""
    locations, box, zoom = table.locations, query.bbox, query.zoom
    if locations is None or not box or zoom is UNSET:
        raise ValueError("clusters need locations, a box and a zoom")
    # Matching rows are cached without the box: a moved map reuses them. One that has all rows is no condition.
    criteria = msgspec.structs.replace(query.criteria, box=None)
    matches = None if criteria == ALL_ROWS else scanned_rows(table, criteria, Z_ORDER)
    clusters = cluster(locations, matches, None if locations.are_all_in(box) else box, zoom)
    single, offsets = (clusters.counts == 1).nonzero()[0], table.rows.offsets
    rows = clusters.rows[single]
    spend(_WRITING * len(clusters) + int((offsets[rows + 1] - offsets[rows]).sum()) // DECODED_BYTES)
    properties = _properties(table, clusters, single)
    points = list(zip(clusters.longitudes.tolist(), clusters.latitudes.tolist(), strict=True))
    return wrap_clusters(encoded(points), properties)


def _properties(table: Table, clusters: Clusters, single: Positions) -> list[bytes]:
    """Return the properties of each cluster, as `wrap_clusters` wants them; those at some positions are single rows."""
    properties = encoded(clusters.counts.tolist())
    for start in range(0, len(single), _DECODED):
        positions = single[start : start + _DECODED]
        stores = decode_within_budget(table.json(clusters.rows[positions]), STORE_MEMBERS)
        for position, store in zip(positions.tolist(), encoded(stores), strict=True):
            properties[position] = b"1," + store[1:-1]
    return properties
