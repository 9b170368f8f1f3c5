"""GeoJSON: the clusters of a map."""

from functools import cached_property

from service.engine.clusters import TooManyCells
from service.engine.map_clusters import map_clusters
from service.engine.table import Table
from service.model.errors import UnprocessableContent, ValidationError
from service.model.parameters import ZOOM
from service.model.query import Query
from service.web.pipeline.plan import Body, BodyFormat


class GeoJsonClusters(BodyFormat, frozen=True, eq=False, dict=True):
    """The clusters of a map."""

    table: Table
    query: Query

    @cached_property
    def found(self) -> Body:
        """The stores, found and counted. Raises `UnprocessableContent`."""
        try:
            return Body(map_clusters(self.table, self.query))
        except TooManyCells as error:
            zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
            raise UnprocessableContent([zoom]) from None

    async def body(self) -> Body:
        """Find and count the stores. Raises `UnprocessableContent`."""
        return self.found
