"""The operations that return whole results as files."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Final

from aiohttp import hdrs
from msgspec import UNSET

from service.background import background_threads
from service.dataset import Dataset
from service.engine.results import WRITERS, Write
from service.engine.select import ordered
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import StoreCollection, of_features
from service.model.operation import COUNT_HEADER, CSV, GEO_JSON, NDJSON, Operation
from service.model.parameters import file_parameters_of
from service.model.query import Query, QueryParser
from service.model.records import COMPANIES, DISTANCE, STORES, Resource
from service.web.endpoints.resources import QUERY_ERRORS, TAG, ServedData, endpoint_of
from service.web.http.header_fields import header_lines
from service.web.http.request import Request
from service.web.http.response import Answer, Stream
from service.web.pipeline.plan import QUERY_THREAD, Plan
from service.web.pipeline.routes import ResourceRoute

# Sorts many rows by distance, one query at a time: it takes memory.
_SORTING: Final = background_threads(1, "sorting")


def _file(resource: Resource, table: Table, query: Query, file_name: str, write: Write) -> Answer:
    """Select all rows that answer a query. The stream holds the table, and writes them when it is read.

    Its fields have the number of records, by which a reader knows that it has them all, and the name of the file.
    """
    selected = ordered(table, query)
    order = selected.whole()
    nbytes = 0 if order is selected else order.nbytes
    fields = {
        COUNT_HEADER: str(order.total),
        hdrs.CONTENT_DISPOSITION: f'attachment; filename="{file_name}"',
        hdrs.ACCEPT_RANGES: "none",
    }
    stream = Stream(write(resource, table, query, order), nbytes)
    found_nothing = not order.total and query.q is not UNSET
    return Answer((), headers=header_lines(fields), stream=stream, found_nothing=found_nothing)


# The ending of the name of a file -> what it is, its media type, and what returns the type of its body.
_FORMS: Final[dict[str, tuple[str, str, Callable[[Resource], Any]]]] = {
    "csv": ("CSV (RFC 4180) in UTF-8, with a header", CSV, lambda _: str),
    "ndjson": ("lines of JSON, a record in each", NDJSON, lambda _: str),
    "geojson": ("features of GeoJSON (RFC 7946)", GEO_JSON, partial(of_features, StoreCollection)),
}


def whole_result_routes(data: ServedData) -> tuple[ResourceRoute, ...]:
    """Return the routes of the files of stores and of companies, which have no place."""
    stores, companies = attrgetter("stores"), attrgetter("companies")
    return (
        *(_route(data, STORES, stores, ending) for ending in _FORMS),
        *(_route(data, COMPANIES, companies, ending) for ending in _FORMS if ending != "geojson"),
    )


def _route(data: ServedData, resource: Resource, table: Callable[[Dataset], Table], ending: str) -> ResourceRoute:
    file_name = f"{resource.name}.{ending}"
    path, (form, media_type, body) = f"/{file_name}", _FORMS[ending]

    def parser(schema: Schema) -> QueryParser:
        return QueryParser(schema.of(resource), file_parameters_of(schema.of(resource), ending))

    endpoint = endpoint_of(path, parser, media_type)

    def plan(segment: str, request: Request) -> Plan:
        dataset, query, representation = data.read(endpoint, segment, request)
        served = dataset.schema.of(resource)
        make = partial(_file, served, table(dataset), query, file_name, WRITERS[ending])
        threads = _SORTING if query.sort_by == DISTANCE else QUERY_THREAD
        return Plan(representation, make, is_stream=True, threads=threads)

    def describe(schema: Schema) -> Operation:
        described = schema.of(resource)
        return Operation(
            path=path,
            tag=TAG,
            operation_id=f"export_{resource.name}_{ending}",
            summary=f"Export {resource.name} as {ending}",
            description=f"Returns all {resource.name} that match all conditions, in a total order, as {form}. The file "
            "is made while it is sent.",
            responses={HTTPStatus.OK: (body(described),)},
            errors=QUERY_ERRORS,
            parameters=file_parameters_of(described, ending),
            media_type=media_type,
            is_file=True,
            protected=True,
        )

    return ResourceRoute(path=path, plan=plan, describe=describe)
