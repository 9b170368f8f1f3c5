"""The steps of a request, each by itself; every round uses another query."""

from collections.abc import Callable, Iterable

from pytest_benchmark.fixture import BenchmarkFixture

from bench.engine.questions import Questions
from service.engine.page import page
from service.engine.select import select
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.envelope import opening, wrap
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.web.parsed_parameters import parser
from service.web.request_target import query_pairs

_MOST_ROUNDS = 1000


def time_each(
    benchmark: BenchmarkFixture,
    step: Callable[..., object],
    asked: Iterable[tuple[object, ...]],
    forget: Callable[[], object] = lambda: None,
) -> None:
    """Time a step on each of some arguments, once; generating them and calling `forget` before is not timed."""
    rounds = list(asked)[:_MOST_ROUNDS]
    each = iter(rounds)

    def ready() -> tuple[tuple[object, ...], dict[str, object]]:
        forget()
        return next(each), {}

    benchmark.pedantic(step, setup=ready, rounds=len(rounds))  # type: ignore[no-untyped-call]


def test_parse(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Parse a query string."""
    reader = QueryParser(STORES)
    time_each(benchmark, lambda text: reader.parse(query_pairs(text), strict=False), zip(questions.texts))


def test_parse_again(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Get a parsed query string from the cache."""
    parse = parser("/stores", QueryParser(STORES))
    for text in questions.texts:
        parse("", text, False)
    time_each(benchmark, lambda text: parse("", text, False), zip(questions.texts))


def test_select(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Compute the rows that match the criteria; the bitmaps of single values are cached."""
    asked = ((query.criteria, query.sort_by) for query in questions.queries)
    table = questions.table
    time_each(benchmark, lambda criteria, sort_by: select(table, criteria, sort_by), asked, table.selections.clear)


def test_select_again(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Get a selection from the cache."""
    asked = [(query.criteria, query.sort_by) for query in questions.queries]
    for criteria, sort_by in asked:
        select(questions.table, criteria, sort_by)
    time_each(benchmark, lambda criteria, sort_by: select(questions.table, criteria, sort_by), asked)


def test_sort(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Take the rows of a page, in order, from a selection."""
    asked = (_sorted(questions.table, query) for query in questions.queries)
    time_each(benchmark, lambda found, span, descending: found.slice(span, descending=descending), asked)


def test_page(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Get a selection from the cache, sort, and slice the bytes of the rows."""
    for query in questions.queries:
        page(questions.table, query)
    time_each(benchmark, page, ((questions.table, query) for query in questions.queries))


def test_encode(benchmark: BenchmarkFixture, questions: Questions) -> None:
    """Put the envelope around the bytes of the rows."""
    asked = ((query, page(questions.table, query)) for query in questions.queries)
    time_each(benchmark, lambda query, found: wrap(opening(query, found.total_count), found.rows), asked)


def _sorted(table: Table, query: Query) -> tuple[Selection, range, bool]:
    """Return a selection and the arguments of its `slice` for a query whose page is not empty."""
    found = select(table, query.criteria, query.sort_by)
    first = (query.page_num - 1) * query.limit
    return found, range(first, min(first + query.limit, found.total)), query.descending
