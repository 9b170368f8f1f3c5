"""All rows that answer a query, in its order, a few at a time."""

from collections.abc import Iterator
from typing import Final

from service.engine.column import Rows
from service.engine.select import nearest, select
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.query import Query
from service.model.records import DISTANCE

# What is made in one step: of most rows that is a millisecond, in any format.
_BATCH_ROWS: Final = 512
_BATCH_BYTES: Final = 256 << 10


def ordered(table: Table, query: Query, stop: int | None = None) -> Selection:
    """Return the rows that match in the order of a query, by distance up to a position or all."""
    if query.sort_by == DISTANCE and query.near:
        return nearest(table, query.criteria, query.near, stop)
    return select(table, query.criteria, query.sort_by)


def batches(table: Table, query: Query, order: Selection) -> Iterator[Rows]:
    """Yield all rows of an order, a few at a time: where they are divided depends on nothing else."""
    for start in range(0, order.total, _BATCH_ROWS):
        span = range(start, min(start + _BATCH_ROWS, order.total))
        yield from table.rows.parts(order.slice(span, descending=query.descending), _BATCH_BYTES)
