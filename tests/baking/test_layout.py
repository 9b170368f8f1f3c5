"""The layout of a baked file: that of safetensors, the same bytes each time, written atomically."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from service.baking.layout import Array, expected_length, map_file, write_file
from tests.baking.random_datasets import small_file
from tests.sampling.test_sample import small_disk

ARRAYS: dict[str, Array] = {
    "bytes": np.arange(7, dtype=np.uint8),
    "texts/é": np.arange(3, dtype=np.uint8),
    "nothing": np.empty(0, np.int64),
    "short": np.arange(5, dtype=np.uint16),
    "wide": np.array([2**32 - 1, 0, 7], np.uint32),
    "codes": np.array([2**64 - 1, 0, 7], np.uint64),
    "rows": np.array([-1, 2**31 - 1], np.int32),
    "degrees": np.array([-180.0, 1 / 3]),
    "offsets": np.array([-(2**63), 2**63 - 1, 0], np.int64),
}
TEXTS = {"format": "a test", "é": "\u2028\n\U0001f600"}
SIZES = {"U8": 1, "U16": 2, "U32": 4, "U64": 8, "I32": 4, "I64": 8, "F64": 8}


def test_a_written_file_is_mapped_read_only_and_as_it_was(tmp_path: Path) -> None:
    write_file(tmp_path / "file", ARRAYS, TEXTS)
    content = map_file(tmp_path / "file")
    assert content.metadata == TEXTS
    assert content.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert content.arrays[name].dtype == array.dtype
        assert np.array_equal(content.arrays[name], array)
        assert not content.arrays[name].flags.owndata
        assert not content.arrays[name].flags.writeable
    write_file(tmp_path / "file", {}, {})
    content = map_file(tmp_path / "file")
    assert (content.metadata, content.arrays) == ({}, {})


def test_the_order_of_arrays_and_texts_does_not_matter(tmp_path: Path) -> None:
    write_file(tmp_path / "one", ARRAYS, TEXTS)
    write_file(tmp_path / "other", dict(reversed(ARRAYS.items())), dict(reversed(TEXTS.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


# The rules of safetensors: https://github.com/huggingface/safetensors#format
@pytest.mark.parametrize("baked", [False, True], ids=["arrays", "data set"])
def test_the_layout_is_that_of_safetensors(tmp_path: Path, *, baked: bool) -> None:
    file = small_file(tmp_path) if baked else tmp_path / "file"
    if not baked:
        write_file(file, ARRAYS, TEXTS)
    stored = file.read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    assert stored[8:9] == b"{"
    assert start % 64 == 0
    header = json.loads(stored[8:start])
    metadata = header.pop("__metadata__")
    assert all(isinstance(text, str) for text in metadata.values())
    place = 0
    for entry in header.values():
        assert list(entry) == ["dtype", "shape", "data_offsets"]
        begin, end = entry["data_offsets"]
        assert begin == place
        assert (start + begin) % SIZES[entry["dtype"]] == 0
        assert end - begin == entry["shape"][0] * SIZES[entry["dtype"]]
        place = end
    assert start + place == len(stored)


def test_the_header_has_the_checksum_of_each_array_and_the_last_array_is_its_own(tmp_path: Path) -> None:
    write_file(tmp_path / "file", ARRAYS, TEXTS)
    stored = (tmp_path / "file").read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    header = json.loads(stored[8:start])
    checksums = {name: header["__metadata__"][f"crc32:{name}"] for name in ARRAYS}
    assert checksums == {name: f"{crc32(array.tobytes()):08x}" for name, array in ARRAYS.items()}
    assert list(header)[-1] == "header_crc32"
    assert stored[-4:] == crc32(stored[:start]).to_bytes(4, "little")


def test_the_length_of_a_file_is_known_from_its_header(tmp_path: Path) -> None:
    write_file(tmp_path / "file", ARRAYS, TEXTS)
    stored = (tmp_path / "file").read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    lengths = [expected_length(stored[:length]) for length in range(len(stored) + 1)]
    assert lengths == [None] * start + [len(stored)] * (len(stored) + 1 - start)


@pytest.mark.parametrize("size", [0, 100, 1500, 8_000])
@pytest.mark.parametrize("old", [None, b"what was there"], ids=["new", "replacing"])
def test_a_full_disk_raises_oserror_and_keeps_the_old_file(tmp_path: Path, *, size: int, old: bytes | None) -> None:
    file = tmp_path / "file"
    if old is not None:
        file.write_bytes(old)
    with small_disk(size), pytest.raises(OSError, match="too large"):
        write_file(file, {**ARRAYS, "large": np.zeros(2000, np.int32)}, TEXTS)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == ({} if old is None else {"file": old})
