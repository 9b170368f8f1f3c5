"""The steps of a request from bytes to bytes, each by itself, in batches of distinct requests."""

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count, cycle

import pytest
from aiohttp import HttpVersion11
from pytest_benchmark.fixture import BenchmarkFixture

from bench.engine.client import RequestReader, request
from bench.engine.loopback import Loopback
from bench.engine.targets import Pipeline, Target
from service.engine.page import Page, page
from service.model.envelope import wrap
from service.web.headers.content_coding import IDENTITY
from service.web.headers.cors import Cors
from service.web.headers.request_id import REQUEST_ID
from service.web.parsed_parameters import ParsedParameters
from service.web.representation import Content, Representation
from service.web.response import Pieces, Response
from service.web.telemetry.access_log import AccessLogEntry
from service.web.telemetry.observer import Exchange, Observer

_BATCH = 100
_CALLS = 5000
# Responses of so many bytes are sent before the client reads them.
_SENT_BYTES = 100_000
_SECONDS = 0.00002

# Makes a step on a target, ready to be called once.
Prepare = Callable[[Target], Callable[[], object]]


def time_batches(
    benchmark: BenchmarkFixture,
    pipeline: Pipeline,
    prepare: Prepare,
    size: int = _BATCH,
    settle: Callable[[], object] = lambda: None,
) -> None:
    """Time a step on batches of targets; preparing the steps and calling `settle` before is not timed."""
    size = min(size, len(pipeline.targets))
    targets = cycle(pipeline.targets)

    def ready() -> tuple[tuple[object, ...], dict[str, object]]:
        steps = [prepare(next(targets)) for _ in range(size)]
        settle()
        return (steps,), {}

    benchmark.extra_info["requests"] = size
    rounds = _CALLS // size
    benchmark.pedantic(_call_each, setup=ready, rounds=rounds, warmup_rounds=rounds // 10)  # type: ignore[no-untyped-call]


def time_sending(benchmark: BenchmarkFixture, pipeline: Pipeline, connection: Loopback, prepare: Prepare) -> None:
    """Time a step that sends a response, in batches that the system accepts at once; then the client reads them."""
    size = sum(map(len, _pieces(pipeline, pipeline.targets[0])))
    time_batches(benchmark, pipeline, prepare, max(min(_SENT_BYTES // size, _BATCH), 1), connection.settle)


def _call_each(steps: list[Callable[[], object]]) -> None:
    for step in steps:
        step()


def test_nothing(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Call a function that does nothing: what each row of a batch has on top."""
    time_batches(benchmark, pipeline, lambda _: partial(_nothing, None))


def test_parse_http_again(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Parse the request line, after comparing the header fields with those of the request before."""
    reader = RequestReader()
    reader.read(bytearray(pipeline.targets[0].head()))
    time_batches(benchmark, pipeline, lambda target: partial(reader.read_again, bytearray(target.head())))


def test_parse_http(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Parse a head whose header fields differ from those of the request before."""
    reader, numbers = RequestReader(), count()
    time_batches(benchmark, pipeline, lambda target: partial(reader.read, bytearray(target.head(next(numbers)))))


def test_route(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Find the route of a path."""
    time_batches(benchmark, pipeline, lambda target: partial(pipeline.routes.find, target.path))


def test_authenticate_again(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Find the principal of a digest."""
    fields = request(pipeline.targets[0]).fields
    pipeline.authenticate(fields)
    time_batches(benchmark, pipeline, lambda _: partial(pipeline.authenticate, fields))


def test_authenticate(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Find the principal of a key, which is digested."""
    time_batches(benchmark, pipeline, lambda target: partial(pipeline.authenticate, request(target).fields))


def test_parameters(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Parse the parameters of a target that is not cached."""
    time_batches(benchmark, pipeline, lambda target: partial(target.new_parser(), target.segment, target.query, False))


def test_parameters_again(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Get parsed parameters from the cache."""
    for target in pipeline.targets:
        pipeline.parsed(target)
    time_batches(benchmark, pipeline, lambda target: partial(pipeline.parse, target.segment, target.query, False))


def test_identify(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Make the identity of a response and its entity tag."""

    def prepare(target: Target) -> Callable[[], object]:
        parsed = target.new_parser()(target.segment, target.query, False)
        return partial(_identify, parsed, pipeline.dataset.version)

    time_batches(benchmark, pipeline, prepare)


def test_identify_again(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Get the identity and the entity tag from the parsed parameters."""
    version = pipeline.dataset.version
    for target in pipeline.targets:
        _identify(pipeline.parsed(target), version)
    time_batches(benchmark, pipeline, lambda target: partial(_identify, pipeline.parsed(target), version))


def test_represent(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Make the representation of what a target identifies, with cached parameters and a cached identity."""
    fields = request(pipeline.targets[0]).fields
    for target in pipeline.targets:
        _represented(pipeline, target)

    def prepare(target: Target) -> Callable[[], object]:
        route, call = pipeline.call(target, fields)
        return partial(route.represent, call)

    time_batches(benchmark, pipeline, prepare)


def test_rows(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Find the company, or get the selection from the cache, sort and slice."""
    dataset = pipeline.dataset

    def prepare(target: Target) -> Callable[[], object]:
        parsed = pipeline.parsed(target)
        if target.segment:
            return partial(dataset.companies.find, parsed.segment)
        page(dataset.stores, parsed.query)
        return partial(page, dataset.stores, parsed.query)

    time_batches(benchmark, pipeline, prepare)


def test_envelope(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Make the frame of a page and put it around the rows."""
    _skip_companies(pipeline)

    def prepare(target: Target) -> Callable[[], object]:
        parsed = target.new_parser()(target.segment, target.query, False)
        return partial(_envelope, parsed, page(pipeline.dataset.stores, parsed.query))

    time_batches(benchmark, pipeline, prepare)


def test_envelope_again(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Put the cached frame of a page around the rows."""
    _skip_companies(pipeline)

    def prepare(target: Target) -> Callable[[], object]:
        parsed = pipeline.parsed(target)
        found = page(pipeline.dataset.stores, parsed.query)
        parsed.frame(found.total_count)
        return partial(_envelope, parsed, found)

    time_batches(benchmark, pipeline, prepare)


def test_headers(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Put the header fields of an answer together."""
    cors = Cors(frozenset())

    def prepare(target: Target) -> Callable[[], object]:
        representation, content = _represented(pipeline, target)
        return partial(_respond, representation, content, cors)

    time_batches(benchmark, pipeline, prepare)


def test_encode_response(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Encode the head of a response, with a short body behind it."""

    def prepare(target: Target) -> Callable[[], object]:
        response = _response(pipeline, target)
        return partial(response.encode, "GET", HttpVersion11, keep_alive=True)

    time_batches(benchmark, pipeline, prepare)


def test_write(benchmark: BenchmarkFixture, pipeline: Pipeline, connection: Loopback) -> None:
    """Pass a response to the transport, which sends what the system accepts at once."""

    def prepare(target: Target) -> Callable[[], object]:
        return partial(connection.transport.writelines, _pieces(pipeline, target))

    time_sending(benchmark, pipeline, connection, prepare)


def test_count(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Count a request."""
    _time_observer(benchmark, pipeline, Observer(pipeline.app.traffic))


def test_log(benchmark: BenchmarkFixture, pipeline: Pipeline) -> None:
    """Count a request, and queue its entry in the access log."""
    _time_observer(benchmark, pipeline, Observer(pipeline.app.traffic, log=_Log()))


def test_whole_again(benchmark: BenchmarkFixture, pipeline: Pipeline, connection: Loopback) -> None:
    """Answer a request whose header fields are those of the request before; everything that can be is cached."""
    _answer_all(pipeline, connection)
    time_sending(benchmark, pipeline, connection, lambda target: partial(connection.receive, target.head()))


def test_whole(benchmark: BenchmarkFixture, pipeline: Pipeline, connection: Loopback) -> None:
    """Answer a request with header fields of its own; everything that can be is cached."""
    numbers = count()
    _answer_all(pipeline, connection)
    time_sending(
        benchmark, pipeline, connection, lambda target: partial(connection.receive, target.head(next(numbers)))
    )


class _Log:
    """Queues the last entries, without a file."""

    def __init__(self) -> None:
        self._entries: deque[AccessLogEntry] = deque(maxlen=_BATCH)

    def write(self, entry: AccessLogEntry) -> bool:
        """Queue an entry."""
        self._entries.append(entry)
        return True


def _nothing(_: object) -> None:
    """Do nothing."""


def _skip_companies(pipeline: Pipeline) -> None:
    if pipeline.targets[0].segment:
        pytest.skip("a company has no envelope")


def _identify(parsed: ParsedParameters, version: str) -> str:
    return parsed.identified(version).tag(IDENTITY)


def _envelope(parsed: ParsedParameters, found: Page) -> object:
    return wrap(parsed.frame(found.total_count).opening, found.rows)


def _respond(representation: Representation, content: Content, cors: Cors) -> Response:
    answer = representation.ok(content)
    return Response(answer, (f"{REQUEST_ID}: bench-1", *cors.lines(answer.vary, None)), authenticated=True)


def _represented(pipeline: Pipeline, target: Target) -> tuple[Representation, Content]:
    route, call = pipeline.call(target, request(target).fields)
    representation = route.represent(call)
    content = representation.content()
    representation.ok(content)
    return representation, content


def _response(pipeline: Pipeline, target: Target) -> Response:
    return _respond(*_represented(pipeline, target), Cors(frozenset()))


def _pieces(pipeline: Pipeline, target: Target) -> Pieces:
    return _response(pipeline, target).encode("GET", HttpVersion11, keep_alive=True)


def _time_observer(benchmark: BenchmarkFixture, pipeline: Pipeline, observer: Observer) -> None:
    def prepare(target: Target) -> Callable[[], object]:
        received = request(target)
        exchange = Exchange("bench-1", target.operation, pipeline.authenticate(received.fields))
        return partial(observer.answered, received, exchange, _response(pipeline, target).answer, _SECONDS)

    time_batches(benchmark, pipeline, prepare)


def _answer_all(pipeline: Pipeline, connection: Loopback) -> None:
    """Send every request once, so that everything is cached, and the connection is authenticated."""
    for target in pipeline.targets:
        connection.receive(target.head())
        connection.settle()
