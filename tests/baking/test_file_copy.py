"""A baked file is copied completely and unchanged, or an error is raised."""

import os
from pathlib import Path
from zlib import crc32

import msgspec
import numpy as np
import pytest

from service.baking import layout as file_copy
from service.baking.layout import Array, DamagedFile, NotBaked, map_file, write_file
from tests.sampling.test_sample import small_disk

ARRAYS: dict[str, Array] = {
    "wide": np.arange(100, dtype=np.int64),
    "bytes": np.arange(77, dtype=np.uint8),
    "nothing": np.empty(0, np.uint16),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_file(tmp_path / "file", ARRAYS, {"format": "a test"})
    return tmp_path / "file"


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "copy"


def copied(file: Path, to: Path) -> Path:
    """Return the path of a copy."""
    with file.open("rb") as source:
        file_copy.copy_file(source, to)
    return to


def with_header(stored: bytes, entries: dict[str, object]) -> bytes:
    """Return a file with another header, and its correct checksum."""
    header = msgspec.json.encode(entries)
    beginning = len(header).to_bytes(8, "little") + header
    start = 8 + int.from_bytes(stored[:8], "little")
    return beginning + stored[start:-4] + crc32(beginning).to_bytes(4, "little")


@pytest.mark.parametrize("chunk", [1, 7, 64, 100, 1 << 20])
def test_a_copy_is_the_same(file: Path, to: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_copy, "_COPY_CHUNK", chunk)
    monkeypatch.setattr(file_copy, "clone_file", lambda *_: False)
    to.write_bytes(b"x" * 100_000)  # a longer file, which is replaced
    assert copied(file, to).read_bytes() == file.read_bytes()


def test_a_file_whose_arrays_overlap_is_refused(file: Path, to: Path) -> None:
    """A small header could name thousands of arrays, each of which is the whole file."""
    stored = file.read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    entries = msgspec.json.decode(stored[8:start])
    entries["wide again"] = entries["wide"]
    file.write_bytes(with_header(stored, entries))
    with pytest.raises(DamagedFile, match="the header is damaged at the array wide again"):
        map_file(copied(file, to))


@pytest.mark.parametrize("content", [b"", b"text", b"store_id,name\n" * 100, bytes(1000)])
def test_what_does_not_begin_like_a_baked_file_is_refused_whatever_its_size(
    file: Path, to: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with pytest.raises(NotBaked):
        map_file(copied(file, to))
    assert not to.exists() or len(content) < len("8 bytes.")


def test_a_file_that_is_truncated_while_it_is_copied_is_refused(
    file: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def truncate(*_: object) -> bool:
        os.truncate(file, 600)
        return False

    monkeypatch.setattr(file_copy, "clone_file", truncate)
    with pytest.raises(DamagedFile):
        map_file(copied(file, to))


@pytest.mark.parametrize("size", [0, 100, 1000])
def test_a_full_disk_raises_oserror(file: Path, to: Path, size: int) -> None:
    with small_disk(size), pytest.raises(OSError, match="too large"):
        copied(file, to)


def test_a_file_is_copied_where_space_cannot_be_reserved(file: Path, to: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: int) -> None:
        raise OSError

    monkeypatch.setattr(os, "posix_fallocate", fail)
    copied(file, to)
    assert to.read_bytes() == file.read_bytes()
