"""The page of a table that answers a query."""

import msgspec

from service.engine.select import select
from service.engine.table import Table
from service.model.query import Query


class Page(msgspec.Struct, frozen=True):
    """The total number of matching rows, and the rows of one page: chunks of JSON that concatenate to a list body."""

    total_count: int
    rows: list[memoryview]


def page(table: Table, query: Query) -> Page:
    """Answer a query: select, sort, slice."""
    selection = select(table, query.filters, query.sort_by)
    total = len(selection.rows)
    first = (query.page_num - 1) * query.limit
    if first >= total:  # page numbers are unbounded and may not fit into an array
        return Page(total, [])
    span = range(first, min(first + query.limit, total))
    chunks = table.rows.slices(selection.slice(span, descending=query.descending))
    chunks[-1] = chunks[-1][:-1]  # without the trailing comma
    return Page(total, chunks)
