"""The page of a table that answers a query."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from service.engine.column import Rows
from service.engine.distance_order import NearestRows
from service.engine.facets import Matches
from service.engine.ordered_rows import ordered
from service.engine.row_features import features
from service.engine.row_json import Distances, distances, json_list, shows_distances
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.query import Query

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
    # Facets first: the rows found for them are put into any order.
    facets = _facets(table, query) if query.facets else UNSET
    descending = query.descending
    order = ordered(table, query, None if descending else query.page_num * query.limit)
    first, total = (query.page_num - 1) * query.limit, order.total
    if first >= total:  # page numbers are unbounded and may not fit into an array
        return Page(total, [], facets)
    span = range(first, min(first + query.limit, total))
    rows = order.slice(span, descending=descending)
    metres = _distances(table, query, order, span, rows) if query.near else None
    return Page(total, write(table, query, rows, metres), facets, len(span))


def feature_page(table: Table, query: Query) -> Page:
    """Answer a query with features of GeoJSON instead of records."""
    return page(table, query, lambda *rows: [features(*rows)])


def _facets(table: Table, query: Query) -> Mapping[str, msgspec.Raw]:
    matches = Matches(table, query.criteria)
    return {name: matches.facet(name) for name in query.facets or ()}


def _distances(table: Table, query: Query, order: Selection, span: range, rows: Rows) -> Distances | None:
    """Return the distances of rows if the query wants them: from their order if it knows them."""
    if query.fields and not shows_distances(query):
        return None
    known = order.distances(span) if isinstance(order, NearestRows) and not query.descending else None
    return known or distances(table, query, rows)
