"""Spools: bytes in memory or in a file without a name, which is mapped."""

import errno
import resource
import shutil
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.spool import MappedBytes, SpoolError, Spools, open_bytes
from tests.engine.ranked_keys import IN_FILES

KIBIBYTE = 1 << 10  # of memory: a spool has one byte of it


@given(st.lists(st.binary(max_size=5)), st.sampled_from([KIBIBYTE, 4 * KIBIBYTE, 1 << 30]))
def test_a_spool_has_the_bytes_that_were_appended_whenever_it_is_read(parts: list[bytes], memory: int) -> None:
    spool = Spools(memory=memory).new()
    for number, part in enumerate(parts, 1):
        spool.append(part)
        assert bytes(spool.view()) == b"".join(parts[:number])
        assert len(spool) == len(spool.view())


def test_a_view_outlives_its_spool_which_leaves_no_name_in_its_folder(tmp_path: Path) -> None:
    spool = Spools(tmp_path, KIBIBYTE).new()
    spool.append(b"x" * 100_000)
    view = spool.view()
    assert list(tmp_path.iterdir()) == []
    del spool
    assert bytes(view) == b"x" * 100_000


def test_more_than_is_free_cannot_be_required_unless_it_is_little(tmp_path: Path) -> None:
    spools, free = Spools(tmp_path, 1 << 60), shutil.disk_usage(tmp_path).free
    spools.require(2 * free)
    spools = Spools(tmp_path, KIBIBYTE)
    spools.require(free // 2)
    with pytest.raises(SpoolError, match=r"temporary files need about [0-9,.]+ MB here, and only ") as failed:
        spools.require(2 * free)
    assert (failed.value.errno, failed.value.filename) == (errno.ENOSPC, str(tmp_path))


def test_a_failed_write_names_the_folder(tmp_path: Path) -> None:
    spool = Spools(tmp_path, KIBIBYTE).new()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as failed:
            spool.append(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.value.filename == str(tmp_path)


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
