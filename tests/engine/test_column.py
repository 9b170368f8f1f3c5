"""Columns: codes, postings and the order of rows; the numbers of many keys at once."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from service.engine.columns.column import Column, StringArray, build_column, union
from service.engine.geography.locations import decimal_numbers
from service.model.kinds import key_number, number_key
from tests.engine.ranked_keys import ranked

KEYS = st.lists(st.sampled_from(["a", "B", "é", "\uffee", "\U0001f600", "", "a\x00", None]), max_size=30)
Keys = list[str | None]


def column(*parts: Keys, filters: bool = True) -> Column:
    codes, distinct = ranked(chain.from_iterable(parts))
    return build_column(codes, distinct, filters=filters)


def rows(built: Column, key: str) -> list[int]:
    code = built.find(key)
    found = [] if code is None else built.postings(code).tolist()
    assert code is None or built.count(code) == len(found)
    return found


@given(KEYS, KEYS)
def test_a_column_has_rows_sorted_by_value_nulls_last_codes_of_sorted_values_and_postings(
    first: Keys, second: Keys
) -> None:
    built, keys = column(first, second), first + second
    assert built.order.tolist() == sorted(range(len(keys)), key=lambda row: (keys[row] is None, keys[row] or "", row))
    assert built.non_null_count == sum(key is not None for key in keys)
    distinct = sorted({key for key in keys if key is not None})
    assert built.null_code == len(distinct)
    assert built.codes.tolist() == [built.null_code if key is None else distinct.index(key) for key in keys]
    for wanted in {*distinct, "a", "nowhere"}:
        assert rows(built, wanted) == [row for row, key in enumerate(keys) if key == wanted]


@pytest.mark.parametrize("distinct", [1, 254, 255, 256, 257, 65_534, 65_535, 65_536])
def test_a_column_supports_any_number_of_distinct_values(distinct: int) -> None:
    keys: Keys = [*(f"{number:06d}" for number in reversed(range(distinct))), None, f"{0:06d}"]
    built = column(keys)
    assert rows(built, f"{0:06d}") == [distinct - 1, distinct + 1]
    assert rows(built, f"{distinct - 1:06d}")[:1] == [0]
    assert built.order[-1] == distinct
    assert built.codes[distinct] == built.null_code == distinct
    assert int(built.codes.max()) == distinct


@pytest.mark.parametrize("times", [1, 3, 5, 50])
@pytest.mark.parametrize("form", ["{:05}", "{:05}\0", "{:0300}"])
def test_both_ranking_methods_give_the_same_column(times: int, form: str) -> None:
    values = [form.format(number) for number in range(100)]
    built = column([*reversed(values), None] * times)
    assert built.codes.tolist() == [*reversed(range(100)), 100] * times
    assert built.order.tolist() == [101 * time + 99 - value for value in range(100) for time in range(times)] + [
        101 * time + 100 for time in range(times)
    ]


def test_a_column_that_is_not_filtered_by_stores_no_values() -> None:
    assert column(["b", None, "a"], filters=False).values is None
    assert column(["b", None, "a"], filters=False).order.tolist() == [2, 0, 1]
    assert column(["b", None, "a"], filters=False).find("a") is None


@given(st.lists(st.sets(st.integers(0, 40)), max_size=4))
def test_the_union_of_sets_of_rows_has_each_once_ascending(sets: list[set[int]]) -> None:
    assert union([np.array(sorted(each), np.int32) for each in sets]).tolist() == sorted(set().union(*sets))


DIGITS = st.integers(0, 10**18).map(str)
DECIMALS = st.builds(
    "{}{}.{}{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS, st.sampled_from(["", "e-12", "e9", "e40"])
)
DEGREES = st.decimals(-180, 180, places=7).map(str)


@given(st.lists(DECIMALS | DEGREES))
@example(["0", "-0.1", "90", "123456789012345", "1234567890123456", "0.000000000000000123456789012345", "1e40"])
def test_many_keys_have_the_numbers_that_each_has(texts: list[str]) -> None:
    keys = [number_key(text).encode() for text in texts]
    assert decimal_numbers(StringArray.of(keys)).tolist() == list(map(key_number, keys))
