"""Mapped bytes, compared with the same bytes in memory."""

from io import BytesIO

from hypothesis import given, strategies as st

from service.spool import MappedBytes, open_bytes
from tests.engine.ranked_keys import IN_FILES

_BYTES = st.binary(min_size=2) | st.lists(st.sampled_from([b"\r", b"\n", b"a"]), min_size=2).map(b"".join)
_OFFSETS = st.integers(0, 9)


def mapped(content: bytes) -> MappedBytes:
    """Return bytes, at least two, mapped from a file."""
    spool = IN_FILES.new()
    spool.append(content)
    found = spool.content()
    assert isinstance(found, MappedBytes)
    return found


@given(_BYTES, st.sampled_from([b"\n", b"\r\n", b"\0"]), _OFFSETS, _OFFSETS)
def test_mapped_bytes_are_searched_like_those_in_memory(content: bytes, part: bytes, start: int, length: int) -> None:
    found, stop = mapped(content), min(start + length, len(content))
    assert found.count(part, start, stop) == content.count(part, start, stop)
    assert found.startswith((part, b"a"), start) == content.startswith((part, b"a"), start)
    assert found.endswith(part) == content.endswith(part)


def test_what_is_on_both_sides_of_a_part_that_is_counted_at_once_is_counted() -> None:
    content = b"\r\n" * 600_000 + b"\n" + b"\r\n" * 600_000
    assert mapped(content).count(b"\r\n", 0, len(content)) == 1_200_000
    assert mapped(content).count(b"\r\n", 1, len(content) - 1) == 1_199_998


@given(_BYTES, st.lists(st.tuples(_OFFSETS, st.integers(0, 2), _OFFSETS)))
def test_they_are_read_as_a_file(content: bytes, reads: list[tuple[int, int, int]]) -> None:
    read, expected = open_bytes(mapped(content), 1), BytesIO(content)
    expected.seek(1)
    for offset, origin, size in reads:
        assert read.seek(offset, origin) == expected.seek(offset, origin)
        assert read.read(size) == expected.read(size)
        assert read.tell() == expected.tell()
    assert list(read) == list(expected)
