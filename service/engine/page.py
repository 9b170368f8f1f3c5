"""The page of a table that answers a query."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from service.engine.column import Rows
from service.engine.distance_order import NearestRows
from service.engine.facets import Matches
from service.engine.projection import project
from service.engine.select import nearest, select
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.envelope import Facet
from service.model.query import Query
from service.model.records import DISTANCE


class Page(msgspec.Struct, frozen=True):
    """The total number of matching rows, the rows of one page, and the facets of all matching rows.

    The rows are chunks of JSON that concatenate to a list body.
    """

    total_count: int
    rows: Sequence[bytes | memoryview]
    facets: Mapping[str, Facet] | UnsetType = UNSET


def page(table: Table, query: Query) -> Page:
    """Answer a query: select, sort, slice; count facets and leave out members if the query says so."""
    # Facets first: the rows found for them are put into any order.
    facets = _facets(table, query) if query.facets else UNSET
    if query.sort_by == DISTANCE and query.near:
        stop = None if query.descending else query.page_num * query.limit
        order = nearest(table, query.criteria, query.near, stop)
    else:
        order = select(table, query.criteria, query.sort_by)
    rows = _rows(table, query, order)
    return Page(order.total, rows, facets)


def count_facets(table: Table, query: Query) -> Iterator[None]:
    """Count the facets of a query for `page`, one by one: each takes milliseconds of a million rows."""
    matches = Matches(table, query.criteria)
    for name in query.facets or ():
        matches.facet(name)
        yield


def _facets(table: Table, query: Query) -> Mapping[str, Facet]:
    matches = Matches(table, query.criteria)
    return {name: matches.facet(name) for name in query.facets or ()}


def _rows(table: Table, query: Query, order: Selection) -> Sequence[bytes | memoryview]:
    first = (query.page_num - 1) * query.limit
    if first >= order.total:  # page numbers are unbounded and may not fit into an array
        return []
    span = range(first, min(first + query.limit, order.total))
    rows = order.slice(span, descending=query.descending)
    chunks = _json(table, query, order, span, rows) if query.near else table.json(rows)
    return project(chunks, query.fields) if query.fields else chunks


def _json(table: Table, query: Query, order: Selection, span: range, rows: Rows) -> Sequence[bytes | memoryview]:
    """Return rows as a list body, with their distances if the query wants them: from their order if it knows them."""
    if not query.near or table.locations is None or (query.fields and DISTANCE not in query.fields):
        return table.json(rows)
    known = order.distances(span) if isinstance(order, NearestRows) and not query.descending else None
    return table.json_with_distances(rows, known or table.locations.distances(query.near, rows))
