"""The page that answers a query, compared with a naive scan."""

from functools import cache

import pytest
from hypothesis import given, strategies as st

from service.engine.table import Table
from service.model.records import COMPANIES, STORES, Resource
from tests.engine.oracle import answer
from tests.engine.random_records import COLLECTIONS, OWNERS, ask, build, queries, records

pytestmark = pytest.mark.slow

LISTS = pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=lambda resource: resource.name)
TABLES = {"count": st.integers(0, 40), "variety": st.integers(1, 12), "seed": st.integers(0, 2**32)}
MANY = {name: records(each, count=400, variety=12, seed=7) for name, each in COLLECTIONS.items()}


@cache
def many(resource: Resource) -> Table:
    """Return the table of many records, which is asked over and over, as one that is served."""
    return build(resource, MANY[resource.name])


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
