"""JSON: a page of records in its envelope, and a single record."""

from service.engine.page import page
from service.engine.table import Table
from service.model.envelope import opening, wrap
from service.web.formats.engine_thread import found
from service.web.headers.header_lines import HeaderLines
from service.web.headers.links import link_lines, page_link_base
from service.web.pipeline.plan import Body, BodyFormat
from service.web.pipeline.request_parameters import RequestParameters


class JsonPage(BodyFormat, frozen=True, eq=False):
    """One page of a list."""

    table: Table
    asked: RequestParameters

    async def body(self) -> Body:
        """Select and slice the rows, count facets."""
        query = self.asked.query
        rows = await found(page, self.table, query)
        return Body(wrap(opening(query, rows.total_count), rows.rows, rows.facets), rows.total_count)

    def headers(self, total_count: int) -> HeaderLines:
        """Return the links to other pages."""
        return link_lines(page_link_base(self.asked.raw), self.asked.query, total_count)


class JsonRecord(BodyFormat, frozen=True, eq=False):
    """One record."""

    row: memoryview

    async def body(self) -> Body:
        """Return a copy of the row, so that nothing of an answer that is kept is known to the garbage collector."""
        return Body((bytes(self.row),))
