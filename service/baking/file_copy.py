"""Copy a baked file, computing its checksums while the bytes are in the processor's cache."""

import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from service.baking.layout import CHECKING_THREADS, Checksums, DamagedFile, read_layout
from service.files.clone import clone_file
from service.progress import Progress, Tally, silent

_CHUNK: Final = 1 << 18


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
        _write(copy, memoryview(layout.header), 0)
        largest_first = sorted(layout.ranges.items(), key=lambda item: item[1][0] - item[1][1])
        checksums = pool.map(lambda item: _copy_array(file, copy, item[1], tally), largest_first)
        return dict(zip((name for name, _ in largest_first), checksums, strict=True))


def _allocate(file: BinaryIO, size: int) -> None:
    """Reserve the space of a file where that is supported: writing into it takes half the time."""
    with suppress(OSError):  # of a full disk, writing raises it again
        os.posix_fallocate(file.fileno(), 0, size)


def _copy_array(file: BinaryIO, to: BinaryIO, byte_range: tuple[int, int], tally: Tally) -> int:
    """Copy the bytes of an array; return their checksum."""
    buffer, checksum = memoryview(bytearray(_CHUNK)), 0
    for at, end in _chunks(*byte_range):
        size = os.preadv(file.fileno(), [buffer[: end - at]], at)
        if size < end - at:
            raise DamagedFile("the file is truncated")  # meanwhile
        checksum = zlib.crc32(buffer[:size], checksum)
        _write(to, buffer[:size], at)
        tally.add(size)
    return checksum


def _chunks(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each chunk; they end at multiples of their size, so that no page is written twice."""
    while start < end:
        stop = min(end, (start // _CHUNK + 1) * _CHUNK)
        yield start, stop
        start = stop


def _write(file: BinaryIO, data: memoryview, at: int) -> None:
    while data:
        size = os.pwrite(file.fileno(), data, at)
        data, at = data[size:], at + size
