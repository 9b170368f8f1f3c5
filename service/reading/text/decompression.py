"""Read the text of a stored file: decompress it within bounds, and decode it to UTF-8."""

import codecs
import gzip
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any, Final
from zipfile import BadZipFile

from service.files.mapped_bytes import FileBytes, open_bytes
from service.files.spool import SpoolError, Spools
from service.reading.batches.diagnostics import FileError
from service.reading.text.decoding import (
    describe_encoding,
    encoding_to_decode,
    has_utf_16_mark,
    looks_like_unmarked_utf_16,
    text_before_error,
    transcode,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A file that exceeds both is a decompression bomb: gzip reaches 1,026 to 1, records about 10 to 1.
MAX_SIZE: Final = 64 * 2**20
MAX_RATIO: Final = 200
_CHUNK: Final = 2**20
_LONGEST_MARK: Final = 4  # bytes, that of UTF-32
_OPENERS: Final[Mapping[str, Callable[[IO[bytes]], Any]]] = {"gz": gzip.open, "zst": zstd.open}

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
    with open_bytes(stored) as file, _OPENERS[compression](file) if compression else file as stream:
        return "UTF-16" if has_utf_16_mark(stream.read(_LONGEST_MARK)) else None


def decode_text(stored: FileBytes, encoding: str | None = None, spools: Spools | None = None) -> FileBytes:
    """Return UTF-8 without a byte order mark. Raises FileError with the line of the first byte that is not valid.

    A text is UTF-8, UTF-16 with a byte order mark, or in the declared encoding.
    """
    try:
        source = encoding_to_decode(stored, encoding)
    except ValueError as error:
        raise FileError(str(error)) from None
    if source is not None:
        return _transcode(stored, source, spools or Spools())
    _check_utf8(stored)
    if not stored.startswith(codecs.BOM_UTF8):
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
        with _OPENERS[compression](open_bytes(stored)) as stream:
            return read_bounded(stream, stored=len(stored), spools=spools)
    except EOFError:
        raise FileError("the compressed file is truncated") from None
    except SpoolError:
        raise
    except (OSError, zlib.error, zstd.ZstdError) as error:
        raise FileError(f"the compressed file is damaged: {error}") from None


def read_bounded(stream: IO[bytes], *, stored: int, spools: Spools | None = None) -> FileBytes:
    """Return the content of a compressed stream of `stored` bytes, in a spool if it is large.

    Raises FileError if it is a bomb, and what the stream raises.
    """
    content = (spools or Spools()).new()
    while chunk := stream.read(_CHUNK):
        content.append(chunk)
        check_size(len(content), stored=stored)
    return content.content()


def check_size(decompressed: int, *, stored: int) -> None:
    """Raise FileError if `stored` bytes expand to more than the limit."""
    if decompressed > MAX_SIZE and decompressed > MAX_RATIO * stored:
        raise FileError(f"the compressed file expands to more than 64 MiB and {MAX_RATIO} times its size")


def _transcode(text: FileBytes, encoding: str, spools: Spools) -> FileBytes:
    try:
        return transcode(text, encoding, spools)
    except UnicodeError:
        before, why = text_before_error(text, encoding)
    encoded = before.encode("utf-8", "replace")
    raise FileError(f"the file is not {encoding}: {why}", 1 + count_line_breaks(encoded, 0, len(encoded)))


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
            why = f"byte {text[offset]:#04x} at offset {offset} is not UTF-8: {describe_encoding(text)}"
            raise FileError(why, line) from None
        start += used
