"""The operations on records: the lists of stores and of companies, and one company."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Final
from urllib.parse import unquote

from aiohttp import hdrs

from service.engine.page import page
from service.engine.table import Table
from service.loading.dataset import Dataset
from service.model.envelope import PaginatedResponse, wrap
from service.model.errors import (
    NotFound,
    OtherVersion,
    PreconditionFailed,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnprocessableContent,
)
from service.model.operation import VERSION_HEADER, Operation
from service.model.query import QueryParser
from service.model.records import COMPANIES, STORES, Company, Resource, Store
from service.snapshot.snapshot import SnapshotHolder
from service.web.answer import header_lines
from service.web.headers.conditional import http_date
from service.web.identity import Identity
from service.web.parsed_query import parser
from service.web.policy import Policy
from service.web.representation import CommonHeaders, Content, Representation
from service.web.routes import Call, Outcome, Route

_TAG: Final = "directory"
# During a reload, responses from two data sets are in progress.
_GENERATIONS: Final = 2
_ERRORS: Final = (Unauthorized, TooManyRequests, PreconditionFailed, UnprocessableContent, ServiceUnavailable)


class _ServedData:
    """The served data, with the header fields that its responses share."""

    def __init__(self, snapshots: SnapshotHolder, policy: Policy) -> None:
        self._snapshots = snapshots
        self._cache_control = policy.cache_control
        self._vary = policy.vary(hdrs.ACCEPT_ENCODING, of_data=True)
        self._common = lru_cache(_GENERATIONS)(self._make_common)

    def for_call(self, call: Call) -> tuple[Dataset, CommonHeaders]:
        """Return the data set for a call. Raises `ServiceUnavailable`, `OtherVersion`."""
        current = self._snapshots.current
        if current is None:
            raise ServiceUnavailable("The data is still being loaded")
        dataset = current.dataset
        if call.versions and any(version.strip() not in ("", dataset.version) for version in call.versions):
            raise OtherVersion(VERSION_HEADER, dataset.version)
        return dataset, self._common(dataset.version, current.modified)

    def _make_common(self, version: str, modified: datetime | None) -> CommonHeaders:
        fields = {"Cache-Control": self._cache_control, VERSION_HEADER: version}
        second = None if modified is None else int(modified.timestamp())
        if second is not None:
            fields["Last-Modified"] = http_date(second)
        return CommonHeaders(headers=header_lines(fields), vary=self._vary, modified=second)


def record_routes(snapshots: SnapshotHolder, policy: Policy) -> tuple[Route, ...]:
    """Return the routes of the three operations that need a key."""
    data = _ServedData(snapshots, policy)
    return (
        _list_route(data, STORES, PaginatedResponse[Store], attrgetter("stores")),
        _list_route(data, COMPANIES, PaginatedResponse[Company], attrgetter("companies")),
        _company_route(data),
    )


def _list_route(data: _ServedData, resource: Resource, body: Any, table: Callable[[Dataset], Table]) -> Route:
    query_parser = QueryParser(resource)
    parse, path = parser(query_parser), f"/{resource.name}"

    def answer(call: Call) -> Outcome:
        parsed = parse(call.query, call.strict)
        if isinstance(parsed, UnprocessableContent):
            return parsed
        dataset, common = data.for_call(call)

        def content() -> Content:
            found = page(table(dataset), parsed.query)
            return Content(wrap(parsed.frame(found.total_count).opening, found.rows), found.total_count)

        def links(total_count: int) -> str:
            return parsed.frame(total_count).links

        return Representation(Identity(path, parsed.normalised, dataset.version), common, content, links)

    operation = Operation(
        path=path,
        tag=_TAG,
        operation_id=f"list_{resource.name}",
        summary=f"List {resource.name}",
        description=f"Returns one page of the {resource.name} that match every filter, in a total order: "
        "no record is on two pages, and none is missing.",
        responses={HTTPStatus.OK: body},
        errors=_ERRORS,
        parameters=query_parser.parameters,
        protected=True,
    )
    return Route(operation.path, answer, operation, operation.protected)


def _company_route(data: _ServedData) -> Route:
    parse, path = parser(QueryParser()), "/companies/{company_id}"

    def answer(call: Call) -> Outcome:
        parsed = parse(call.query, call.strict)
        if isinstance(parsed, UnprocessableContent):
            return parsed
        dataset, common = data.for_call(call)
        row = dataset.companies.find(company_id := unquote(call.segment))
        if row is None:
            return NotFound("Company not found")
        return Representation(Identity(path, company_id, dataset.version), common, lambda: Content((row,)))

    operation = Operation(
        path=path,
        tag=_TAG,
        operation_id="get_company",
        summary="Get a company",
        description="Returns the company with this identifier.",
        responses={HTTPStatus.OK: Company},
        errors=(*_ERRORS, NotFound),
        segment="Identifier of the company: one path segment, percent-encoded, a slash as %2F.",
        protected=True,
    )
    return Route(operation.path, answer, operation, operation.protected)
