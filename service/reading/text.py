"""Texts of data files: copied, decompressed within bounds, and decoded to UTF-8."""

import codecs
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import BadZipFile

from service.files import CompressionError, check_regular, decompressed
from service.reading.diagnostics import FileError
from service.reading.encodings import describe_encoding, has_utf_16_mark, looks_like_unmarked_utf_16, parse_encoding
from service.spool import FileBytes, SpoolError, Spools, open_bytes

_CHUNK: Final = 2**20  # bytes; so that no second copy of a large file is in memory
_UTF_16: Final = "utf-16"  # the codec removes the mark
_MARK: Final = "\ufeff"
# A file that exceeds both is a decompression bomb: gzip reaches 1,026 to 1, records about 10 to 1.
MAX_SIZE: Final = 64 * 2**20
MAX_RATIO: Final = 200
_LONGEST_MARK: Final = 4  # bytes, that of UTF-32
# zipfile raises all of these for damaged archives.
ZIP_DAMAGE: Final = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


def read_stored(path: Path, *, what: str = "the file", most: int) -> bytes:
    """Return the first bytes of a regular file, at most so many. Raises FileError."""
    with _opened(path, what) as file:
        return file.read(most)


def copy_stored(path: Path, spools: Spools) -> FileBytes:
    """Return a copy of a regular file, in a spool if it is large. Raises FileError.

    The file itself is not mapped: it may be truncated meanwhile, and to read what is lost of a mapping kills a process.
    """
    copy = spools.new()
    with _opened(path, "the file") as file:
        while chunk := file.read(_CHUNK):
            copy.append(chunk)
    return copy.content()


def reason(error: Exception) -> str:
    """Return why a file or folder cannot be read, without its path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def _opened(path: Path, what: str) -> Iterator[BinaryIO]:
    try:
        check_regular(path.stat())
        with path.open("rb") as file:
            yield file
    except SpoolError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{what} cannot be read: {reason(error)}") from None


def _text_before_error(text: FileBytes, encoding: str) -> tuple[str, str]:
    """Return what precedes the first error of a text that cannot be decoded, and what the error is."""
    why = "it cannot be decoded"
    try:
        codecs.getincrementaldecoder(encoding)().decode(text[:], final=True).encode()
    except UnicodeDecodeError as error:
        why = f"byte {text[error.start]:#04x} at offset {error.start}: {error.reason}"
        return text[: error.start].decode(encoding, "replace"), why
    except UnicodeError as error:  # UTF-16 without a byte order mark, of which neither order is declared
        why = str(error)
    return "", why


def plain_text(
    stored: FileBytes, compression: str | None, encoding: str | None = None, spools: Spools | None = None
) -> FileBytes:
    """Return the text of a file in UTF-8, without a byte order mark.

    `compression` is None, "gz" or "zst"; `encoding` is the declared one. A large text is in a spool. Raises
    FileError if the compression is damaged, truncated or a bomb, or the text is not in its encoding.
    """
    return decode_text(decompress(stored, compression, spools), encoding, spools)


def assumed_encoding(stored: FileBytes, compression: str | None) -> str | None:
    """Return the encoding that `plain_text` found by its mark, None for UTF-8 and for a declared one."""
    parts = decompressed(open_bytes(stored), compression) if compression else [stored[:_LONGEST_MARK]]
    return "UTF-16" if has_utf_16_mark(b"".join(islice(parts, _LONGEST_MARK))) else None  # a part may be one byte


def decode_text(stored: FileBytes, encoding: str | None = None, spools: Spools | None = None) -> FileBytes:
    """Return UTF-8 without a byte order mark. Raises FileError with the line of the first byte that is not valid.

    A text is UTF-8, UTF-16 with a byte order mark, or in the declared encoding: a mark wins.
    """
    try:
        known = None if encoding is None else parse_encoding(encoding)
    except ValueError as error:
        raise FileError(str(error)) from None
    if has_utf_16_mark(stored):
        return _transcode(stored, _UTF_16, spools or Spools())
    is_marked = stored.startswith(codecs.BOM_UTF8)
    if known is not None and known not in ("utf-8", "utf-8-sig") and not is_marked:
        return _transcode(stored, known, spools or Spools())
    _check_utf8(stored)
    if not is_marked:
        return stored
    unmarked = (spools or Spools()).new()
    unmarked.append(memoryview(stored)[len(codecs.BOM_UTF8) :])
    return unmarked.content()


def count_line_breaks(text: FileBytes, start: int, stop: int) -> int:
    r"""Return the number of line breaks in `text[start:stop]`: \n, \r or \r\n."""
    feeds, returns = text.count(b"\n", start, stop), text.count(b"\r", start, stop)
    return feeds + returns - (text.count(b"\r\n", start, stop) if returns else 0)


def decompress(stored: FileBytes, compression: str | None, spools: Spools | None = None) -> FileBytes:
    """Return the bytes of a file. Raises FileError if the compression is damaged, truncated or a bomb."""
    if compression is None:
        return stored
    if not stored:  # gzip reads this as an empty text, and a file truncated to nothing would pass
        raise FileError("the compressed file is empty")
    try:
        return read_bounded(decompressed(open_bytes(stored), compression), stored=len(stored), spools=spools)
    except CompressionError as error:
        raise FileError(str(error)) from None


def read_bounded(parts: Iterable[bytes], *, stored: int, spools: Spools | None = None) -> FileBytes:
    """Return the content of a compressed file of `stored` bytes, in a spool if it is large.

    Raises FileError if it is a bomb, and what the iterable raises.
    """
    content = (spools or Spools()).new()
    for part in parts:
        content.append(part)
        check_size(len(content), stored=stored)
    return content.content()


def check_size(decompressed: int, *, stored: int) -> None:
    """Raise FileError if `stored` bytes expand to more than the limit."""
    if decompressed > MAX_SIZE and decompressed > MAX_RATIO * stored:
        raise FileError(f"the compressed file expands to more than 64 MiB and {MAX_RATIO} times its size")


def _transcode(text: FileBytes, encoding: str, spools: Spools) -> FileBytes:
    """Return a text transcoded to UTF-8, without a byte order mark. Raises FileError."""
    decoder, mark = codecs.getincrementaldecoder(encoding)(), "" if encoding == _UTF_16 else _MARK
    decoded, view = spools.new(), memoryview(text)
    try:
        for start in range(0, max(len(text), 1), _CHUNK):
            characters = decoder.decode(view[start : start + _CHUNK], start + _CHUNK >= len(text))
            decoded.append((characters if len(decoded) else characters.removeprefix(mark)).encode())
    except UnicodeError:
        before, why = _text_before_error(text, encoding)
        encoded = before.encode("utf-8", "replace")
        raise FileError(f"the file is not {encoding}: {why}", 1 + count_line_breaks(encoded, 0, len(encoded))) from None
    return decoded.content()


def _check_utf8(text: FileBytes) -> None:
    if looks_like_unmarked_utf_16(text):  # its NUL bytes are valid UTF-8
        raise FileError(f"the file is not UTF-8: {describe_encoding(text)}", 1)
    view, start = memoryview(text), 0
    while start < len(text):
        stop = start + _CHUNK
        try:
            _, used = codecs.utf_8_decode(view[start:stop], "strict", stop >= len(text))
        except UnicodeDecodeError as error:
            offset = start + error.start
            line = 1 + count_line_breaks(text, 0, offset)
            why = f"byte {text[offset]:#04x} at offset {offset} is not UTF-8: {describe_encoding(text, offset)}"
            raise FileError(why, line) from None
        start += used
