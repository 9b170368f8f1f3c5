"""Bitmaps: sets of places as bits."""

import numpy as np
from hypothesis import given, strategies as st

from service.engine.bitmap import Bitmap, pack

MASKS = st.one_of(
    st.lists(st.booleans(), max_size=300),
    st.builds(
        lambda size, members: [place in members for place in range(size)],
        st.integers(0, 300),
        st.sets(st.integers(0, 299), max_size=4),
    ),
)


def bitmap(mask: list[bool]) -> Bitmap:
    return Bitmap.of(pack(np.array(mask, np.bool_)))


@given(MASKS, st.integers(0, 310), st.integers(0, 310))
def test_a_bitmap_gives_its_members_from_one_number_to_another(mask: list[bool], start: int, stop: int) -> None:
    members = [place for place, held in enumerate(mask) if held]
    stop = min(stop, len(members))
    assert len(bitmap(mask)) == len(members)
    assert bitmap(mask).members(start, stop).tolist() == members[start:stop]


@given(MASKS)
def test_a_bitmap_counts_the_members_before_every_place(mask: list[bool]) -> None:
    assert [bitmap(mask).before(place) for place in range(len(mask) + 1)] == [
        sum(mask[:place]) for place in range(len(mask) + 1)
    ]


@given(MASKS, MASKS)
def test_two_bitmaps_are_intersected_word_by_word(one: list[bool], other: list[bool]) -> None:
    size = min(len(one), len(other))
    words = pack(np.array(one[:size], np.bool_)) & pack(np.array(other[:size], np.bool_))
    both = [place for place in range(size) if one[place] and other[place]]
    assert Bitmap.of(words).members(0, len(both)).tolist() == both
