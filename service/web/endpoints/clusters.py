"""The operation on maps: the stores in a box, counted by the cells of a grid."""

from functools import cached_property
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs

from service.engine.clusters import MAX_CELLS, TooManyCells
from service.engine.map_clusters import map_clusters
from service.engine.table import Table
from service.model.errors import UnprocessableContent, ValidationError
from service.model.features import ClusterCollection
from service.model.operation import GEO_JSON, Operation
from service.model.parameters import ZOOM
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.web.endpoints.resources import DATA_ERRORS, TAG, ServedData
from service.web.headers.request_fields import RequestFields
from service.web.identity import Identified
from service.web.parsed_parameters import parser
from service.web.representation import Content, Representation
from service.web.routes import Call, ResourceRoute

_PATH: Final = "/clusters"


class _Clusters(Representation, frozen=True, eq=False, kw_only=True, dict=True):
    """The clusters of a map."""

    table: Table
    query: Query

    def content(self) -> Content:
        """Find and count the stores. Raises `UnprocessableContent`."""
        return self._content

    @cached_property
    def _content(self) -> Content:
        try:
            return Content(map_clusters(self.table, self.query))
        except TooManyCells as error:
            zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
            raise UnprocessableContent([zoom]) from None


def cluster_route(data: ServedData) -> ResourceRoute:
    """Return the route of the clusters of stores."""
    query_parser = QueryParser(STORES, of_map=True)
    parse = parser(_PATH, query_parser, GEO_JSON)

    def represent(call: Call) -> Representation:
        parsed = parse("", call.query, call.fields.is_strict)
        dataset, common = data.for_call(call)
        identified = parsed.identified(dataset.version)
        clusters = _Clusters(identified, common, table=dataset.stores, query=parsed.query)
        if call.fields.is_conditional and not _is_named(identified, call.fields):
            clusters.content()  # an error comes before any condition (RFC 9110 section 13.2.1)
        return clusters

    operation = Operation(
        path=_PATH,
        tag=TAG,
        operation_id="cluster_stores",
        summary="Cluster stores",
        description="Returns the stores in a box that match all conditions, as clusters for a map: those in one cell "
        "of a Web-Mercator grid are a feature of GeoJSON, with their number and mean position, and a single one also "
        f"with some of its members. At most {MAX_CELLS:,} cells.",
        responses={HTTPStatus.OK: (ClusterCollection,)},
        errors=DATA_ERRORS,
        parameters=query_parser.parameters,
        media_type=GEO_JSON,
        protected=True,
    )
    return ResourceRoute(path=_PATH, represent=represent, operation=operation)


def _is_named(identified: Identified, fields: RequestFields) -> bool:
    """Return whether a condition has an entity tag of the answer, which only a client that got a 200 knows."""
    conditions = [tag for name in (hdrs.IF_NONE_MATCH, hdrs.IF_MATCH) for tag in fields.all.getall(name, ())]
    return any(identified.tag(coding) in tag for coding in fields.codings for tag in conditions)
