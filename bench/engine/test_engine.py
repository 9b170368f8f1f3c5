"""The steps of the engine, each by itself; every round uses another query."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pytest_benchmark.fixture import BenchmarkFixture

from bench.engine.engine_queries import Queries
from service.engine.page import page
from service.engine.select import select
from service.model.envelope import opening, wrap
from service.model.query import QueryParser
from service.model.records import STORES
from service.web.requests.request_target import query_pairs

_MAX_ROUNDS: Final = 1000

# A function, the arguments of its calls, and a function to be called before each.
Step = tuple[Callable[..., object], Iterable[Sequence[object]], Callable[[], object]]


def _parse(queries: Queries) -> Step:
    reader = QueryParser(STORES)
    return lambda text: reader.parse(query_pairs(text), strict=False), zip(queries.texts), _nothing


def _select(queries: Queries) -> Step:
    """Compute selections; the bitmaps of single values are cached."""
    criteria = [(queries.table, query.criteria, query.sort_by) for query in queries.parsed]
    return select, criteria, queries.table.selections.clear


def _select_cached(queries: Queries) -> Step:
    step, criteria, _ = _select(queries)
    for each in criteria:
        step(*each)
    return step, criteria, _nothing


def _sort(queries: Queries) -> Step:
    """Take the rows of pages, none of which is empty, in order, from selections."""
    arguments = []
    for query in queries.parsed:
        found = select(queries.table, query.criteria, query.sort_by)
        first = (query.page_num - 1) * query.limit
        arguments.append((found, range(first, min(first + query.limit, found.total)), query.descending))
    return lambda found, span, descending: found.slice(span, descending=descending), arguments, _nothing


def _page(queries: Queries) -> Step:
    """Get selections from the cache, sort, and slice the bytes of the rows."""
    for query in queries.parsed:
        page(queries.table, query)
    return page, [(queries.table, query) for query in queries.parsed], _nothing


def _encode(queries: Queries) -> Step:
    """Put the envelope around the bytes of the rows."""
    pages = ((query, page(queries.table, query)) for query in queries.parsed)
    return lambda query, found: wrap(opening(query, found.total_count), found.rows), pages, _nothing


def _nothing() -> None:
    """Do nothing."""


STEPS: Final = {
    "parse": _parse,
    "select (cold)": _select,
    "select (cached)": _select_cached,
    "sort": _sort,
    "select (cached), sort and slice": _page,
    "encode": _encode,
}


def test_engine(benchmark: BenchmarkFixture, queries: Queries, step: str) -> None:
    """Time a step on each of its arguments, once."""
    function, arguments, prepare = STEPS[step](queries)
    rounds = list(arguments)[:_MAX_ROUNDS]
    each = iter(rounds)

    def setup() -> tuple[Sequence[object], dict[str, object]]:
        prepare()
        return next(each), {}

    benchmark.pedantic(function, setup=setup, rounds=len(rounds))  # type: ignore[no-untyped-call]
