"""The layout of a baked file, that of safetensors: a header in JSON, followed by arrays.

    8 bytes         the length of the header, little-endian
    header          name -> {"dtype", "shape", "data_offsets"}; "__metadata__" -> texts by name; padded with spaces
    arrays          little-endian, in descending order of item size, so that each is aligned; no gaps

The metadata has a CRC-32 of each array. The last array is the CRC-32 of everything before the arrays.
"""

import mmap
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.background import Progress, Tally, silent
from service.files import Signature, atomic_write, check_regular, clone_file
from service.texts import printable

Array = NDArray[Any]
Checksums = Mapping[str, int]  # array -> its CRC-32

_DTYPES: Final = {
    name: np.dtype(f"<{name.lower()[0]}{int(name[1:]) // 8}")
    for name in ("U8", "U16", "U32", "U64", "I32", "I64", "F64")
}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA: Final = "__metadata__"
_CHECKSUM: Final = "crc32:"
_HEADER_CHECKSUM: Final = "header_crc32"
_LENGTH_BYTES: Final = 8
_ALIGNMENT: Final = 64
# How many bytes it takes to tell a baked file from others.
BEGINNING: Final = _LENGTH_BYTES + 1
_MAX_HEADER: Final = 1 << 20
# Threads that compute the checksums of a file, or check it: zlib and NumPy release the GIL, so 1,000,000 stores are
# served 0.1 s earlier with two.
CHECKING_THREADS: Final = 2
_CHUNK: Final = 16 << 20  # bytes between two reports of progress


class DamagedFile(Exception):
    """The file cannot be served: the message says why, `remedy` what to do."""

    def __init__(self, why: str, *, remedy: str = "bake it again") -> None:
        super().__init__(printable(why))  # it may contain names from an untrusted file
        self.remedy = remedy


class NotBaked(DamagedFile):
    """The file is not a baked file."""

    def __init__(self) -> None:
        super().__init__("the file is not a baked data set")


class BakedContent(msgspec.Struct, frozen=True, eq=False):
    """The content of a file: texts by name, and arrays by name, mapped from the file."""

    metadata: dict[str, str]
    arrays: dict[str, Array]


class FileLayout(msgspec.Struct, frozen=True):
    """The layout of a file: its header, and the ranges of its arrays.

    header  the bytes before the arrays
    ranges  array -> its start and end in the file; together all bytes after the header
    """

    header: bytes
    ranges: dict[str, tuple[int, int]]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dtype: str
    shape: tuple[int]
    data_offsets: tuple[int, int]


def write_file(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str], *, durable: bool = True) -> None:
    """Write arrays of one dimension and texts: beside the path, then renamed, so that no half file takes the name.

    If `durable`, that also holds after a failure of the machine. The same arrays and texts give the same
    bytes. Raises OSError, after which nothing is left behind.
    """
    if path.exists():
        check_regular(path.stat())
    ordered = dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))
    with atomic_write(path, durable=durable) as file:
        # The arrays may be larger than memory: they are read once, and their checksums fill the place that is left.
        file.write(_header(ordered, metadata, dict.fromkeys(ordered, 0)))
        header = _header(ordered, metadata, {name: _checksum(array, file.write) for name, array in ordered.items()})
        file.write(zlib.crc32(header).to_bytes(4, "little"))
        file.seek(0)
        file.write(header)


def _checksum(array: Array, done: Callable[[memoryview], object]) -> int:
    """Return the checksum of an array, and pass on each part that it was computed of."""
    data, checksum = memoryview(array.data).cast("B"), 0
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK]
        checksum = zlib.crc32(chunk, checksum)
        done(chunk)
    return checksum


def _header(arrays: Mapping[str, Array], metadata: Mapping[str, str], checksums: Checksums) -> bytes:
    texts = {_CHECKSUM + name: f"{checksum:08x}" for name, checksum in checksums.items()}
    entries: dict[str, object] = {_METADATA: dict(sorted({**metadata, **texts}.items()))}
    offset = 0
    for name, array in arrays.items():
        entries[name] = _Entry(_NAMES[array.dtype], array.shape, (offset, offset + array.nbytes))
        offset += array.nbytes
    entries[_HEADER_CHECKSUM] = _Entry("U8", (4,), (offset, offset + 4))
    text = msgspec.json.encode(entries)
    text += b" " * (-(len(text) + _LENGTH_BYTES) % _ALIGNMENT)
    return len(text).to_bytes(_LENGTH_BYTES, "little") + text


def looks_baked(beginning: bytes) -> bool:
    """Return whether the first bytes are those of a baked file, and not of a text: the length and a brace."""
    length = int.from_bytes(beginning[:_LENGTH_BYTES], "little")
    return 0 < length <= _MAX_HEADER and beginning[_LENGTH_BYTES:BEGINNING] == b"{"


def expected_length(beginning: bytes | bytearray) -> int | None:
    """Return the length of a file from its beginning, by the header; None if the header is incomplete.

    The checksum of the header is at the end of the file, so it is not checked. Raises DamagedFile if this is not the
    beginning of a baked file.
    """
    if len(beginning) < _LENGTH_BYTES:
        return None
    start = _header_end(beginning)
    if len(beginning) < start:
        return None
    _, entries = _read_header(bytes(beginning[_LENGTH_BYTES:start]))
    return start + max(entry.data_offsets[1] for entry in entries.values())


def read_layout(file: BinaryIO) -> FileLayout:
    """Read the layout of an open file, and check that the file has the length in its header.

    The checksum of the header is not checked. Raises DamagedFile, OSError.
    """
    length, beginning = os.fstat(file.fileno()).st_size, file.read(_MAX_HEADER)
    if length < _LENGTH_BYTES:
        raise NotBaked
    expected = expected_length(beginning)
    if expected is None or length < expected:
        raise DamagedFile("the file is truncated")
    start = _header_end(beginning)
    _, entries = _read_header(beginning[_LENGTH_BYTES:start])
    _check_entries(entries, length - start)
    ranges = {name: (start + entry.data_offsets[0], start + entry.data_offsets[1]) for name, entry in entries.items()}
    return FileLayout(beginning[:start], ranges)


def _header_end(beginning: bytes | bytearray | memoryview) -> int:
    end = _LENGTH_BYTES + int.from_bytes(beginning[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < end <= _MAX_HEADER:
        raise NotBaked
    return end


def map_file(
    path: Path,
    *,
    checked: bool = False,
    copied: Checksums | None = None,
    signature: Signature | None = None,
    progress: Progress = silent,
) -> BakedContent:
    """Map a file and check every byte of it, or only the header if it was `checked` before.

    `copied` are the checksums of the arrays if they were computed while the file was copied, `signature` that of the
    file to be mapped. Raises DamagedFile if the file is truncated, damaged, not a baked file or another one, OSError if
    it cannot be read.
    """
    check_regular(path.stat())
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if signature is not None and Signature.of(status) != signature:
            raise DamagedFile("the file was replaced or changed after it was verified", remedy="it is loaded again")
        if status.st_size < _LENGTH_BYTES:
            raise NotBaked
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    start = _header_end(mapped)
    if start > len(mapped):
        raise DamagedFile("the file is not a baked data set, or its header is truncated")
    metadata, entries = _read_header(bytes(mapped[_LENGTH_BYTES:start]))
    arrays = _view_arrays(mapped[start:], entries)
    if int.from_bytes(arrays.pop(_HEADER_CHECKSUM).tobytes(), "little") != zlib.crc32(mapped[:start]):
        raise DamagedFile("the header is damaged")
    checksums = [metadata.pop(_CHECKSUM + name, None) for name in arrays]
    if copied is None and not checked:
        tally = Tally(progress, f"Reading {path}", len(mapped))
        with ThreadPoolExecutor(CHECKING_THREADS) as pool:
            computed = pool.map(lambda array: _checksum(array, lambda chunk: tally.add(len(chunk))), arrays.values())
            copied = dict(zip(arrays, computed, strict=True))
    if copied is not None:
        for name, checksum in zip(arrays, checksums, strict=True):
            if name not in copied or checksum != f"{copied[name]:08x}":
                raise DamagedFile(f"the array {name} is damaged")
    return BakedContent(metadata, arrays)


def _read_header(text: bytes) -> tuple[dict[str, str], dict[str, _Entry]]:
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        metadata = msgspec.json.decode(members.pop(_METADATA), type=dict[str, str])
        entries = {name: msgspec.json.decode(member, type=_Entry) for name, member in members.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        raise DamagedFile("the file is not a baked data set, or its header is damaged") from None
    if _HEADER_CHECKSUM not in entries:
        raise DamagedFile("the file is not a baked data set: its header has no checksum")
    return metadata, entries


def _view_arrays(data: memoryview, entries: Mapping[str, _Entry]) -> dict[str, Array]:
    """Return the arrays as views of the bytes, which they must fill exactly, without gaps."""
    _check_entries(entries, len(data))
    return {name: np.frombuffer(data[slice(*each.data_offsets)], _DTYPES[each.dtype]) for name, each in entries.items()}


def _check_entries(entries: Mapping[str, _Entry], length: int) -> None:
    """Check that the arrays fill a number of bytes exactly, without gaps. Raises `DamagedFile`."""
    offset = 0
    for name, entry in entries.items():
        (start, stop), (items,) = entry.data_offsets, entry.shape
        dtype = _DTYPES.get(entry.dtype)
        if dtype is None or start != offset or items < 0 or stop - start != items * dtype.itemsize:
            raise DamagedFile(f"the header is damaged at the array {name}")
        if stop > length:
            raise DamagedFile("the file is truncated")
        offset = stop
    if offset != length:
        raise DamagedFile(f"{length - offset:,} bytes after the last array")


_COPY_CHUNK: Final = 1 << 18


def copy_file(file: BinaryIO, to: Path, progress: Progress = silent) -> Checksums | None:
    """Copy an open file; return the checksums of what was copied, by array, to check them when the copy is mapped.

    Where the file system can, the copy is a clone: nothing is read, and None is returned. The file is copied only if it
    has the length in its header. Raises DamagedFile, OSError.
    """
    layout = read_layout(file)
    size = max(end for _, end in layout.ranges.values())
    tally = Tally(progress, f"Copying {file.name}", size)
    with to.open("wb", buffering=0) as copy, ThreadPoolExecutor(CHECKING_THREADS) as pool:
        if clone_file(file, copy):
            return None
        _allocate(copy, size)
        _write_all(copy, memoryview(layout.header), 0)
        largest_first = sorted(layout.ranges.items(), key=lambda item: item[1][0] - item[1][1])
        checksums = pool.map(lambda item: _copy_array(file, copy, item[1], tally), largest_first)
        return dict(zip((name for name, _ in largest_first), checksums, strict=True))


def _allocate(file: BinaryIO, size: int) -> None:
    """Reserve the space of a file where that is supported: writing into it takes half the time."""
    with suppress(OSError):  # of a full disk, writing raises it again
        os.posix_fallocate(file.fileno(), 0, size)


def _copy_array(file: BinaryIO, to: BinaryIO, byte_range: tuple[int, int], tally: Tally) -> int:
    """Copy the bytes of an array; return their checksum."""
    buffer, checksum = memoryview(bytearray(_COPY_CHUNK)), 0
    for at, end in _chunks(*byte_range):
        size = os.preadv(file.fileno(), [buffer[: end - at]], at)
        if size < end - at:
            raise DamagedFile("the file is truncated")  # meanwhile
        checksum = zlib.crc32(buffer[:size], checksum)
        _write_all(to, buffer[:size], at)
        tally.add(size)
    return checksum


def _chunks(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each chunk; they end at multiples of their size, so that no page is written twice."""
    while start < end:
        stop = min(end, (start // _COPY_CHUNK + 1) * _COPY_CHUNK)
        yield start, stop
        start = stop


def _write_all(file: BinaryIO, data: memoryview, at: int) -> None:
    while data:
        size = os.pwrite(file.fileno(), data, at)
        data, at = data[size:], at + size
