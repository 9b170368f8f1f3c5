"""A query spends its budget before it looks at rows, and at what else takes long: texts of lists, bytes of records."""

from collections.abc import Callable
from functools import partial
from itertools import count

import numpy as np
import pytest

from service.engine.columns.column import join_keys
from service.engine.columns.row_budget import LOOKED_UP, MOST_ROWS, OverBudget, spend, within_budget
from service.engine.columns.selection import RowBitmap, RowList, ScannedRows, pack
from service.engine.facets import Matches, read_spellings
from service.engine.geography.clusters import cluster
from service.engine.results import feature_page, map_clusters, page
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.model.coordinates import Box
from service.model.query import ALL_ROWS, Criteria, Filter, Query
from service.model.records import STORES
from service.model.words import parse_terms
from tests.engine.random_records import build
from tests.engine.test_list_texts import NAME, table_of
from tests.engine.test_locations import locations
from tests.engine.test_text_index import build as build_index
from tests.interface_fields import STORE_FIELDS, members

MANY = 2000
WORLD = Box(-180, -90, 180, 90)


def is_long(find: Callable[[], object]) -> bool:
    try:
        within_budget(find)
    except OverBudget:
        return True
    return False


def spent(find: Callable[..., object], *arguments: object) -> int:
    """Return for how many rows a short query spends its budget."""
    left = count()

    def spend_the_rest() -> None:
        find(*arguments)
        for _ in left:
            spend(1)

    assert is_long(spend_the_rest)
    rows = MOST_ROWS - next(left) + 1
    assert rows <= MOST_ROWS
    return rows


def texts(first: int, number: int = MANY) -> list[str]:
    return [f"text {each}" for each in range(first, first + number)]


FEW = [texts(row, 2) for row in range(100)]


SIMILAR = [*FEW, *(texts(0)[row:] for row in range(60))]


@pytest.mark.parametrize(
    ("lists", "keys", "long"),
    [
        ([*FEW, texts(0)], (), False),
        (FEW, ("text 5",), False),
        (SIMILAR, (), True),  # to count
        (SIMILAR, ("text 1999",), True),
        ([texts(MANY * row) for row in range(3)], (), True),  # to read as records have them
    ],
    ids=["few", "some of few", "many", "some of many", "few lists of many"],
)
def test_the_texts_of_lists_are_in_the_budget(
    lists: list[list[str] | None], keys: tuple[str, ...], *, long: bool
) -> None:
    query = Query(sort_by="id", filters=(Filter(NAME, keys),) if keys else (), facets=(NAME,), limit=1)
    table = table_of(lists)
    assert is_long(lambda: page(table, query)) == long


@pytest.mark.parametrize(("keys", "long"), [(5, False), (50, True)])
def test_the_lists_that_have_the_texts_of_a_filter_are_in_the_budget(keys: int, *, long: bool) -> None:
    table = table_of([[*texts(0, 50), f"list {row}"] for row in range(MANY)])
    query = Query(sort_by="id", filters=(Filter(NAME, tuple(texts(0, keys))),), limit=1)
    assert is_long(lambda: page(table, query)) == long


def stores(count: int, name: str) -> Table:
    located = [{"latitude": str(row), "longitude": str(row)} for row in range(count)]
    fields = dict.fromkeys(members(STORE_FIELDS), name)
    return build(
        STORES, [{**fields, "created_at": None, "updated_at": None, "is_open": "true", **each} for each in located]
    )


@pytest.mark.parametrize(("name", "long"), [("short", False), (20_000 * "long", True)])
def test_the_bytes_of_records_are_in_the_budget_before_they_are_decoded(name: str, *, long: bool) -> None:
    table = stores(30, name)
    finds: list[Callable[[], object]] = [
        lambda: page(table, Query(fields=("store_id",))),
        lambda: feature_page(table, Query()),
        lambda: map_clusters(table, Query(bbox=WORLD, zoom=10)),
        lambda: page(table, Query(facets=("store_id",), limit=1)),
    ]
    assert [is_long(find) for find in finds] == [long] * len(finds)
    assert not is_long(lambda: page(table, Query()))


SAME = 60


def values_of(number: int, *, matching: int = 0) -> Table:
    """Return a table of so many stores, some of them in a city; after the first `SAME`, each has another name."""
    rows = [
        {"store_id": f"{row:05}", "name": f"name {max(row, SAME):05}", "city": "ab"[row >= matching]}
        for row in range(number)
    ]
    empty = dict.fromkeys(members(STORE_FIELDS))
    return build(STORES, [{**empty, "is_open": "true", **each} for each in rows])


def test_the_codes_of_all_values_and_their_spellings_are_in_the_budget_of_a_facet() -> None:
    few, many = (spent(Matches(values_of(rows), ALL_ROWS).facet, "name") for rows in (2000, 3000))
    assert many - few == 1000
    assert spent(Matches(values_of(100), ALL_ROWS).facet, "name") >= 40 * 64


@pytest.mark.parametrize(
    ("matching", "field", "least"),
    [
        (20, "name", MANY - SAME + 20),
        (900, "is_open", 1 + 900 // LOOKED_UP),
        (1900, "is_open", 1 + MANY // LOOKED_UP + 100 // LOOKED_UP),
    ],
    ids=["few", "half", "most"],
)
def test_the_codes_of_rows_that_are_counted_are_in_the_budget_of_a_facet(matching: int, field: str, least: int) -> None:
    table, found = values_of(MANY, matching=matching), Criteria(terms=parse_terms("a "))
    Matches(table, ALL_ROWS).facet(field)  # keeps spellings
    Matches(table, found).facet("city")  # keeps the rows
    spelled = spent(read_spellings, table, "name", np.zeros(1, np.intp)) if field == "name" else 0
    assert spent(Matches(table, found).facet, field) == least + spelled


def test_the_lists_that_have_a_text_are_in_the_budget_of_its_spelling_and_all_texts_in_that_of_counting() -> None:
    table = table_of([["common", f"other {row}"] for row in range(MANY)])
    assert spent(read_spellings, table, NAME, np.zeros(1, np.intp)) >= MANY
    assert spent(table.lists[NAME].count, None, np.ones(MANY, np.int64)) >= 2 * MANY


def test_the_postings_of_a_term_are_in_the_budget() -> None:
    index = build_index(
        [[f"word{row}" if row < MANY // 50 else f"rare{row % 700} six{row % 6}"] for row in range(MANY)]
    )
    rows = np.arange(5, dtype=np.int32)
    for search, least in (("word", 40), ("word1 ", 1), ("six", 6)):
        (term,) = parse_terms(search)
        assert spent(index.match(term).matches, rows) >= least


@pytest.mark.parametrize("zoom", [0, 3])
def test_rows_and_where_runs_of_them_begin_and_end_are_in_the_budget_of_clusters(zoom: int) -> None:
    built = locations([(f"{row % 80}", f"{row % 170}") for row in range(MANY)])
    row = np.arange(MANY, dtype=np.int32)
    all_rows, one_run, many_runs = (
        spent(cluster, built, ScannedRows(RowBitmap(pack(mask), row, MANY), row, MANY), None, zoom)
        for mask in (row >= 0, row < MANY // 2, row % 2 == 0)  # the first of which also looks at what is kept
    )
    assert one_run < all_rows
    assert many_runs - one_run >= MANY - 2
    assert spent(cluster, built, RowList(row[: MANY // 2], MANY // 2), None, zoom) >= MANY // 2


def test_the_first_pages_of_common_values_in_another_order_are_no_long_queries() -> None:
    """What each needs is made once, in less than a millisecond of a hundred thousand rows: it may not count as more."""
    number, values = 100_000, 20
    builder = TableBuilder({"id": True, "value": True, "time": False}, order_by="id", key="id")
    times = np.random.default_rng(1).permutation(number)
    keys = {
        "id": [f"{row:05}" for row in range(number)],
        "value": [str(row % values) for row in range(number)],
        "time": [f"{time:05}" for time in times],
    }
    builder.add(b"1\n" * number, {name: join_keys(each) for name, each in keys.items()})
    table = builder.build()
    for value in range(values):
        filters = (Filter("value", (str(value),)),)
        for page_num in (1, 3):
            query = Query(filters, sort_by="time", limit=1000, page_num=page_num)
            assert not is_long(partial(page, table, query))
