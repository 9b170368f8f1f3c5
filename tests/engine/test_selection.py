"""Bitmaps of positions, and selections, as lists and as bitmaps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns import selection
from service.engine.columns.selection import (
    RowBitmap,
    RowList,
    ScannedRows,
    bit_positions,
    edges_of_runs,
    is_set,
    pack,
    unpack,
)

MASKS = st.one_of(
    st.lists(st.booleans(), max_size=300),
    st.builds(
        lambda size, members: [position in members for position in range(size)],
        st.integers(0, 300),
        st.sets(st.integers(0, 299), max_size=4),
    ),
)
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
            (scanned.whole(), ranked),
        ):
            valued, rows = int(np.count_nonzero(where[:non_null])), order[where].tolist()
            listed = RowList(order[where], valued, len(rows))
            first, stop = min(start, len(rows)), min(start + limit, len(rows))
            backwards = rows[:valued][::-1] + rows[valued:][::-1]
            for each in (listed, selected):
                assert each.total == len(rows)
                assert each.slice(first, stop).tolist() == rows[first:stop]
                assert each.descending(first, stop).tolist() == backwards[first:stop]


@given(MASKS)
def test_the_positions_of_a_bitmap_are_those_of_its_mask(mask: list[bool]) -> None:
    assert bit_positions(pack(np.array(mask, np.bool_))).tolist() == [
        position for position, is_set in enumerate(mask) if is_set
    ]
    assert unpack(pack(np.array(mask, np.bool_)), len(mask)).tolist() == mask


@given(st.integers(2, 64))
def test_the_positions_of_few_bits_in_many_words_are_those_of_its_mask(distance: int) -> None:
    mask = np.arange(40_000) % distance == 0
    assert bit_positions(pack(mask)).tolist() == list(range(0, 40_000, distance))


@given(MASKS)
def test_runs_have_edges_where_a_bit_differs_from_the_one_before(mask: list[bool]) -> None:
    differ = [position for position, (before, bit) in enumerate(pairwise([False, *mask, False])) if before != bit]
    assert bit_positions(edges_of_runs(pack(np.array(mask, np.bool_)))).tolist() == differ


@given(MASKS)
def test_a_bit_is_set_where_its_mask_is(mask: list[bool]) -> None:
    assert is_set(pack(np.array(mask, np.bool_)), np.arange(len(mask), dtype=np.int32)).tolist() == mask
