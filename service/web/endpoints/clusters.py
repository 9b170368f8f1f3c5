"""The operation on maps: the stores in a box, counted by the cells of a grid."""

from functools import partial
from http import HTTPStatus
from typing import Final

from service.engine.geography.clusters import MAX_CELLS, TooManyCells
from service.engine.results import map_clusters
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import ClusterCollection
from service.model.errors import UnprocessableContent, ValidationError
from service.model.operation import GEO_JSON, Operation
from service.model.parameters import ZOOM, map_parameters_of
from service.model.query import Query, QueryParser
from service.web.endpoints.resources import QUERY_ERRORS, TAG, ServedData, endpoint_of
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.plan import Plan
from service.web.pipeline.routes import ResourceRoute

_PATH: Final = "/clusters"


def cluster_route(data: ServedData) -> ResourceRoute:
    """Return the route of the clusters of stores."""
    endpoint = endpoint_of(_PATH, lambda schema: QueryParser(schema.stores, of_map=True), GEO_JSON)

    def plan(segment: str, raw: str, fields: RequestFields) -> Plan:
        dataset, query, representation = data.read(endpoint, segment, raw, fields)
        return Plan(representation, partial(_clusters, dataset.stores, query), may_fail=True)

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


def _clusters(table: Table, query: Query) -> Answer:
    """Find and count the stores. Raises `UnprocessableContent`."""
    try:
        return Answer(map_clusters(table, query))
    except TooManyCells as error:
        zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
        raise UnprocessableContent([zoom]) from None
