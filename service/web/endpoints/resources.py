"""The operations on records: the lists of stores and of companies, one store, one company."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Final

from aiohttp import hdrs

from service.dataset import Dataset
from service.engine.table import Table
from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.envelope import PaginatedResponse, page_of_features
from service.model.errors import (
    NotFound,
    OtherVersion,
    PreconditionFailed,
    ServiceUnavailable,
    TooManyLongQueries,
    TooManyRequests,
    Unauthorized,
    UnprocessableContent,
)
from service.model.operation import GEO_JSON, VERSION_HEADER, Operation
from service.model.parameters import parameters_of
from service.model.query import QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.publishing.snapshot import SnapshotHolder
from service.settings import Settings
from service.web.endpoints.pages import GeoJsonPage, JsonPage, JsonRecord
from service.web.http.conditional import http_date
from service.web.http.header_fields import header_lines, vary_of_data
from service.web.pipeline.plan import CommonHeaders, Plan
from service.web.pipeline.routes import Call, ResourceRoute, parser

TAG: Final = "directory"
_DATA_ERRORS: Final = (Unauthorized, TooManyRequests, PreconditionFailed, UnprocessableContent)
QUERY_ERRORS: Final = (*_DATA_ERRORS, TooManyLongQueries)
# During a reload, responses from two data sets are in progress.
_GENERATIONS: Final = 2


class ServedData:
    """The served data, in `snapshots`, with the header fields that its responses share."""

    def __init__(self, snapshots: SnapshotHolder, settings: Settings) -> None:
        self.snapshots = snapshots
        self._cache_control = settings.cache_control
        self._vary = vary_of_data(hdrs.ACCEPT_ENCODING, needs_key=not settings.no_auth)
        self._vary_of_formats = vary_of_data(hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, needs_key=not settings.no_auth)
        self._common = lru_cache(2 * _GENERATIONS)(self._make_common)

    def for_call(self, call: Call, *, formats: bool = False) -> tuple[Dataset, CommonHeaders]:
        """Return the data set for a call, whose answer has one of several `formats` or only one.

        Raises `ServiceUnavailable`, `OtherVersion`.
        """
        current = self.snapshots.current
        if current is None:
            raise ServiceUnavailable("The data is still being loaded")
        dataset, versions = current.dataset, call.fields.versions
        if versions and any(version.strip() not in ("", dataset.version) for version in versions):
            raise OtherVersion(VERSION_HEADER, dataset.version)
        return dataset, self._common(dataset.version, current.modified, formats)

    def _make_common(self, version: str, modified: datetime | None, formats: bool) -> CommonHeaders:  # noqa: FBT001 - a cache has positions
        fields = {"Cache-Control": self._cache_control, VERSION_HEADER: version}
        second = None if modified is None else int(modified.timestamp())
        if second is not None:
            fields["Last-Modified"] = http_date(second)
        vary = self._vary_of_formats if formats else self._vary
        return CommonHeaders(headers=header_lines(fields), vary=vary, modified=second)


def record_routes(data: ServedData) -> tuple[ResourceRoute, ...]:
    """Return the routes of the operations that need a key: of each resource, the list and one record."""
    stores, companies = attrgetter("stores"), attrgetter("companies")
    return (
        _list_route(data, STORES, stores),
        _record_route(data, STORES, stores),
        _list_route(data, COMPANIES, companies),
        _record_route(data, COMPANIES, companies),
    )


def _list_route(data: ServedData, resource: Resource, table: Callable[[Dataset], Table]) -> ResourceRoute:
    path, snapshots, has_places = f"/{resource.name}", data.snapshots, resource.coordinates is not None
    parse = parser(path, lambda schema: QueryParser(schema.of(resource)))

    def plan(call: Call) -> Plan:
        parameters = parse(snapshots.schema, "", call.query, call.fields.is_strict)
        dataset, common = data.for_call(call, formats=has_places)
        if has_places and call.fields.prefers_geo_json:
            representation = parameters.representation(dataset.version, common, GEO_JSON)
            return Plan(representation, GeoJsonPage(table(dataset), parameters))
        return Plan(parameters.representation(dataset.version, common), JsonPage(table(dataset), parameters))

    def describe(schema: Schema) -> Operation:
        described = schema.of(resource)
        return Operation(
            path=path,
            tag=TAG,
            operation_id=f"list_{resource.name}",
            summary=f"List {resource.name}",
            description=f"Returns one page of the {resource.name} that match all conditions, in a total order: "
            "no record is on two pages, and none is missing.",
            responses={HTTPStatus.OK: _pages(described)},
            errors=QUERY_ERRORS,
            parameters=parameters_of(described),
            others={GEO_JSON: (page_of_features(described),)} if has_places else {},
            protected=True,
        )

    return ResourceRoute(path=path, plan=plan, describe=describe)


def _pages(resource: Resource) -> tuple[Any, ...]:
    """Return the types of a page: of whole records, of records with distance, of some of their members."""
    page_of: Any = PaginatedResponse
    return tuple(page_of[record] for record in resource.items)


def _record_route(data: ServedData, resource: Resource, table: Callable[[Dataset], Table]) -> ResourceRoute:
    path, noun = f"/{resource.name}/{{{resource.identifier}}}", resource.noun
    parse = parser(path, lambda _: QueryParser())

    def plan(call: Call) -> Plan:
        parameters = parse(NO_ATTRIBUTES, call.segment, call.query, call.fields.is_strict)
        dataset, common = data.for_call(call)
        row = table(dataset).find(parameters.segment)
        if row is None:
            raise NotFound(f"{noun.capitalize()} not found")
        return Plan(parameters.representation(dataset.version, common), JsonRecord(row))

    def describe(schema: Schema) -> Operation:
        return Operation(
            path=path,
            tag=TAG,
            operation_id=f"get_{noun}",
            summary=f"Get a {noun}",
            description=f"Returns the {noun} with this identifier.",
            responses={HTTPStatus.OK: (schema.of(resource).record,)},
            errors=(*_DATA_ERRORS, ServiceUnavailable, NotFound),
            segment=f"Identifier of the {noun}: one path segment, percent-encoded, a slash as %2F.",
            protected=True,
        )

    return ResourceRoute(path=path, plan=plan, describe=describe)
