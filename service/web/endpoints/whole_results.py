"""The operations that return whole results as files."""

from collections.abc import Callable
from http import HTTPStatus
from operator import attrgetter
from typing import Any, ClassVar, Final

from aiohttp import hdrs

from service.background import background_threads
from service.dataset import Dataset
from service.engine.columns.selection import ScannedRows, Selection
from service.engine.geography.distance_order import DistanceOrder
from service.engine.results import WRITERS, Write
from service.engine.select import ordered
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import collection_of
from service.model.operation import COUNT_HEADER, CSV, GEO_JSON, NDJSON, Operation
from service.model.parameters import file_parameters_of
from service.model.query import Query, QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.web.endpoints.pages import run_query
from service.web.endpoints.resources import QUERY_ERRORS, TAG, ServedData
from service.web.http.header_fields import HeaderLines, header_lines
from service.web.http.response import Stream
from service.web.pipeline.long_queries import in_turn
from service.web.pipeline.plan import Body, BodyFormat, Plan
from service.web.pipeline.routes import Call, ResourceRoute, parser

# Sorts many rows by distance, one query at a time: it takes memory.
_SORTING: Final = background_threads(1, "sorting")


class WholeResult(BodyFormat, frozen=True, eq=False):
    """All rows that answer a query, as a file."""

    is_stream: ClassVar[bool] = True

    resource: Resource
    table: Table
    query: Query
    write: Write
    file_name: str

    async def body(self) -> Body:
        """Select the rows. The stream holds the table, and writes them when it is read."""
        order: Selection = await run_query(ordered, self.table, self.query)
        if isinstance(order, ScannedRows):
            order = await run_query(order.marked)
        nbytes = 0
        if isinstance(order, DistanceOrder):
            order = await in_turn(_SORTING, order.listed)
            nbytes = order.nbytes
        pieces = self.write(self.resource, self.table, self.query, order)
        return Body((), order.total, stream=Stream(pieces, nbytes))

    def headers(self, total_count: int) -> HeaderLines:
        """Return the number of records, by which a reader knows that it has them all, and the name of the file."""
        return header_lines(
            {
                COUNT_HEADER: str(total_count),
                hdrs.CONTENT_DISPOSITION: f'attachment; filename="{self.file_name}"',
                hdrs.ACCEPT_RANGES: "none",
            }
        )


# The ending of the name of a file -> what it is, its media type, and what returns the type of its body.
_FORMS: Final[dict[str, tuple[str, str, Callable[[Resource], Any]]]] = {
    "csv": ("CSV (RFC 4180) in UTF-8, with a header", CSV, lambda _: str),
    "ndjson": ("lines of JSON, a record in each", NDJSON, lambda _: str),
    "geojson": ("features of GeoJSON (RFC 7946)", GEO_JSON, collection_of),
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
    path, (form, media_type, body), snapshots = f"/{file_name}", _FORMS[ending], data.snapshots
    parse = parser(path, lambda schema: QueryParser(schema.of(resource), of_file=ending), media_type)

    def plan(call: Call) -> Plan:
        parameters = parse(snapshots.schema, "", call.query, call.fields.is_strict)
        dataset, common = data.for_call(call)
        result = WholeResult(dataset.schema.of(resource), table(dataset), parameters.query, WRITERS[ending], file_name)
        return Plan(parameters.representation(dataset.version, common), result)

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
