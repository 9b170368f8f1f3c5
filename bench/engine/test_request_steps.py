"""The steps of a request from bytes to bytes, each by itself, in batches of distinct requests."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count, cycle, repeat
from typing import Final

import pytest
from aiohttp import HttpVersion11
from pytest_benchmark.fixture import BenchmarkFixture

from bench.engine.request_pipeline import Loopback, Pipeline, RequestReader, Target, request
from service.engine.results import Page, page
from service.engine.select import select
from service.engine.table import Table
from service.model.envelope import opening, wrap
from service.model.query import Query
from service.web.http.content_coding import IDENTITY
from service.web.http.cors import Cors
from service.web.http.forwarded import REQUEST_ID
from service.web.http.links import link_lines, page_link_base
from service.web.http.response import Answer, Pieces, Response
from service.web.pipeline.access_log import AccessLogEntry
from service.web.pipeline.observer import Exchange, Observer
from service.web.pipeline.plan import Identity, entity_tag

_BATCH: Final = 100
_CALLS: Final = 5000
# Responses of so many bytes are sent before the client reads them: the system accepts these immediately.
_SENT_BYTES: Final = 20_000
_NANOSECONDS: Final = 20_000

# Prepares a step on a target, to be called once.
Prepare = Callable[[Target], Callable[[], object]]


def _parse_http_again(pipeline: Pipeline, _: Loopback) -> Prepare:
    reader = RequestReader()
    reader.read(bytearray(pipeline.targets[0].head()))
    return lambda target: partial(reader.read_again, bytearray(target.head()))


def _parse_http(_: Pipeline, __: Loopback) -> Prepare:
    reader, numbers = RequestReader(), count()
    return lambda target: partial(reader.read, bytearray(target.head(next(numbers))))


def _authenticate_again(pipeline: Pipeline, _: Loopback) -> Prepare:
    fields = request(pipeline.targets[0]).fields
    pipeline.authenticate(fields)
    return lambda _: partial(pipeline.authenticate, fields)


def _plan(pipeline: Pipeline, _: Loopback) -> Prepare:
    return lambda target: partial(pipeline.plan, target, request(target))


def _select(pipeline: Pipeline, _: Loopback) -> Prepare:
    """Compute selections; the bitmaps of single values are cached."""
    _skip_companies(pipeline)
    table = pipeline.dataset.stores
    return lambda target: partial(_select_anew, table, target.parse())


def _sort(pipeline: Pipeline, _: Loopback) -> Prepare:
    """Take the rows of a page, in order, from a selection."""
    _skip_companies(pipeline)

    def prepare(target: Target) -> Callable[[], object]:
        query = target.parse()
        found = select(pipeline.dataset.stores, query.criteria, query.sort_by)
        first = (query.page_num - 1) * query.limit
        take = found.descending if query.descending else found.slice
        return partial(take, first, min(first + query.limit, found.total))

    return prepare


def _rows(pipeline: Pipeline, _: Loopback) -> Prepare:
    dataset = pipeline.dataset

    def prepare(target: Target) -> Callable[[], object]:
        if target.segment:
            return partial(dataset.companies.find, target.segment)
        query = target.parse()
        page(dataset.stores, query)
        return partial(page, dataset.stores, query)

    return prepare


def _envelope(pipeline: Pipeline, _: Loopback) -> Prepare:
    _skip_companies(pipeline)

    def prepare(target: Target) -> Callable[[], object]:
        query = target.parse()
        return partial(_wrapped, target, query, page(pipeline.dataset.stores, query))

    return prepare


def _look_up(pipeline: Pipeline, _: Loopback) -> Prepare:
    def prepare(target: Target) -> Callable[[], object]:
        received = request(target)
        for _ in range(2):
            pipeline.recent.answer(pipeline.route(target), target.segment, received)
        return partial(pipeline.recent.data.get, received.line + received.fields.cache_key_suffix)

    return prepare


def _headers(pipeline: Pipeline, _: Loopback) -> Prepare:
    cors = Cors(frozenset())
    return lambda target: partial(_respond, _finished(pipeline, target), cors)


def _whole(pipeline: Pipeline, connection: Loopback, *, numbers: Iterator[int | None]) -> Prepare:
    """Send every request twice, so that everything is cached, and the connection is authenticated; then once more."""
    for target in (*pipeline.targets, *pipeline.targets):
        connection.receive(target.head())
        connection.settle()
    return lambda target: partial(connection.receive, target.head(next(numbers)))


STEPS: Final[Mapping[str, Callable[[Pipeline, Loopback], Prepare]]] = {
    "nothing": lambda _, __: lambda _: lambda: None,
    "parse HTTP, same header fields": _parse_http_again,
    "parse HTTP, other header fields": _parse_http,
    "route": lambda pipeline, __: lambda target: partial(pipeline.routes.find, target.path),
    "authenticate, same header fields": _authenticate_again,
    "authenticate, other header fields": lambda pipeline, __: (
        lambda target: partial(pipeline.authenticate, request(target).fields)
    ),
    "parse parameters": lambda _, __: lambda target: target.parse,
    "identify": lambda pipeline, __: lambda target: partial(_tag, target, target.parse(), pipeline.dataset.version),
    "plan": _plan,
    "select (cold)": _select,
    "sort": _sort,
    "select (cached), sort and slice, or find the company": _rows,
    "envelope and links": _envelope,
    "header fields of the response": _headers,
    "look a recent answer up": _look_up,
    "encode the response": lambda pipeline, __: (
        lambda target: partial(_response(pipeline, target).encode, "GET", HttpVersion11, keep_alive=True)
    ),
    "write": lambda pipeline, connection: (
        lambda target: partial(connection.transport.writelines, _pieces(pipeline, target))
    ),
    "count": lambda pipeline, __: _observe(pipeline, Observer(pipeline.app.traffic)),
    "count and log": lambda pipeline, __: _observe(
        pipeline, Observer(pipeline.app.traffic, log=_Log(maxlen=_BATCH).write)
    ),
    "**the whole request**, same header fields": partial(_whole, numbers=repeat(None)),
    "**the whole request**, other header fields": partial(_whole, numbers=count()),
}


def test_request(benchmark: BenchmarkFixture, pipeline: Pipeline, connection: Loopback, step: str) -> None:
    """Time a step on batches of targets; to prepare the steps, and to read what they sent, is not timed."""
    prepare, is_sending = STEPS[step](pipeline, connection), step.startswith(("write", "**"))
    most = _SENT_BYTES // sum(map(len, _pieces(pipeline, pipeline.targets[0]))) if is_sending else _BATCH
    size = max(min(most, _BATCH, len(pipeline.targets)), 1)
    targets = cycle(pipeline.targets)

    def setup() -> tuple[tuple[object, ...], dict[str, object]]:
        steps = [prepare(next(targets)) for _ in range(size)]
        if is_sending:
            connection.settle()
        return (steps,), {}

    benchmark.extra_info["requests"] = size
    rounds = _CALLS // size
    benchmark.pedantic(_call_each, setup=setup, rounds=rounds, warmup_rounds=rounds // 10)  # type: ignore[no-untyped-call]


def _call_each(steps: list[Callable[[], object]]) -> None:
    for step in steps:
        step()


class _Log(deque[AccessLogEntry]):
    """The last entries, without a file."""

    def write(self, entry: AccessLogEntry) -> bool:
        """Queue an entry."""
        self.append(entry)
        return True


def _skip_companies(pipeline: Pipeline) -> None:
    if pipeline.targets[0].segment:
        pytest.skip("a company has no envelope")


def _select_anew(table: Table, query: Query) -> object:
    table.selections.clear()
    return select(table, query.criteria, query.sort_by)


def _tag(target: Target, query: Query, version: str) -> str:
    return entity_tag(Identity(target.operation, target.segment or query, version), IDENTITY)


def _wrapped(target: Target, query: Query, found: Page) -> object:
    links = link_lines(page_link_base(target.query), query, found.total_count)
    return wrap(opening(query, found.total_count), found.rows), links


def _respond(answer: Answer, cors: Cors) -> Response:
    return Response(answer, f"{REQUEST_ID}: bench-1\r\n{cors.lines(answer.vary, None)}", authenticated=True)


def _finished(pipeline: Pipeline, target: Target) -> Answer:
    plan = pipeline.plan(target, request(target))
    return plan.finish(plan.make(), IDENTITY)


def _response(pipeline: Pipeline, target: Target) -> Response:
    return _respond(_finished(pipeline, target), Cors(frozenset()))


def _pieces(pipeline: Pipeline, target: Target) -> Pieces:
    return _response(pipeline, target).encode("GET", HttpVersion11, keep_alive=True)


def _observe(pipeline: Pipeline, observer: Observer) -> Prepare:
    def prepare(target: Target) -> Callable[[], object]:
        received = request(target)
        principal = pipeline.authenticate(received.fields)
        exchange = Exchange(
            "bench-1", target.operation, True, "GET", target.path, received.fields, received.remote, principal
        )
        return partial(observer.answered, exchange, _response(pipeline, target).answer, _NANOSECONDS)

    return prepare
