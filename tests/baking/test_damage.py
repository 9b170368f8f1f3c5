"""Any damage to a baked file is one error, never a data set and never an exception."""

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.baking.baked_file import load_baked
from tests.baking.forging import refusal
from tests.baking.random_datasets import small_file
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return small_file(tmp_path)


@contextmanager
def rewritten(file: Path) -> Iterator[Callable[[int, int], int]]:
    """Give what puts a byte into a file at a place: to write thousands of files would take long."""
    descriptor = os.open(file, os.O_WRONLY)
    try:
        yield lambda place, byte: os.pwrite(descriptor, bytes([byte]), place)
    finally:
        os.close(descriptor)


def test_a_file_with_any_byte_changed_is_refused(file: Path) -> None:
    stored = file.read_bytes()
    header_end = 8 + int.from_bytes(stored[:8], "little")
    with rewritten(file) as put:
        # One checksum covers the header, and another each array: of the header every 13th byte is enough.
        for place in (*range(8), *range(8, header_end, 13), *some_of(range(header_end, len(stored)), 7)):
            byte = stored[place]
            put(place, byte ^ (0xA5 if place % 2 else 0x01))
            assert "bake it again" in refusal(file), place
            put(place, byte)
    load_baked(file)


def test_a_file_truncated_at_any_length_is_refused(file: Path) -> None:
    for length in reversed(some_of(range(file.stat().st_size), 7)):
        os.truncate(file, length)
        assert "bake it again" in refusal(file), length


@pytest.mark.parametrize("more", [b"\0", b"\n", b"\0" * 8, b" " * 64, b"\xff" * 4096])
def test_a_file_with_trailing_bytes_is_refused(file: Path, more: bytes) -> None:
    with file.open("ab") as stored:
        stored.write(more)
    assert refusal(file) == f"{len(more):,} bytes after the last array; bake it again"


def test_a_file_whose_arrays_are_not_aligned_is_refused(file: Path) -> None:
    stored = file.read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    moved = (start - 7).to_bytes(8, "little") + stored[8:start] + b" "
    file.write_bytes(moved + stored[start:-4] + zlib.crc32(moved).to_bytes(4, "little"))
    assert refusal(file).endswith(" is not aligned; bake it again")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\0" * 8,
        b"\xff" * 8,
        b"\0" * 100,
        b"store_id,company_id\n" * 100,
        b'[{"store_id": "s1"}]' * 100,
        b"PK\x03\x04" + bytes(1000),
        (2).to_bytes(8, "little") + b"{}",
        (64).to_bytes(8, "little") + b"[" * 64,
        (100_000).to_bytes(8, "little") + b'{"__metadata__":' + b"[" * 99_984,
        (64).to_bytes(8, "little") + b'{"__metadata__":{}}'.ljust(64),
        (64).to_bytes(8, "little") + b'{"__metadata__":{"format":"pt"},"x":null}'.ljust(64),
        (64).to_bytes(8, "little") + b'{"__metadata__":{"a":"\xff"}}'.ljust(64),
        (2**63).to_bytes(8, "little") + bytes(1000),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert "the file is not a baked data set" in refusal(file)


@pytest.mark.parametrize("name", ["nowhere", "folder", "x" * 300], ids=["nowhere", "a folder", "too long"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / name).startswith("the file cannot be read: ")
