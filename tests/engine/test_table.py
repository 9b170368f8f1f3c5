"""Tables: rows in the default order, lookups by identifier, caches."""

import json

import numpy as np
import pytest

from service.engine.columns.column import StringArray, join_keys
from service.engine.columns.selection import RowList
from service.engine.conditions import Predicate
from service.engine.select import select
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.engine.text_index import TextIndexBuilder
from service.model.query import ALL_ROWS, Criteria, Filter
from service.model.records import COMPANIES
from service.spool import Spools
from tests.engine.random_records import build

COMPANY = {"name": "Acme", "domain": None, "parent_company_id": None, "created_at": None}


def companies(*identifiers: str) -> Table:
    return build(COMPANIES, [{"company_id": identifier, **COMPANY} for identifier in identifiers])


def found(table: Table, *keys: str) -> list[bytes | None]:
    """Return the rows with these identifiers."""
    rows = map(table.find, keys)
    return [None if row is None else bytes(row) for row in rows]


def test_a_row_is_found_by_its_identifier() -> None:
    table = companies("b", "a", "é", "\U0001f600", "a/b c")
    keys = ["a", "b", "a/b c", "é"]
    assert [row and json.loads(row)["company_id"] for row in found(table, *keys)] == keys


@pytest.mark.parametrize("key", ["", "A", "a ", "aa", "0", "zz", "e\u0301", "null", "a\x00", "a/b", "\udcff"])
def test_an_unknown_identifier_is_not_found(key: str) -> None:
    """A path holds lone surrogates where its bytes are not UTF-8."""
    assert companies("a", "b", "é", "a/b c").find(key) is None


def test_of_no_rows_none_have_one_of_many_values() -> None:
    table = companies(*map(str, range(20)))
    many = Predicate(table, "company_id", table.columns["company_id"], range(12), 12)
    assert [many.matches(np.arange(stop, dtype=np.int32)).tolist() for stop in (0, 2)] == [[], [True, True]]


def test_an_empty_table_finds_nothing() -> None:
    assert (len(companies()), companies().find("a")) == (0, None)


def test_rows_added_in_batches_form_one_table() -> None:
    builder = TableBuilder({"key": True, "date": False}, order_by="date", key="key")
    builder.add(b"1\n2\n", {"key": join_keys(["x", "b"]), "date": join_keys(["2", None])})
    builder.add(b"", {"key": join_keys([]), "date": join_keys([])})
    builder.add(b"3\n4\n5\n", {"key": join_keys(["c", "a", "d"]), "date": join_keys(["2", None, "1"])})
    table = builder.build()
    assert [table.rows[row] for row in range(len(table))] == [b"5,", b"3,", b"1,", b"4,", b"2,"]
    assert found(table, *"abcdx") == [b"4", b"2", b"3", b"5", b"1"]


def test_searched_texts_are_the_keys_in_batches_that_have_no_others() -> None:
    builder = TableBuilder({"key": True, "name": True}, order_by="key", key="key", searched=("name",))
    for number, texts in enumerate([None, ["ß"], ["é"], None]):
        keys = {"key": join_keys([str(number)]), "name": join_keys([f"n{number}"])}
        builder.add(b"%d\n" % number, keys, {"name": join_keys(texts)} if texts else None)
    builder.build()
    column, distinct = builder.searched["name"]
    assert [distinct[code].decode() for code in column.codes] == ["n0", "ß", "é", "n3"]


def test_filter_values_count_towards_the_size_of_cached_selections() -> None:
    table, long = companies("a"), "x" * (1 << 20)
    for number in range(64):
        select(table, Criteria((Filter("name", (f"{long}{number}",)),)), "domain")
    assert 0 < len(list(table.selections)) < 48


def test_selections_and_bitmaps_are_cached() -> None:
    table = companies("a", "b")
    criteria = Criteria((Filter("name", ("Acme",)),))
    assert select(table, criteria, "domain") is select(table, criteria, "domain")
    assert select(table, criteria, "domain") is not select(table, criteria, "company_id")
    assert table.bitmap("name", 0, table.order_by) is table.bitmap("name", 0, table.order_by)


def test_a_few_selections_are_cached_for_any_table_size() -> None:
    length = 10_000_000
    rows, text = StringArray(memoryview(b""), np.zeros(length + 1, np.int64)), TextIndexBuilder(Spools()).build(length)
    empty = companies()
    table = Table(rows, empty.columns, order_by=empty.order_by, key="b", text=text)
    everything = RowList(np.broadcast_to(np.int32(0), length), length)
    for number in range(5):
        table.selections.put((ALL_ROWS, str(number)), everything, 4 * length)
    assert [number for number in range(5) if table.selections.get((ALL_ROWS, str(number)))] == [1, 2, 3, 4]


def test_the_rows_with_one_value_are_a_slice_in_the_default_order() -> None:
    table = companies(*map(str, range(200)))
    rows = select(table, Criteria((Filter("name", ("acme",)),)), table.order_by)
    assert isinstance(rows, RowList)
    assert np.shares_memory(rows.rows, table.columns["name"].order)
    assert [*table.matches, *table.selections] == []
