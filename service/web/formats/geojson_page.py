"""GeoJSON: a page of stores."""

import asyncio

from service.engine.page import count_facets, feature_page
from service.engine.table import Table
from service.model.envelope import wrap
from service.model.features import PageLink, page_opening
from service.model.operation import GEO_JSON
from service.web.headers.header_lines import HeaderLines
from service.web.headers.links import body_link_base, page_links
from service.web.pipeline.parsed_parameters import ParsedParameters
from service.web.pipeline.plan import Body, BodyFormat


class GeoJsonPage(BodyFormat, frozen=True, eq=False):
    """One page of a list, as features."""

    table: Table
    parsed: ParsedParameters

    async def body(self) -> Body:
        """Select and slice the rows; count each facet in a turn of its own."""
        query = self.parsed.query
        if query.facets:
            for _ in count_facets(self.table, query):
                await asyncio.sleep(0)
        found = feature_page(self.table, query)
        base = body_link_base(self.parsed.operation, self.parsed.raw)
        links = [PageLink(href, rel, GEO_JSON) for rel, href in page_links(base, query, found.total_count)]
        opening = page_opening(found.total_count, found.count, links)
        return Body(wrap(opening, found.rows, found.facets), found.total_count)

    def headers(self, total_count: int) -> HeaderLines:
        """Return the links to other pages."""
        return self.parsed.frame(total_count).links
