"""A query spends its budget before it looks at rows, and at what else takes long: texts of lists, bytes of records."""

from collections.abc import Callable

import pytest

from service.engine.columns.row_budget import OverBudget, within_budget
from service.engine.results import feature_page, map_clusters, page
from service.engine.table import Table
from service.model.coordinates import Box
from service.model.query import Filter, Query
from service.model.records import STORES
from tests.engine.random_records import build
from tests.engine.test_list_texts import NAME, table_of
from tests.interface_fields import STORE_FIELDS, members

MANY = 2000
WORLD = Box(-180, -90, 180, 90)


def is_long(find: Callable[[], object]) -> bool:
    try:
        within_budget(find)
    except OverBudget:
        return True
    return False


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
