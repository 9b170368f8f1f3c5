"""Byte strings that lie end to end."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.string_array import StringArray

TEXTS = st.lists(st.binary(max_size=4), max_size=12)


@given(TEXTS)
def test_strings_are_stored_unchanged(texts: list[bytes]) -> None:
    laid = StringArray.of(texts)
    assert len(laid) == len(texts)
    assert [laid[index] for index in range(len(laid))] == texts


@given(st.data())
def test_slices_are_in_the_order_of_the_indices(data: st.DataObject) -> None:
    texts = data.draw(TEXTS)
    places = data.draw(st.lists(st.integers(0, len(texts) - 1)) if texts else st.just([]))
    assert b"".join(StringArray.of(texts).slices(np.array(places, np.int32))) == b"".join(
        texts[place] for place in places
    )


@pytest.mark.parametrize("places", [[], [0], [4], [0, 1, 2, 3, 4], [1, 2, 3], [3, 2, 1], [0, 2, 1, 3], [4, 4], [0, 4]])
def test_consecutive_and_scattered_indices_give_the_same_bytes(places: list[int]) -> None:
    texts = [b"a", b"", b"ccc", b"\x00", b"e"]
    assert b"".join(StringArray.of(texts).slices(np.array(places, np.int32))) == b"".join(
        texts[place] for place in places
    )


@given(TEXTS, st.binary(max_size=4))
def test_a_string_is_found_at_its_index(texts: list[bytes], other: bytes) -> None:
    distinct = sorted({*texts})
    laid = StringArray.of(distinct)
    assert [laid.find(text) for text in distinct] == list(range(len(distinct)))
    assert laid.find(other) == (distinct.index(other) if other in distinct else None)


@pytest.mark.parametrize(("places", "pieces"), [([0], 1), ([0, 1, 2, 3, 4], 1), ([1, 2, 3], 1), ([0, 2, 1, 3], 4)])
def test_consecutive_strings_are_one_view_and_others_one_each(places: list[int], pieces: int) -> None:
    laid = StringArray.of([b"a", b"", b"ccc", b"\x00", b"e"])
    slices = laid.slices(np.array(places, np.int32))
    assert len(slices) == pieces
    assert all(piece.obj is laid.data.obj for piece in slices)


def test_strings_are_stored_in_two_buffers() -> None:
    laid = StringArray.of([b"a", b"", b"ccc"])
    assert bytes(laid.data) == b"accc"
    assert laid.offsets.tolist() == [0, 1, 1, 4]
