"""The page that answers a query, compared with a naive scan."""

from functools import cache
from itertools import count

import pytest
from hypothesis import given, strategies as st

from service.engine.table import Table
from service.model.records import COMPANIES, STORES, Resource
from tests.engine.oracle import Pairs, answer, backwards
from tests.engine.random_records import COLLECTIONS, OWNERS, ask, build, queries, records

pytestmark = pytest.mark.slow

LISTS = pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=lambda resource: resource.name)
TABLES = {"count": st.integers(0, 40), "variety": st.integers(1, 12), "seed": st.integers(0, 2**32)}
MANY = {name: records(each, count=400, variety=12, seed=7) for name, each in COLLECTIONS.items()}


@cache
def many(resource: Resource) -> Table:
    """Return the table of many records, which is asked over and over, as one that is served."""
    return build(resource, MANY[resource.name])


def walk(table: Table, resource: Resource, pairs: Pairs, *, limit: int) -> list[str | None]:
    """Return the identifiers of all pages, one after the other; every page but the last is full."""
    walked: list[str | None] = []
    for page_num in count(1):
        found = ask(table, resource, [*pairs, ("limit", str(limit)), ("page_num", str(page_num))])
        walked += [each[COLLECTIONS[resource.name].identifier] for each in found.data]
        if len(found.data) < limit:
            assert len(walked) == found.total_count
            return walked
    raise AssertionError


@LISTS
@given(st.data(), st.fixed_dictionaries(TABLES))
def test_the_engine_equals_a_naive_scan(resource: Resource, data: st.DataObject, size: dict[str, int]) -> None:
    collection = COLLECTIONS[resource.name]
    made = records(collection, **size)
    table = build(resource, made)
    for pairs in data.draw(st.lists(queries(collection, made, [1, 2, 3, 5, 8]), min_size=10, max_size=10)):
        assert ask(table, resource, pairs) == answer(collection, made, pairs, OWNERS), pairs


@LISTS
@given(st.data())
def test_the_engine_equals_a_naive_scan_on_many_records(resource: Resource, data: st.DataObject) -> None:
    collection, made, table = COLLECTIONS[resource.name], MANY[resource.name], many(resource)
    for pairs in data.draw(st.lists(queries(collection, made, [5, 70, 1000]), min_size=5, max_size=5)):
        assert ask(table, resource, pairs) == answer(collection, made, pairs, OWNERS), pairs


@LISTS
@given(st.fixed_dictionaries(TABLES), st.integers(2, 9))
def test_all_pages_have_each_record_once_and_desc_reverses_asc(
    resource: Resource, size: dict[str, int], limit: int
) -> None:
    collection = COLLECTIONS[resource.name]
    made = {record[collection.identifier]: record for record in records(collection, **size)}
    table = build(resource, list(made.values()))
    for field in resource.sort_keys:
        ascending = walk(table, resource, [("sort_by", field)], limit=limit)
        descending = walk(table, resource, [("sort_by", field), ("sort_order", "desc")], limit=limit)
        assert len(ascending) == len(made)
        assert set(ascending) == set(made)
        assert descending == [
            each[collection.identifier] for each in backwards([made[key] for key in ascending], field)
        ]


@LISTS
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_past_the_end_are_empty(resource: Resource, order: str) -> None:
    table = many(resource)
    for page_num in (2, 401, 2**31, 2**32 + 1, 2**63, 2**64, 10**4300 - 1):
        found = ask(table, resource, [("page_num", str(page_num)), ("sort_order", order)])
        assert (found.total_count, found.data) == (400, [])


@LISTS
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_an_empty_table_has_no_matches(resource: Resource, order: str) -> None:
    table = build(resource, [])
    for field in resource.sort_keys:
        assert ask(table, resource, [("sort_by", field), ("sort_order", order)]) == (0, [], {})
    for each in resource.filters:
        assert ask(table, resource, [(each.name, "1"), ("sort_order", order)]) == (0, [], {})
