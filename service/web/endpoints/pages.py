"""The formats of bodies: pages, records and documents; long queries run in a thread."""

from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from service.background import background_threads
from service.engine.columns.row_budget import OverBudget, within_budget
from service.engine.results import feature_page, page
from service.engine.table import Table
from service.model.envelope import PageLink, opening, page_opening, wrap
from service.model.operation import GEO_JSON
from service.web.http.header_fields import HeaderLines
from service.web.http.links import body_link_base, link_lines, page_link_base, page_links
from service.web.pipeline.long_queries import in_turn
from service.web.pipeline.plan import Body, BodyFormat
from service.web.pipeline.routes import RequestParameters

# One query at a time, because queries take memory. NumPy releases the GIL meanwhile.
_THREAD: Final = background_threads(1, "engine")

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


async def run_query(query: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
    """Run a query: on the event loop within its row budget, else again in the thread. Partial results are cached.

    Raises `TooManyLongQueries`.
    """
    try:
        return within_budget(query, *args, **kwargs)
    except OverBudget:
        pass  # awaiting here would make it the context of an error, and a cycle with this frame
    return await in_turn(_THREAD, partial(query, *args, **kwargs))


class JsonPage(BodyFormat, frozen=True, eq=False):
    """One page of a list."""

    table: Table
    parameters: RequestParameters

    async def body(self) -> Body:
        """Select and slice the rows, count facets."""
        query = self.parameters.query
        rows = await run_query(page, self.table, query)
        return Body(wrap(opening(query, rows.total_count), rows.rows, rows.facets), rows.total_count)

    def headers(self, total_count: int) -> HeaderLines:
        """Return the links to other pages."""
        return link_lines(page_link_base(self.parameters.raw), self.parameters.query, total_count)


class JsonRecord(BodyFormat, frozen=True, eq=False):
    """One record."""

    row: memoryview

    async def body(self) -> Body:
        """Return a copy of the row, so that nothing of an answer that is kept is known to the garbage collector."""
        return Body((bytes(self.row),))


class GeoJsonPage(JsonPage, frozen=True, eq=False):
    """One page of a list, as features; its links are in the body, too."""

    async def body(self) -> Body:
        """Select and slice the rows, count facets."""
        query = self.parameters.query
        rows = await run_query(feature_page, self.table, query)
        base = body_link_base(self.parameters.operation, self.parameters.raw)
        links = [PageLink(href, rel, GEO_JSON) for rel, href in page_links(base, query, rows.total_count)]
        opening = page_opening(rows.total_count, rows.count, links)
        return Body(wrap(opening, rows.rows, rows.facets), rows.total_count)


class Document(BodyFormat, frozen=True, eq=False):
    """A document of the service."""

    content: bytes

    async def body(self) -> Body:
        """Return the content."""
        return Body((self.content,))
