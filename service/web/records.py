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
from service.envelope import PaginatedResponse, wrap
from service.errors import (
    NotFound,
    OtherVersion,
    PreconditionFailed,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnprocessableContent,
)
from service.loading.dataset import Dataset
from service.operation import VERSION_HEADER, Operation
from service.query import Reader
from service.records import COMPANIES, STORES, Company, Resource, Store
from service.replica.replica import Replica
from service.web.answer import header_lines
from service.web.conditional import http_date
from service.web.identity import Identity
from service.web.parsed_query import parser
from service.web.policy import Policy
from service.web.representation import Common, Content, Representation
from service.web.routes import Call, Outcome, Route, described

_TAG: Final = "directory"
# While one data set follows another, answers of both are under way.
_GENERATIONS: Final = 2
_REFUSALS: Final = (Unauthorized, TooManyRequests, PreconditionFailed, UnprocessableContent, ServiceUnavailable)


class _Data:
    """The data as it is served, and what its answers have in common."""

    def __init__(self, replica: Replica, policy: Policy) -> None:
        self._replica = replica
        self._cache_control = policy.cache_control
        self._vary = policy.vary(hdrs.ACCEPT_ENCODING, of_data=True)
        self._common = lru_cache(_GENERATIONS)(self._made)

    def meant(self, call: Call) -> tuple[Dataset, Common]:
        """Return the data that a caller means. Raises `ServiceUnavailable`, `OtherVersion`."""
        current = self._replica.current
        if current is None:
            raise ServiceUnavailable("The data is still being loaded")
        dataset = current.dataset
        if call.versions and any(version.strip() not in ("", dataset.version) for version in call.versions):
            raise OtherVersion(VERSION_HEADER, dataset.version)
        return dataset, self._common(dataset.version, current.modified)

    def _made(self, version: str, modified: datetime | None) -> Common:
        fields = {"Cache-Control": self._cache_control, VERSION_HEADER: version}
        second = None if modified is None else int(modified.timestamp())
        if second is not None:
            fields["Last-Modified"] = http_date(second)
        return Common(headers=header_lines(fields), vary=self._vary, modified=second)


def record_routes(replica: Replica, policy: Policy) -> tuple[Route, ...]:
    """Return the routes of the three operations that need a key."""
    data = _Data(replica, policy)
    return (
        _list_route(data, STORES, PaginatedResponse[Store], attrgetter("stores")),
        _list_route(data, COMPANIES, PaginatedResponse[Company], attrgetter("companies")),
        _company_route(data),
    )


def _list_route(data: _Data, resource: Resource, body: Any, table: Callable[[Dataset], Table]) -> Route:
    reader = Reader(resource)
    parse, path = parser(reader), f"/{resource.name}"

    def answer(call: Call) -> Outcome:
        parsed = parse(call.query, call.strict)
        if isinstance(parsed, UnprocessableContent):
            return parsed
        dataset, common = data.meant(call)

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
        description=f"A page of the {resource.name} that pass every filter, in one total order: "
        "walking the pages shows each record once.",
        answers={HTTPStatus.OK: body},
        errors=_REFUSALS,
        parameters=reader.parameters,
        protected=True,
    )
    return described(operation, answer)


def _company_route(data: _Data) -> Route:
    parse, path = parser(Reader()), "/companies/{company_id}"

    def answer(call: Call) -> Outcome:
        parsed = parse(call.query, call.strict)
        if isinstance(parsed, UnprocessableContent):
            return parsed
        dataset, common = data.meant(call)
        company_id = unquote(call.segment)
        row = dataset.companies.find(company_id)
        if row is None:
            return NotFound("Company not found")
        return Representation(Identity(path, company_id, dataset.version), common, lambda: Content((row,)))

    operation = Operation(
        path=path,
        tag=_TAG,
        operation_id="get_company",
        summary="Get a company",
        description="The company of an identifier.",
        answers={HTTPStatus.OK: Company},
        errors=(*_REFUSALS, NotFound),
        segment="Identifier of the company: one path segment, percent-encoded, a slash as %2F.",
        protected=True,
    )
    return described(operation, answer)
