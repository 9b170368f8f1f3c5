"""The page of a table that answers a query."""

import msgspec

from service.engine.select import select
from service.engine.sort import window
from service.engine.table import Table
from service.query import Query


class Page(msgspec.Struct, frozen=True):
    """How many rows match in all, and the rows of one page, encoded, joined by commas."""

    total_count: int
    rows: bytes


def page(table: Table, query: Query) -> Page:
    """Answer a query: select, sort, slice."""
    rows = select(table, query.filters)
    total = len(table) if rows is None else len(rows)
    first = (query.page_num - 1) * query.limit
    if first >= total:  # before any array sees the number: page numbers have no bound
        return Page(total, b"")
    span = range(first, min(first + query.limit, total))
    found = window(table, rows, query.sort_by, span, descending=query.descending)
    return Page(total, table.rows.join(found)[:-1])
