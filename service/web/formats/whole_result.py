"""Files of whole results, made while they are sent."""

from typing import ClassVar, Final

from aiohttp import hdrs

from service.background_threads import background_threads
from service.engine.distance_order import DistanceOrder
from service.engine.ordered_rows import ordered
from service.engine.selection import ScannedRows, Selection
from service.engine.table import Table
from service.engine.whole_files import Write
from service.model.operation import COUNT_HEADER
from service.model.query import Query
from service.model.records import Resource
from service.web.answers.stream import Stream
from service.web.formats.engine_thread import found
from service.web.headers.header_lines import HeaderLines, header_lines
from service.web.pipeline.long_queries import in_turn
from service.web.pipeline.plan import Body, BodyFormat

# Sorts many rows by distance, one query at a time: it takes memory.
_SORTING: Final = background_threads(1, "sorting")


class WholeResult(BodyFormat, frozen=True, eq=False):
    """All rows that answer a query, as a file."""

    is_stream: ClassVar[bool] = True

    resource: Resource
    table: Table
    query: Query
    write: Write
    file_name: str

    async def body(self) -> Body:
        """Select the rows. The stream holds the table, and writes them when it is read."""
        order: Selection = await found(ordered, self.table, self.query)
        if isinstance(order, ScannedRows):
            order = await found(order.marked)
        nbytes = 0
        if isinstance(order, DistanceOrder):
            order = await in_turn(_SORTING, order.listed)
            nbytes = order.nbytes
        pieces = self.write(self.resource, self.table, self.query, order)
        return Body((), order.total, stream=Stream(pieces, nbytes))

    def headers(self, total_count: int) -> HeaderLines:
        """Return the number of records, by which a reader knows that it has them all, and the name of the file."""
        return header_lines(
            {
                COUNT_HEADER: str(total_count),
                hdrs.CONTENT_DISPOSITION: f'attachment; filename="{self.file_name}"',
                hdrs.ACCEPT_RANGES: "none",
            }
        )
