"""Arrays of byte strings, and concatenating many strings of a buffer."""

from bisect import bisect_left
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns.column import StringArray, gather

STRINGS = st.lists(st.binary(max_size=4), max_size=12)


@given(STRINGS)
def test_strings_are_stored_unchanged_in_two_buffers(strings: list[bytes]) -> None:
    array = StringArray.of(strings)
    assert [array[index] for index in range(len(array))] == strings
    assert bytes(array.data) == b"".join(strings)
    assert array.offsets.tolist() == [0, *accumulate(map(len, strings))]


@pytest.mark.parametrize("samples", [1, 2, 5, 4096])
@pytest.mark.parametrize("count", [0, 1, 2, 9, 40])
def test_an_insertion_index_is_that_of_bisect_wherever_the_search_starts(
    monkeypatch: pytest.MonkeyPatch, samples: int, count: int
) -> None:
    monkeypatch.setattr(StringArray, "samples", samples)
    strings = [f"{2 * number:03}".encode() for number in range(count)]
    array = StringArray.of(strings)
    for string in (f"{number:03}".encode() for number in range(2 * count + 2)):
        expected = bisect_left(strings, string)
        assert [array.bisect(string, start) for start in range(expected + 1)] == [expected] * (expected + 1)


@given(st.data())
def test_chunks_are_in_the_order_of_the_indices(data: st.DataObject) -> None:
    strings = data.draw(STRINGS)
    indices = data.draw(st.lists(st.integers(0, len(strings) - 1)) if strings else st.just([]))
    chunks = StringArray.of(strings).chunks(np.array(indices, np.int32))
    assert b"".join(chunks) == b"".join(strings[index] for index in indices)


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=12), st.integers(1, 30), st.data())
def test_lines_and_parts_have_all_strings_in_order(strings: list[bytes], size: int, data: st.DataObject) -> None:
    array = StringArray.of(strings)
    indices = np.array(data.draw(st.lists(st.integers(0, len(strings) - 1))), np.int32)
    assert bytes(array.lines(indices)) == b"".join(strings[index][:-1] + b"\n" for index in indices)
    parts = [part.tolist() for part in array.parts(indices, size)]
    assert [index for part in parts for index in part] == indices.tolist()
    lengths = [sum(len(strings[index]) for index in part) for part in parts]
    assert all(len(part) == 1 or length <= size for part, length in zip(parts, lengths, strict=True))
    following = [len(strings[part[0]]) for part in parts[1:]]
    assert all(length + first > size for length, first in zip(lengths, following, strict=False))


TEXTS = st.text(st.sampled_from("ab\0é\U0001f600"), max_size=3)


@given(st.sets(TEXTS, max_size=12), TEXTS)
def test_a_text_is_found_at_its_index_and_those_that_begin_with_it_are_next_to_each_other(
    texts: set[str], other: str
) -> None:
    distinct = sorted(texts)
    array = StringArray.of([text.encode() for text in distinct])
    assert [array.find(text) for text in distinct] == list(range(len(distinct)))
    assert array.find(other) == (distinct.index(other) if other in distinct else None)
    assert [distinct[index] for index in array.beginning(other)] == [
        text for text in distinct if text.startswith(other)
    ]
    assert array.find(f"{other}\udcff") is None


@pytest.mark.parametrize(("indices", "pieces"), [([0], 1), ([0, 1, 2, 3, 4], 1), ([1, 2, 3], 1), ([0, 2, 1, 3], 4)])
def test_consecutive_strings_are_one_view_and_a_few_others_one_each(indices: list[int], pieces: int) -> None:
    array = StringArray.of([b"a", b"", b"ccc", b"\x00", b"e"])
    chunks = array.chunks(np.array(indices, np.int32))
    assert len(chunks) == pieces
    assert all(chunk.obj is array.data.obj for chunk in chunks)


@pytest.mark.parametrize(
    ("outlier", "chunks"), [(b"a string like the others", 1), (b"long" * 1000, 200)], ids=["similar", "one much longer"]
)
def test_many_strings_of_similar_lengths_are_one_copy(outlier: bytes, chunks: int) -> None:
    strings = [*(b"a string of some length %d" % index for index in range(300)), outlier]
    made = StringArray.of(strings).chunks(np.arange(300, 100, -1, dtype=np.int32))  # to the end of the buffer
    assert len(made) == chunks
    assert b"".join(made) == b"".join(strings[:100:-1])
    assert {chunk.readonly for chunk in made} == {chunks != 1}


def test_views_are_the_strings_one_by_one_without_their_ends() -> None:
    strings = StringArray.of([b"aaXY", b"XY", b"bXY"])
    assert list(map(bytes, strings.views(np.array([2, 0, 1, 0], np.int32), without=2))) == [b"b", b"aa", b"", b"aa"]
    assert strings.views(np.array([], np.int32), without=2) == []


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


@given(st.data(), st.lists(st.binary(min_size=5, max_size=9), min_size=1, max_size=30), st.sampled_from(FOLLOWED))
def test_strings_of_similar_lengths_suit_in_any_order(data: st.DataObject, strings: list[bytes], after: bytes) -> None:
    indices = data.draw(st.permutations(range(len(strings))))
    joined = gathered(strings, indices, after)
    assert joined is not None
    assert bytes(joined) == b"".join(strings[index] for index in indices)


@pytest.mark.parametrize(
    ("strings", "indices", "after"),
    [
        ([b"", b""], [0, 1], b"x"),
        ([*[b"a"] * 19, b"d" * 19], [*range(20)], b"x" * 16),
    ],
    ids=["nothing", "one much longer than the rest"],
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
