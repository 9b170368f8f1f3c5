"""The operations on records: the lists of stores and of companies, and one company."""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from service.engine.page import page
from service.engine.table import Table
from service.envelope import PaginatedResponse, wrap
from service.errors import NotFound, ServiceUnavailable, Unauthorized, UnprocessableContent
from service.loading.dataset import Dataset
from service.operation import VERSION_HEADER, Operation
from service.query import Query, Reader
from service.records import COMPANIES, STORES, Company, Resource, Store
from service.replica.replica import Replica
from service.web.answer import Answer, header_lines
from service.web.routes import Call, Route, described
from service.web.target import query_pairs

# Up to so many query strings of up to so many characters are kept with what was read of them.
_REMEMBERED: Final = 8192
_SHORT: Final = 256
_TAG: Final = "directory"
# While one data set follows another, answers of both are under way.
_GENERATIONS: Final = 2
_REFUSALS: Final = (Unauthorized, UnprocessableContent, ServiceUnavailable)


def record_routes(replica: Replica) -> tuple[Route, ...]:
    """Return the routes of the three operations that need a key."""
    return (
        _list_route(replica, STORES, PaginatedResponse[Store], lambda dataset: dataset.stores),
        _list_route(replica, COMPANIES, PaginatedResponse[Company], lambda dataset: dataset.companies),
        _company_route(replica),
    )


def _list_route(replica: Replica, resource: Resource, body: Any, table: Callable[[Dataset], Table]) -> Route:
    reader = Reader(resource)
    read = _remembered(reader)

    def answer(call: Call) -> Answer:
        query = read(call.query, call.strict)
        if isinstance(query, UnprocessableContent):
            return Answer.of(query)
        dataset = _current(replica)
        found = page(table(dataset), query)
        pieces = wrap(query, total_count=found.total_count, rows=found.rows)
        return Answer(pieces, headers=_headers(dataset.version))

    operation = Operation(
        path=f"/{resource.name}",
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


def _company_route(replica: Replica) -> Route:
    read = _remembered(Reader())

    def answer(call: Call) -> Answer:
        query = read(call.query, call.strict)
        if isinstance(query, UnprocessableContent):
            return Answer.of(query)
        dataset = _current(replica)
        row = dataset.companies.find(call.segment)
        if row is None:
            return Answer.of(NotFound("Company not found"))
        return Answer((row,), headers=_headers(dataset.version))

    operation = Operation(
        path="/companies/{company_id}",
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


def _remembered(reader: Reader) -> Callable[[str, bool], Query | UnprocessableContent]:
    """Return what reads a raw query string, or tells its faults, and keeps what it read of the last short ones."""

    def read(query: str, strict: bool) -> Query | UnprocessableContent:  # noqa: FBT001 - a cache is asked by position
        try:
            return reader.read(query_pairs(query), strict=strict)
        except UnprocessableContent as error:
            return error.with_traceback(None)  # which would keep what was read on the way

    remember = lru_cache(_REMEMBERED)(read)
    return lambda query, strict: (remember if len(query) <= _SHORT else read)(query, strict)


@lru_cache(_GENERATIONS)
def _headers(version: str) -> str:
    # x-api-key, unlike Authorization, does not keep shared caches from storing an answer (RFC 9111 section 3.5).
    return header_lines({"Cache-Control": "private", VERSION_HEADER: version})


def _current(replica: Replica) -> Dataset:
    if replica.current is None:
        raise ServiceUnavailable("The data is still being loaded")
    return replica.current.dataset
