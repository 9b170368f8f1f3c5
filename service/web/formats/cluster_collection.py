"""GeoJSON: the clusters of a map."""

from typing import ClassVar

from service.engine.clusters import TooManyCells
from service.engine.map_clusters import map_clusters
from service.engine.table import Table
from service.model.errors import UnprocessableContent, ValidationError
from service.model.parameters import ZOOM
from service.model.query import Query
from service.web.formats.engine_thread import found
from service.web.pipeline.plan import Body, BodyFormat


class GeoJsonClusters(BodyFormat, frozen=True, eq=False):
    """The clusters of a map."""

    may_fail: ClassVar[bool] = True

    table: Table
    query: Query

    async def body(self) -> Body:
        """Find and count the stores. Raises `UnprocessableContent`."""
        try:
            return Body(await found(map_clusters, self.table, self.query))
        except TooManyCells as error:
            zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
            raise UnprocessableContent([zoom]) from None
