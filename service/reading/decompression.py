"""Read the text of a stored file: decompress it within bounds, and check that it is UTF-8."""

import codecs
import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, Any, Final

from service.reading.diagnostics import FileError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A file that exceeds both is a decompression bomb: gzip reaches 1,026 to 1, records about 10 to 1.
MAX_SIZE: Final = 64 * 2**20
MAX_RATIO: Final = 200
_CHUNK: Final = 2**20
_OPENERS: Final[Mapping[str, Callable[[BytesIO], Any]]] = {"gz": gzip.open, "zst": zstd.open}

_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ADVICE: Final = "save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"
# The first bytes of other kinds of file.
_SIGNATURES: Final = {
    b"\x1f\x8b": "it is compressed with gzip: its name must end in .gz",
    b"\x28\xb5\x2f\xfd": "it is compressed with Zstandard: its name must end in .zst",
    b"PK\x03\x04": "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it",
}


def plain_text(stored: bytes, compression: str | None, encoding: str | None = None) -> bytes:
    """Return the text of a file in UTF-8, without a byte order mark. `compression` is None, "gz" or "zst".

    `encoding` is the declared one. Raises FileError if the compression is damaged, truncated or a bomb, or the text is
    not in its encoding.
    """
    return decode_text(decompress(stored, compression), encoding)


def decode_text(stored: bytes, encoding: str | None = None) -> bytes:
    """Return UTF-8 without a byte order mark. Raises FileError with the line of the first byte that is not UTF-8."""
    if encoding is not None:
        try:
            return stored.decode(encoding).removeprefix("\ufeff").encode()
        except UnicodeError as error:
            raise FileError(f"the file is not {encoding}: {error}") from None
    _check_utf8(stored)
    return stored.removeprefix(codecs.BOM_UTF8)


def count_line_breaks(text: bytes, start: int, stop: int) -> int:
    r"""Return the number of line breaks in `text[start:stop]`: \n, \r or \r\n."""
    feeds, returns = text.count(b"\n", start, stop), text.count(b"\r", start, stop)
    return feeds + returns - (text.count(b"\r\n", start, stop) if returns else 0)


def decompress(stored: bytes, compression: str | None) -> bytes:
    """Return the bytes of a file. Raises FileError if the compression is damaged, truncated or a bomb."""
    if compression is None:
        return stored
    if not stored:  # gzip reads this as an empty text, and a file truncated to nothing would pass
        raise FileError("the compressed file is empty")
    try:
        with _OPENERS[compression](BytesIO(stored)) as stream:
            return read_bounded(stream, stored=len(stored))
    except EOFError:
        raise FileError("the compressed file is truncated") from None
    except (OSError, zlib.error, zstd.ZstdError) as error:
        raise FileError(f"the compressed file is damaged: {error}") from None


def read_bounded(stream: IO[bytes], *, stored: int) -> bytes:
    """Return the content of a compressed stream of `stored` bytes.

    Raises FileError if it is a bomb, and what the stream raises.
    """
    content = BytesIO()
    while chunk := stream.read(_CHUNK):
        content.write(chunk)
        check_size(content.tell(), stored=stored)
    return content.getvalue()


def check_size(decompressed: int, *, stored: int) -> None:
    """Raise FileError if a file of `stored` bytes must not expand to so many."""
    if decompressed > MAX_SIZE and decompressed > MAX_RATIO * stored:
        raise FileError(f"the compressed file expands to more than 64 MiB and {MAX_RATIO} times its size")


def _check_utf8(text: bytes) -> None:
    if _is_utf_16(text):  # its NUL bytes are valid UTF-8
        raise FileError(f"the file is not UTF-8: {_describe_encoding(text)}", 1)
    view, start = memoryview(text), 0
    while start < len(text):
        stop = start + _CHUNK
        try:
            _, used = codecs.utf_8_decode(view[start:stop], "strict", stop >= len(text))
        except UnicodeDecodeError as error:
            offset = start + error.start
            line = 1 + count_line_breaks(text, 0, offset)
            why = f"byte {text[offset]:#04x} at offset {offset} is not UTF-8: {_describe_encoding(text)}"
            raise FileError(why, line) from None
        start += used


def _is_utf_16(text: bytes) -> bool:
    """Return whether a text looks like UTF-16: it has the byte order mark, or one of its first two bytes is NUL."""
    return text.startswith(_UTF_16_MARKS) or text[:2].count(b"\0") == 1


def _describe_encoding(text: bytes) -> str:
    """Return what a text that is not UTF-8 looks like, and what to do."""
    for signature, description in _SIGNATURES.items():
        if text.startswith(signature):
            return description
    encoding = "UTF-16" if _is_utf_16(text) else "Windows-1252 or Latin-1"
    return f"it looks like {encoding}: {_ADVICE}"
