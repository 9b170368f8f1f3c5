"""The page of a table that answers a query."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from service.engine.facets import Matches
from service.engine.projection import project
from service.engine.select import select
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.envelope import Facet
from service.model.query import Query


class Page(msgspec.Struct, frozen=True):
    """The total number of matching rows, the rows of one page, and the facets of all matching rows.

    The rows are chunks of JSON that concatenate to a list body.
    """

    total_count: int
    rows: Sequence[bytes | memoryview]
    facets: Mapping[str, Facet] | UnsetType = UNSET


def page(table: Table, query: Query) -> Page:
    """Answer a query: select, sort, slice; count facets and leave out members if the query says so."""
    selection = select(table, query.filters, query.sort_by)
    rows = _rows(table, query, selection)
    return Page(len(selection.rows), rows, _facets(table, query, selection) if query.facets else UNSET)


def _facets(table: Table, query: Query, selection: Selection) -> Mapping[str, Facet]:
    matches = Matches(table, query.filters, selection.rows)
    return {name: matches.facet(name) for name in query.facets or ()}


def _rows(table: Table, query: Query, selection: Selection) -> Sequence[bytes | memoryview]:
    total, first = len(selection.rows), (query.page_num - 1) * query.limit
    if first >= total:  # page numbers are unbounded and may not fit into an array
        return []
    span = range(first, min(first + query.limit, total))
    chunks = table.json(selection.slice(span, descending=query.descending))
    return project(chunks, query.fields) if query.fields else chunks
