"""The operations about where stores are: their clusters on a map, and places by their names."""

from functools import partial
from http import HTTPStatus
from typing import Final

import msgspec

from service.dataset import Dataset
from service.engine.geography.clusters import MAX_CELLS, TooManyCells
from service.engine.place_search import search
from service.engine.results import map_clusters
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import ClusterCollection
from service.model.errors import UnprocessableContent, ValidationError
from service.model.operation import GEO_JSON, Operation
from service.model.parameters import ZOOM, map_parameters_of
from service.model.places import PLACE_PARAMETERS, PlacePage
from service.model.query import PlaceQueryParser, Query, QueryParser
from service.web.endpoints.resources import QUERY_ERRORS, TAG, ServedData, endpoint_of
from service.web.http.request import Request
from service.web.http.response import Answer
from service.web.pipeline.plan import Plan
from service.web.pipeline.routes import ResourceRoute

_MAP: Final = "/clusters"


def cluster_route(data: ServedData) -> ResourceRoute:
    """Return the route of the clusters of stores."""
    endpoint = endpoint_of(_MAP, lambda schema: QueryParser(schema.stores, map_parameters_of(schema.stores)), GEO_JSON)

    def plan(segment: str, request: Request) -> Plan:
        dataset, query, representation = data.read(endpoint, segment, request)
        return Plan(representation, partial(_clusters, dataset.stores, query), may_fail=True)

    def describe(schema: Schema) -> Operation:
        return Operation(
            path=_MAP,
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
            public=True,
        )

    return ResourceRoute(path=_MAP, plan=plan, describe=describe)


def _clusters(table: Table, query: Query) -> Answer:
    """Find and count the stores. Raises `UnprocessableContent`."""
    try:
        return Answer(map_clusters(table, query))
    except TooManyCells as error:
        zoom = ValidationError(("query", ZOOM.name), f"Value error, {error}", "value_error")
        raise UnprocessableContent([zoom]) from None


_PLACES: Final = "/places"
_ENCODE: Final = msgspec.json.Encoder().encode


def place_route(data: ServedData) -> ResourceRoute:
    """Return the route of the search for places."""
    endpoint = endpoint_of(_PLACES, lambda _: PlaceQueryParser())

    def plan(segment: str, request: Request) -> Plan:
        dataset, query, representation = data.read(endpoint, segment, request)
        return Plan(representation, partial(_page, dataset, query))

    def describe(_: Schema) -> Operation:
        return Operation(
            path=_PLACES,
            tag=TAG,
            operation_id="search_places",
            summary="Search places",
            description="Returns the cities and postal codes that a text may mean, each with a point for `near`. If "
            "none has its words, and it looks like a postal code, the areas of the codes that begin like it; else the "
            "name of a city that is one edit away.",
            responses={HTTPStatus.OK: (PlacePage,)},
            errors=QUERY_ERRORS,
            parameters=PLACE_PARAMETERS,
            protected=True,
            public=True,
        )

    return ResourceRoute(path=_PLACES, plan=plan, describe=describe)


def _page(dataset: Dataset, query: Query) -> Answer:
    page = search(dataset.places, dataset.stores, query)
    return Answer((_ENCODE(page),), found_nothing=bool(query.place and query.place.words) and not page.data)
