"""The layout of a baked file, that of safetensors: a header in JSON, followed by arrays.

    8 bytes         the length of the header, little-endian
    header          name -> {"dtype", "shape", "data_offsets"}; "__metadata__" -> texts by name; padded with spaces
    arrays          little-endian, in descending order of item size, so that each is aligned; no gaps

The metadata has a CRC-32 of each array. The last array is the CRC-32 of everything before the arrays.
"""

import mmap
import os
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

import msgspec

from service.background import Progress, silent
from service.files import (
    CompressionError,
    Signature,
    atomic_write,
    check_regular,
    check_room,
    clone_file,
    decompressed,
)
from service.texts import printable

if TYPE_CHECKING:  # the compiler is started before NumPy is imported
    from numpy.typing import NDArray

FORMAT: Final = "store-directory 7"
Array: TypeAlias = "NDArray[Any]"
Checksums = Mapping[str, int]  # array -> its CRC-32

# NumPy's names of the types, and the sizes of their items.
_DTYPES: Final = {
    "U8": ("|u1", 1),
    "U16": ("<u2", 2),
    "U32": ("<u4", 4),
    "U64": ("<u8", 8),
    "I32": ("<i4", 4),
    "I64": ("<i8", 8),
    "F64": ("<f8", 8),
}
_NAMES: Final = {dtype: name for name, (dtype, _) in _DTYPES.items()}
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
        entries[name] = _Entry(_NAMES[array.dtype.str], array.shape, (offset, offset + array.nbytes))
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


class ArrivingFile:
    """An open file that is written in pieces while its disk has room; a baked one is checked by its header.

    sent    its length as the sender says
    length  the same, or that of a baked one by its header; None while it is not known
    """

    def __init__(self, file: BinaryIO | FileIO, sent: int | None = None, *, is_baked: bool = True) -> None:
        self._file, self._sent, self._is_baked, self._beginning = file, sent, is_baked, bytearray()
        self.received, self.length = 0, None if is_baked else sent
        check_room(file.fileno(), self.length or 0)

    def write(self, piece: bytes) -> None:
        """Write a piece. Raises OSError; DamagedFile if a baked one has no header, or another length than by that."""
        self.received += len(piece)
        if self._is_baked and self.length is None:
            self._beginning += piece
            self.length = expected_length(self._beginning)
            check_room(self._file.fileno(), self.length or 0)
        length = self.length
        if self._is_baked and length is not None and (self.received > length or self._sent not in (None, length)):
            sent = "more" if self._sent is None else f"{self._sent:,} bytes"
            raise DamagedFile(f"the file has {length:,} bytes by its header, but {sent} are sent")
        check_room(self._file.fileno(), len(piece))
        remaining = memoryview(piece)
        while remaining:
            remaining = remaining[self._file.write(remaining) :]


def _header_end(beginning: bytes | bytearray | memoryview) -> int:
    end = _LENGTH_BYTES + int.from_bytes(beginning[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < end <= _MAX_HEADER:
        raise NotBaked
    return end


def map_file(
    path: Path,
    *,
    checked: bool = False,
    signature: Signature | None = None,
    progress: Progress = silent,
) -> BakedContent:
    """Map a file, which has the signature, and check every byte of it, or only the header if it was `checked` before.

    Raises DamagedFile if it is truncated, damaged, not a baked file or another one, OSError if it cannot be read.
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
    _check_entries(entries, len(mapped) - start)
    arrays = _arrays(mapped[start:], entries)
    if int.from_bytes(arrays.pop(_HEADER_CHECKSUM).tobytes(), "little") != zlib.crc32(mapped[:start]):
        raise DamagedFile("the header is damaged")
    checksums = [metadata.pop(_CHECKSUM + name, None) for name in arrays]
    if not checked:
        done = deque[int]()  # appended to by several threads

        def count(chunk: memoryview) -> None:
            done.append(len(chunk))
            progress(f"Reading {path}", sum(tuple(done)), len(mapped))

        with ThreadPoolExecutor(CHECKING_THREADS) as pool:
            computed = pool.map(lambda array: _checksum(array, count), arrays.values())
        for name, found, checksum in zip(arrays, computed, checksums, strict=True):
            if checksum != f"{found:08x}":
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


def _check_entries(entries: Mapping[str, _Entry], length: int) -> None:
    """Check that the arrays fill a number of bytes exactly, without gaps. Raises `DamagedFile`."""
    offset = 0
    for name, entry in entries.items():
        (start, stop), (items,) = entry.data_offsets, entry.shape
        _, size = _DTYPES.get(entry.dtype, ("", 0))
        if not size or start != offset or items < 0 or stop - start != items * size:
            raise DamagedFile(f"the header is damaged at the array {name}")
        if stop > length:
            raise DamagedFile("the file is truncated")
        offset = stop
    if offset != length:
        raise DamagedFile(f"{length - offset:,} bytes after the last array")


def _arrays(data: memoryview, entries: Mapping[str, _Entry]) -> dict[str, Array]:
    """Return the arrays that entries describe, on the same buffer. Raises `DamagedFile` if one is not aligned."""
    import numpy as np  # noqa: PLC0415 - see above

    arrays = {}
    for name, entry in entries.items():
        arrays[name] = np.frombuffer(data[slice(*entry.data_offsets)], _DTYPES[entry.dtype][0])
        if not arrays[name].flags.aligned:
            raise DamagedFile(f"the array {name} is not aligned")
    return arrays


_COPY_CHUNK: Final = 1 << 18


def copy_file(file: BinaryIO, to: Path, progress: Progress = silent) -> None:
    """Copy an open file that has the header of a baked one; where the file system can, the copy is a clone.

    Raises DamagedFile if it has not, or is longer; OSError. Whether the copy is complete is checked when it is mapped.
    """
    size = os.fstat(file.fileno()).st_size
    if (length := expected_length(file.read(_MAX_HEADER))) is not None and size > length:
        raise DamagedFile(f"{size - length:,} bytes after the last array")
    with to.open("wb") as copy:
        if clone_file(file, copy):
            return
        with suppress(OSError):  # of a full disk, writing raises it again; where it works, writing takes half the time
            os.posix_fallocate(copy.fileno(), 0, size)
        buffer = memoryview(bytearray(_COPY_CHUNK))
        for at in range(0, size, _COPY_CHUNK):
            copy.write(buffer[: os.preadv(file.fileno(), [buffer[: size - at]], at)])
            progress(f"Copying {file.name}", at, size)


PACKED: Final = ".zst"  # the end of the name of a baked file that is compressed


def unpack_file(file: BinaryIO, to: Path, progress: Progress = silent) -> None:
    """Write what is in an open, compressed baked file; see `copy_file`."""
    try:
        with to.open("wb") as plain:
            arriving = ArrivingFile(plain)
            for part in decompressed(file, PACKED[1:]):
                arriving.write(part)
                progress(f"Unpacking {file.name}", arriving.received, arriving.length or arriving.received)
    except CompressionError as error:
        raise DamagedFile(str(error), remedy="compress it again") from None
