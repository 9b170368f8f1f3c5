"""The operation on maps: the stores in a box, counted by the cells of a grid."""

from http import HTTPStatus
from typing import ClassVar, Final

from service.engine.geography.clusters import MAX_CELLS, TooManyCells
from service.engine.results import map_clusters
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import ClusterCollection
from service.model.errors import UnprocessableContent, ValidationError
from service.model.operation import GEO_JSON, Operation
from service.model.parameters import ZOOM, map_parameters_of
from service.model.query import Query, QueryParser
from service.web.endpoints.pages import run_query
from service.web.endpoints.resources import QUERY_ERRORS, TAG, ServedData
from service.web.pipeline.plan import Body, BodyFormat, Plan
from service.web.pipeline.routes import Call, ResourceRoute, parser


class GeoJsonClusters(BodyFormat, frozen=True, eq=False):
    """The clusters of a map."""

    may_fail: ClassVar[bool] = True

    table: Table
    query: Query

    async def body(self) -> Body:
        """Find and count the stores. Raises `UnprocessableContent`."""
        try:
            return Body(await run_query(map_clusters, self.table, self.query))
        except TooManyCells as error:
            zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
            raise UnprocessableContent([zoom]) from None


_PATH: Final = "/clusters"


def cluster_route(data: ServedData) -> ResourceRoute:
    """Return the route of the clusters of stores."""
    snapshots = data.snapshots
    parse = parser(_PATH, lambda schema: QueryParser(schema.stores, of_map=True), GEO_JSON)

    def plan(call: Call) -> Plan:
        parameters = parse(snapshots.schema, "", call.query, call.fields.is_strict)
        dataset, common = data.for_call(call)
        return Plan(
            parameters.representation(dataset.version, common), GeoJsonClusters(dataset.stores, parameters.query)
        )

    def describe(schema: Schema) -> Operation:
        return Operation(
            path=_PATH,
            tag=TAG,
            operation_id="cluster_stores",
            summary="Cluster stores",
            description="Returns the stores in a box that match all conditions, as clusters for a map: those in one "
            "cell of a Web-Mercator grid are a feature of GeoJSON, with their number and mean position, and a single "
            f"one also with some of its members. At most {MAX_CELLS:,} cells.",
            responses={HTTPStatus.OK: (ClusterCollection,)},
            errors=QUERY_ERRORS,
            parameters=map_parameters_of(schema.stores),
            media_type=GEO_JSON,
            protected=True,
        )

    return ResourceRoute(path=_PATH, plan=plan, describe=describe)
