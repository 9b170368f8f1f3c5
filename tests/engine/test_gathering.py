"""Concatenating many strings of a buffer."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns.column import gather

FOLLOWED = [b"", b"x" * 16]  # whatever is after the strings in the buffer


def gathered(strings: list[bytes], indices: list[int], after: bytes) -> memoryview | None:
    """Gather strings of a buffer that ends with `after`."""
    lengths = np.array([len(each) for each in strings], np.int64)
    starts = lengths.cumsum() - lengths
    return gather(memoryview(b"".join(strings) + after), starts[indices], lengths[indices])


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=30), st.data(), st.sampled_from(FOLLOWED))
def test_the_strings_are_concatenated_or_do_not_suit(strings: list[bytes], data: st.DataObject, after: bytes) -> None:
    indices = data.draw(st.lists(st.integers(0, len(strings) - 1), min_size=1, max_size=60))
    joined = gathered(strings, indices, after)
    assert joined is None or bytes(joined) == b"".join(strings[index] for index in indices)


@given(st.data(), st.lists(st.binary(min_size=5, max_size=9), min_size=1, max_size=30))
def test_strings_of_similar_lengths_suit_in_any_order(data: st.DataObject, strings: list[bytes]) -> None:
    indices = data.draw(st.permutations(range(len(strings))))
    joined = gathered(strings, indices, b"x" * 16)
    assert joined is not None
    assert bytes(joined) == b"".join(strings[index] for index in indices)


@pytest.mark.parametrize(
    ("strings", "indices", "after"),
    [
        ([b"", b""], [0, 1], b"x"),
        ([*[b"a"] * 19, b"d" * 19], [*range(20)], b"x" * 16),
        ([b"long", b"a"], [1, 0], b"xx"),
    ],
    ids=["nothing", "one much longer than the rest", "the widest copy would end after the buffer"],
)
def test_strings_that_do_not_suit_are_not_copied(strings: list[bytes], indices: list[int], after: bytes) -> None:
    assert gathered(strings, indices, after) is None


def test_the_result_is_memory_of_its_own() -> None:
    strings = [b"one,", b"two,", b"six,"]
    first, second = (gathered(strings, [2, 0, 1], b"xxxx") for _ in range(2))
    assert first is not None
    assert second is not None
    assert not first.readonly
    first[:] = bytes(len(first))
    assert bytes(second) == b"six,one,two,"
