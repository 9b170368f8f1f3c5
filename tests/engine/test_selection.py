"""Selections, as lists and as bitmaps."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns import selection
from service.engine.columns.selection import RowBitmap, RowList, ScannedRows, pack, renumbered
from tests.engine.test_bitmap import MASKS

MOST_LOOKED = st.sampled_from([1, 40, 1 << 16])


@given(MASKS)
def test_a_rank_is_the_number_of_rows_before_a_position(mask: list[bool]) -> None:
    found = RowBitmap(pack(np.array(mask, np.bool_)), np.arange(len(mask), dtype=np.int32), len(mask))
    expected = [sum(mask[:position]) for position in range(len(mask) + 1)]
    assert found.ranks(np.arange(len(mask) + 1)).tolist() == expected
    assert found.rank(len(mask)) == found.total == found.non_null_count == sum(mask)


@given(MASKS, st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), MOST_LOOKED)
def test_a_bitmap_has_the_pages_of_the_list_of_its_rows(
    mask: list[bool], non_null: int, start: int, limit: int, most_looked: int
) -> None:
    order = np.random.default_rng(len(mask)).permutation(len(mask)).astype(np.int32)
    by_row, bitmap, non_null = np.array(mask, np.bool_), pack(np.array(mask, np.bool_)), min(non_null, len(mask))
    found = RowBitmap(bitmap, np.arange(len(mask), dtype=np.int32), len(mask))
    marked, scanned = RowBitmap(bitmap, order, non_null), ScannedRows(found, order, non_null)
    ranked = by_row[order]
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(selection, "_FIRST_LOOK", 3)
        limits.setattr(selection, "_MOST_LOOKED", most_looked)
        for selected, where in (
            (marked, by_row),
            (scanned, ranked),
            (scanned.marked(), ranked),
            (renumbered(bitmap, order, non_null), ranked),
        ):
            listed = RowList(order[where], int(np.count_nonzero(where[:non_null])))
            assert selected.total == listed.total
            span = range(min(start, listed.total), min(start + limit, listed.total))
            assert selected.between(span.start, span.stop).tolist() == listed.rows[span.start : span.stop].tolist()
            for descending in (False, True):
                page = selected.slice(span, descending=descending)
                assert page.tolist() == listed.slice(span, descending=descending).tolist()
