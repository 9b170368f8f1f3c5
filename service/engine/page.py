"""The page of a table that answers a query."""

import msgspec

from service.engine.select import select
from service.engine.sort import window
from service.engine.table import Table
from service.model.query import Query


class Page(msgspec.Struct, frozen=True):
    """How many rows match in all, and the rows of one page: pieces that, end to end, are joined by commas."""

    total_count: int
    rows: list[memoryview]


def page(table: Table, query: Query) -> Page:
    """Answer a query: select, sort, slice."""
    selection = select(table, query.filters, query.sort_by)
    total = len(selection.ordered)
    first = (query.page_num - 1) * query.limit
    if first >= total:  # before any array sees the number: page numbers have no bound
        return Page(total, [])
    span = range(first, min(first + query.limit, total))
    rows = window(selection, span, descending=query.descending)
    pieces = table.rows.slices(rows)
    pieces[-1] = pieces[-1][:-1]
    return Page(total, pieces)
