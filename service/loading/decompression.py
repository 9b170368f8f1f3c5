"""The text of a stored file: decompressed within bounds, and proven to be UTF-8."""

import codecs
import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, Final, cast

from service.loading.encoding_errors import describe_foreign, is_utf_16
from service.loading.faults import RefusedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A file that unpacks past both is taken for a bomb: gzip reaches 1,026 to 1, records some 10 to 1.
LARGEST_UNBOUNDED: Final = 64 * 2**20
LARGEST_RATIO: Final = 200
_PIECE: Final = 2**20


def _open_gzip(stored: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=BytesIO(stored)))


def _open_zstd(stored: bytes) -> IO[bytes]:
    return cast("IO[bytes]", zstd.ZstdFile(BytesIO(stored)))


_OPENERS: Final[Mapping[str, Callable[[bytes], IO[bytes]]]] = {"gz": _open_gzip, "zst": _open_zstd}


def unpack(stored: bytes, compression: str | None) -> bytes:
    """Return the text of a file, without a byte order mark. `compression` is None, "gz" or "zst".

    Raises RefusedError where the compression is broken, cut or a bomb, or the text is not UTF-8.
    """
    return read_text(stored if compression is None else _decompress(stored, _OPENERS[compression]))


def read_text(unpacked: bytes) -> bytes:
    """Return UTF-8 without a byte order mark. Raises RefusedError with the line of the first byte that is not UTF-8."""
    _check_utf8(unpacked)
    return unpacked.removeprefix(codecs.BOM_UTF8)


def count_breaks(text: bytes, start: int, stop: int) -> int:
    r"""Return how many lines end between two places of a text, by \n, \r or \r\n."""
    feeds, returns = text.count(b"\n", start, stop), text.count(b"\r", start, stop)
    return feeds + returns - (text.count(b"\r\n", start, stop) if returns else 0)


def _decompress(stored: bytes, opener: Callable[[bytes], IO[bytes]]) -> bytes:
    if not stored:  # gzip takes no bytes for an empty text, and a file cut there would pass
        raise RefusedError("the compressed file is empty")
    unpacked = BytesIO()
    try:
        with opener(stored) as stream:
            while piece := stream.read(_PIECE):
                unpacked.write(piece)
                _check_size(unpacked.tell(), stored=len(stored))
    except EOFError:
        raise RefusedError("the compressed file is cut short") from None
    except (OSError, zlib.error, zstd.ZstdError) as error:
        raise RefusedError(f"the compressed file is damaged: {error}") from None
    return unpacked.getvalue()


def _check_size(unpacked: int, *, stored: int) -> None:
    if unpacked > LARGEST_UNBOUNDED and unpacked > LARGEST_RATIO * stored:
        raise RefusedError(f"the compressed file unpacks to more than 64 MiB and {LARGEST_RATIO} times its size")


def _check_utf8(text: bytes) -> None:
    if is_utf_16(text):  # whose NUL bytes are UTF-8, too
        raise RefusedError(f"the file is not UTF-8: {describe_foreign(text)}", 1)
    view, start = memoryview(text), 0
    while start < len(text):
        stop = start + _PIECE
        try:
            _, used = codecs.utf_8_decode(view[start:stop], "strict", stop >= len(text))
        except UnicodeDecodeError as error:
            place = start + error.start
            line = 1 + count_breaks(text, 0, place)
            why = f"byte {text[place]:#04x} at offset {place} is not UTF-8: {describe_foreign(text)}"
            raise RefusedError(why, line) from None
        start += used
