"""The operations on records: the lists of stores and of companies, one store, one company, stores on a map."""

import logging
import math
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache, partial
from http import HTTPStatus
from itertools import islice
from operator import attrgetter
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec
from aiohttp import hdrs
from msgspec import UNSET

from service.dataset import Dataset
from service.engine.results import feature_page, page
from service.engine.table import Table
from service.model.attributes import Schema
from service.model.envelope import (
    PageLink,
    PaginatedResponse,
    StorePage,
    of_features,
    opening,
    page_opening,
    wrap,
)
from service.model.errors import (
    Forbidden,
    NotFound,
    OtherVersion,
    PreconditionFailed,
    ServiceUnavailable,
    TooManyLongQueries,
    TooManyRequests,
    Unauthorized,
    UnprocessableContent,
)
from service.model.operation import GEO_JSON, JSON, MAX_IGNORED, VERSION_HEADER, Operation
from service.model.parameters import parameters_of
from service.model.query import Query, QueryParser, query_pairs
from service.model.records import COMPANIES, STORES, Resource
from service.publishing.snapshot import SnapshotHolder
from service.settings import Settings
from service.texts import truncate
from service.web.http.conditional import http_date
from service.web.http.header_fields import header_lines, vary_of_data
from service.web.http.links import ignored_parameter_lines, link_lines, page_link_base, page_links
from service.web.http.request import Request
from service.web.http.response import Answer
from service.web.pipeline.auth import check_amount
from service.web.pipeline.plan import CommonHeaders, Identity, Plan, Representation
from service.web.pipeline.routes import ResourceRoute

TAG: Final = "directory"
_DATA_ERRORS: Final = (Unauthorized, Forbidden, TooManyRequests, PreconditionFailed, UnprocessableContent)
QUERY_ERRORS: Final = (*_DATA_ERRORS, TooManyLongQueries)
# During a reload, responses from two data sets are in progress.
_GENERATIONS: Final = 2
_QUIET_SECONDS: Final = 3600
_log = logging.getLogger(__name__)


class Endpoint(msgspec.Struct, frozen=True, eq=False):
    """An operation on records: its path, the parser of its parameters for a schema, and the media type.

    has_features  whether clients that prefer GeoJSON get it
    """

    path: str
    parser: Callable[[Schema], QueryParser]
    media_type: str = JSON
    has_features: bool = False


def endpoint_of(
    path: str, make: Callable[[Schema], QueryParser], media_type: str = JSON, *, has_features: bool = False
) -> Endpoint:
    """Return an endpoint whose parser is made once for a schema."""
    return Endpoint(path, lru_cache(_GENERATIONS)(make), media_type, has_features)


class ServedData:
    """The served data, in `snapshots`, with the header fields that its responses share."""

    def __init__(
        self, snapshots: SnapshotHolder, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Serve from snapshots; `clock` returns seconds."""
        self.snapshots = snapshots
        self._clock, self._quiet_until = clock, -math.inf
        self._cache_control = settings.cache_control
        self._vary = vary_of_data(hdrs.ACCEPT_ENCODING, needs_key=not settings.no_auth)
        self._vary_of_formats = vary_of_data(hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, needs_key=not settings.no_auth)
        self._common = lru_cache(2 * _GENERATIONS)(self._make_common)

    def read(self, endpoint: Endpoint, segment: str, request: Request) -> tuple[Dataset, Query, Representation]:
        """Return the data set, query and representation of a request, given its path parameter.

        Raises `UnprocessableContent`, then `Forbidden`, then `ServiceUnavailable` or `OtherVersion`.
        """
        parser, fields = endpoint.parser(self.snapshots.schema), request.fields
        query, unknown = parser.read(query_pairs(request.query), strict=fields.is_strict)
        if request.is_public:
            check_amount(endpoint.path, query)
        current = self.snapshots.current
        if current is None:
            raise ServiceUnavailable("The data is still being loaded")
        dataset, versions = current.dataset, fields.versions
        if versions and any(version.strip() not in ("", dataset.version) for version in versions):
            raise OtherVersion(VERSION_HEADER, dataset.version)
        common = self._common(dataset.version, current.modified, endpoint.has_features)
        if endpoint.has_features and fields.prefers_geo_json:
            links = page_link_base(request.query, endpoint.path)
            identity = Identity(endpoint.path, query, dataset.version, GEO_JSON, links=links)
        else:
            identity = Identity(endpoint.path, segment or query, dataset.version, endpoint.media_type)
        ignored = ignored_parameter_lines(unknown) if unknown else ""
        if unknown and parser.of_intervals and self._clock() >= self._quiet_until:
            self._log_replaced(parser, unknown)
        return dataset, query, Representation(identity, common, ignored)

    def _log_replaced(self, parser: QueryParser, unknown: Iterable[str]) -> None:
        """Log, once an hour, the first unknown name that an interval replaces: all records are returned for it."""
        replaced = ((name, each) for name in islice(unknown, MAX_IGNORED) if (each := parser.replacement(name)))
        for name, parameter in islice(replaced, 1):
            self._quiet_until = self._clock() + _QUIET_SECONDS
            _log.warning("unknown parameter %r ignored; use an interval, such as %s=A/..", truncate(name), parameter)

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
    path, has_places = f"/{resource.name}", resource.coordinates is not None
    endpoint = endpoint_of(path, lambda schema: QueryParser(schema.of(resource)), has_features=has_places)

    def plan(segment: str, request: Request) -> Plan:
        dataset, query, representation = data.read(endpoint, segment, request)
        raw = request.query
        if representation.identity.links is UNSET:
            return Plan(representation, partial(_json_page, table(dataset), query, raw))
        return Plan(representation, partial(_feature_page, table(dataset), query, raw, representation.identity.links))

    def describe(schema: Schema) -> Operation:
        described, page_of = schema.of(resource), cast("Any", PaginatedResponse)
        return Operation(
            path=path,
            tag=TAG,
            operation_id=f"list_{resource.name}",
            summary=f"List {resource.name}",
            description=f"Returns one page of the {resource.name} that match all conditions, in a total order: "
            "no record is on two pages, and none is missing.",
            responses={HTTPStatus.OK: tuple(page_of[record] for record in described.items)},
            errors=QUERY_ERRORS,
            parameters=parameters_of(described),
            others={GEO_JSON: (of_features(StorePage, described),)} if has_places else {},
            protected=True,
            public=has_places,
        )

    return ResourceRoute(path=path, plan=plan, describe=describe)


def _json_page(table: Table, query: Query, raw: str) -> Answer:
    found = page(table, query)
    body = wrap(opening(query, found.total_count), found.rows, found.facets)
    lines = link_lines(page_link_base(raw), query, found.total_count)
    return Answer(body, headers=lines, found_nothing=not found.total_count and query.q is not UNSET)


def _feature_page(table: Table, query: Query, raw: str, base: str) -> Answer:
    """Return one page of a list as features; its links are in the body, too, where they begin with `base`."""
    found = feature_page(table, query)
    links = [PageLink(href, rel, GEO_JSON) for rel, href in page_links(base, query, found.total_count)]
    body = wrap(page_opening(found.total_count, found.count, links), found.rows, found.facets)
    lines = link_lines(page_link_base(raw), query, found.total_count)
    return Answer(body, headers=lines, found_nothing=not found.total_count and query.q is not UNSET)


def _record_route(data: ServedData, resource: Resource, table: Callable[[Dataset], Table]) -> ResourceRoute:
    path, noun = f"/{resource.name}/{{{resource.identifier}}}", resource.noun
    endpoint = endpoint_of(path, lambda _: QueryParser())

    def plan(segment: str, request: Request) -> Plan:
        identifier = unquote(segment) if "%" in segment else segment
        dataset, _, representation = data.read(endpoint, identifier, request)
        row = table(dataset).find(identifier)
        if row is None:
            raise NotFound(f"{noun.capitalize()} not found")
        return Plan(representation, partial(Answer, (row,)))

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
            public=resource is STORES,
        )

    return ResourceRoute(path=path, plan=plan, describe=describe)
