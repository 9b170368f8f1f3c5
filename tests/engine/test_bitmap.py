"""Bitmaps of positions."""

from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st

from service.engine.columns.selection import bit_positions, edges_of_runs, is_set, pack, unpack

MASKS = st.one_of(
    st.lists(st.booleans(), max_size=300),
    st.builds(
        lambda size, members: [position in members for position in range(size)],
        st.integers(0, 300),
        st.sets(st.integers(0, 299), max_size=4),
    ),
)


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


@given(MASKS, MASKS)
def test_two_bitmaps_are_intersected_word_by_word(one: list[bool], other: list[bool]) -> None:
    size = min(len(one), len(other))
    words = pack(np.array(one[:size], np.bool_)) & pack(np.array(other[:size], np.bool_))
    assert bit_positions(words).tolist() == [position for position in range(size) if one[position] and other[position]]


@given(MASKS)
def test_a_bit_is_set_where_its_mask_is(mask: list[bool]) -> None:
    assert is_set(pack(np.array(mask, np.bool_)), np.arange(len(mask), dtype=np.int32)).tolist() == mask
