"""Columns of lists: filters and facets, compared with a scan of all rows."""

from collections import Counter
from random import Random

import msgspec
import numpy as np
import orjson
import pytest

from service.engine.columns.column import join_keys, list_key
from service.engine.facets import Matches
from service.engine.select import select
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.model.envelope import Facet
from service.model.kinds import fold
from service.model.query import ALL_ROWS, Criteria, Filter
from service.spool import Spools

Lists = list[list[str] | None]
TEXTS = ["wifi", "WiFi", "parking", "Atm", "atm", "bäckerei", "x y"]
NAME = "attributes.l"


def table_of(lists: Lists) -> Table:
    """Return a table of rows with a list each, built in spools that are all on disk."""
    builder = TableBuilder({"id": True, NAME: True}, order_by="id", key="id", spools=Spools(None, 1), lists=[NAME])
    ids = [f"{number:06}" for number in range(len(lists))]
    rows = b"".join(
        orjson.dumps({"id": i, "attributes": {"l": value}}) + b"\n" for i, value in zip(ids, lists, strict=True)
    )
    keys = [None if value is None else list_key(map(fold, value)) for value in lists]
    builder.add(rows, {"id": join_keys(ids), NAME: join_keys(keys)})
    return builder.build()


def random_lists(random: Random, count: int) -> Lists:
    return [random.choices(TEXTS, k=random.randint(1, 4)) if random.random() < 0.8 else None for _ in range(count)]


def matching(lists: Lists, keys: list[str]) -> list[int]:
    return [row for row, value in enumerate(lists) if value and not set(keys).isdisjoint(map(fold, value))]


@pytest.mark.parametrize("seed", range(20))
def test_a_list_matches_if_one_of_its_texts_does(seed: int) -> None:
    random = Random(seed)
    lists = random_lists(random, random.choice([0, 1, 50, 3000]))
    table = table_of(lists)
    for keys in (["wifi"], ["atm", "parking"], ["nothing"], ["bäckerei", "x y", "wifi"]):
        found = select(table, Criteria((Filter(NAME, tuple(keys)),)), "id")
        assert found.slice(0, found.total).tolist() == matching(lists, keys)


@pytest.mark.parametrize("seed", range(20))
def test_a_facet_counts_each_text_of_a_list_once_and_has_the_spelling_of_the_first_record(seed: int) -> None:
    random = Random(seed)
    lists = random_lists(random, random.choice([1, 50, 3000]))
    table, criteria = table_of(lists), random.choice([ALL_ROWS, Criteria((Filter(NAME, ("wifi",)),))])
    rows = range(len(lists)) if criteria == ALL_ROWS else matching(lists, ["wifi"])
    counts = Counter(key for row in rows for key in {fold(text) for text in lists[row] or ()})
    spelled = {fold(text): text for value in reversed(lists) for text in reversed(value or ())}
    expected = [(spelled[key], counts[key]) for key in sorted(counts, key=lambda key: (-counts[key], key.encode()))]
    missing = sum(lists[row] is None for row in rows)
    facet = msgspec.json.decode(Matches(table, criteria).facet(NAME), type=Facet)
    found = [(each.value, each.count) for each in facet.values]
    assert (facet.distinct, found) == (len(counts), [*expected, *([(None, missing)] if missing else [])])


def test_the_texts_of_lists_are_their_inverse() -> None:
    texts = table_of([["b", "a"], ["a"], None, ["c", "b"]]).lists[NAME]
    assert texts.is_inverse
    assert [texts.lists_of(code).tolist() for code in range(3)] == [[0, 1], [1, 2], [2]]
    assert np.array_equal(texts.having(["a", "c", "d"]), [0, 1, 2])
