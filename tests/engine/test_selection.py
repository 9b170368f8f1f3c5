"""Selections, as lists and as bitmaps."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns import selection
from service.engine.columns.selection import ListedRows, MarkedRows, RowBitmap, ScannedRows, pack
from tests.engine.test_bitmap import MASKS


@given(MASKS)
def test_a_rank_is_the_number_of_rows_before_a_position(mask: list[bool]) -> None:
    found = RowBitmap(pack(np.array(mask, np.bool_)))
    expected = [sum(mask[:position]) for position in range(len(mask) + 1)]
    assert found.ranks(np.arange(len(mask) + 1)).tolist() == expected
    assert found.rank(len(mask)) == found.count == sum(mask)


@given(MASKS, st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.sampled_from([1, 40, 1 << 16]))
def test_a_bitmap_has_the_pages_of_the_list_of_its_rows(
    mask: list[bool], non_null: int, start: int, limit: int, most_looked: int
) -> None:
    order = np.random.default_rng(len(mask)).permutation(len(mask)).astype(np.int32)
    non_null = min(non_null, len(mask))
    found = RowBitmap(pack(np.array(mask, np.bool_)))
    by_position = np.flatnonzero(mask)
    by_row = np.flatnonzero(np.array(mask, np.bool_)[order])
    marked, scanned = MarkedRows(found, order, non_null), ScannedRows(found, order, non_null)
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(selection, "_FIRST_LOOK", 3)
        limits.setattr(selection, "_MOST_LOOKED", most_looked)
        for selected, positions in ((marked, by_position), (scanned, by_row), (scanned.marked(), by_row)):
            listed = ListedRows(order[positions], int(np.count_nonzero(positions < non_null)))
            assert selected.total == listed.total
            span = range(min(start, listed.total), min(start + limit, listed.total))
            for descending in (False, True):
                page = selected.slice(span, descending=descending)
                assert page.tolist() == listed.slice(span, descending=descending).tolist()
