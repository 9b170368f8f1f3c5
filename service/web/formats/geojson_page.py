"""GeoJSON: a page of stores."""

from service.engine.page import feature_page
from service.model.envelope import wrap
from service.model.features import PageLink, page_opening
from service.model.operation import GEO_JSON
from service.web.formats.engine_thread import found
from service.web.formats.json_page import JsonPage
from service.web.headers.links import body_link_base, page_links
from service.web.pipeline.plan import Body


class GeoJsonPage(JsonPage, frozen=True, eq=False):
    """One page of a list, as features; its links are in the body, too."""

    async def body(self) -> Body:
        """Select and slice the rows, count facets."""
        query = self.asked.query
        rows = await found(feature_page, self.table, query)
        base = body_link_base(self.asked.operation, self.asked.raw)
        links = [PageLink(href, rel, GEO_JSON) for rel, href in page_links(base, query, rows.total_count)]
        opening = page_opening(rows.total_count, rows.count, links)
        return Body(wrap(opening, rows.rows, rows.facets), rows.total_count)
