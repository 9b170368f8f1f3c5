"""Files: atomic writes, clones, decompression, signatures, and advisory locks (flock), which end with their process."""

import errno
import fcntl
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from typing import IO, Any, BinaryIO, Final

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@contextmanager
def atomic_write(target: Path, *, durable: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a temporary file beside `target`. It replaces `target` if the block succeeds; else it is removed.

    durable  sync the file and its folder, so that the new content survives a crash of the machine
    mode     permissions of the new file, to which the umask applies

    Raises OSError. Concurrent writers of one target have a temporary file each; the last to finish wins.
    """
    temporary = target.with_name(f".{target.name}.{token_hex(8)}.part")
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        with suppress(OSError):  # some file systems cannot sync a folder; the file is in place all the same
            descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def temporary_files(folder: Path, targets: str) -> Iterator[Path]:
    """Yield the temporary files in a folder, such as killed processes leave, of the targets that match a pattern."""
    return folder.glob(f".{targets}.*.part")


_FICLONE: Final = getattr(fcntl, "FICLONE", 0x40049409)  # in `fcntl` since Python 3.14; ioctl_ficlone(2)


def clone_file(source: BinaryIO, to: BinaryIO) -> bool:
    """Make an open, empty file a clone of another; return False where the file system cannot, such as ext4."""
    try:
        fcntl.ioctl(to.fileno(), _FICLONE, source.fileno())
    except OSError:
        return False
    return True


# What a file in progress leaves free of a disk, so that it takes no other program its room.
_RESERVE: Final = 1 << 28  # bytes
_RESERVE_SHARE: Final = 20  # of a small disk


def check_room(descriptor: int, length: int) -> None:
    """Raise OSError if the disk of an open file has no room for so many bytes more, before filling it."""
    disk = os.fstatvfs(descriptor)
    reserve = min(_RESERVE, disk.f_blocks * disk.f_frsize // _RESERVE_SHARE)
    if length > disk.f_bavail * disk.f_frsize - reserve:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


_PART: Final = 1 << 18  # bytes
_WINDOW_LOG: Final = 27  # 128 MiB, what a Zstandard frame may make a decompressor allocate
# Compressed bytes may exceed what is in them by this, such as by names. More is an endless file of nothing.
_OVERHEAD: Final = 1 << 20
_OVERHEAD_SHARE: Final = 16
_GZIP: Final = "gz"
_FRAMES: Final[Mapping[str, Callable[[], Any]]] = {
    _GZIP: lambda: zlib.decompressobj(wbits=31),
    "zst": lambda: zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}),
}


class CompressionError(Exception):
    """A compressed file is truncated or damaged."""


class Decompressor:
    """Decompresses a file that arrives in pieces, `gz` or `zst`, of one frame or several, in bounded memory."""

    def __init__(self, compression: str) -> None:
        self._compression, self._frame = compression, _FRAMES[compression]()
        self._stored = self._size = 0
        self._complete = False  # a frame ended with the last piece

    def parts(self, piece: bytes) -> Iterator[bytes]:
        """Yield what a piece adds, in parts of at most 256 KiB. Raises `CompressionError`."""
        self._stored += len(piece)
        more = False
        try:
            while piece or more:
                if self._complete:
                    if self._compression == _GZIP and not (piece := piece.lstrip(b"\0")):  # padding, as of tapes
                        return
                    self._frame, self._complete = _FRAMES[self._compression](), False
                part = self._frame.decompress(piece, _PART)
                self._complete = self._frame.eof
                piece = self._frame.unused_data if self._complete else getattr(self._frame, "unconsumed_tail", b"")
                more = len(part) == _PART and not self._complete
                self._size += len(part)
                if part:
                    yield part
        except (zlib.error, zstd.ZstdError) as error:
            raise CompressionError(f"the compressed file is damaged: {error}") from None
        if self._stored > self._size + self._size // _OVERHEAD_SHARE + _OVERHEAD:
            raise CompressionError("the compressed file is longer than what is in it")

    def end(self) -> None:
        """Raise `CompressionError` if the file cannot end here."""
        if not self._complete:
            raise CompressionError("the compressed file is truncated")


def decompressed(file: IO[bytes], compression: str) -> Iterator[bytes]:
    """Yield what is in a compressed file, in parts. Raises `CompressionError`."""
    decompressor = Decompressor(compression)
    while piece := file.read(1 << 16):
        yield from decompressor.parts(piece)
    decompressor.end()


class Signature(msgspec.Struct, frozen=True):
    """The state of a file. Equal signatures mean an unchanged file, except within one tick of the file system's clock.

    Times are in nanoseconds since the epoch.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        """Return the signature in the result of `os.stat` or `os.fstat`."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def check_regular(status: os.stat_result) -> None:
    """Raise OSError unless the file is regular: opening a pipe, or reading a device, could block forever."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


# Locks of folders are held for a moment. A process that holds one for longer than this hangs.
LOCK_TIMEOUT_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.01


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file; return False if a lock of another process conflicts."""
    try:
        lock(descriptor, shared=shared, wait=False)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file; wait while a lock of another process conflicts, or raise BlockingIOError."""
    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Hold the exclusive lock of an open file, as long as it takes to get it."""
    lock(descriptor)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_locked(path: Path, *, shared: bool = False) -> bool:
    """Return whether a process holds a lock that conflicts with ours. A file that cannot be opened may be locked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not try_lock(descriptor, shared=shared)
    finally:
        os.close(descriptor)


@contextmanager
def locked_folder(folder: Path, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the exclusive lock of a folder. Raises OSError, TimeoutError if another process holds it for too long."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = monotonic() + timeout_seconds
        while not try_lock(descriptor):
            if monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, f"another process holds the lock of the folder {folder}")
            sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(descriptor)
