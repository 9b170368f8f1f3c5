"""Texts of data files: copied, decompressed within bounds, and decoded to UTF-8; which encodings others may have."""

import codecs
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import BadZipFile

from service.files import CompressionError, check_regular, decompressed
from service.reading.diagnostics import FileError
from service.spool import FileBytes, SpoolError, Spools, open_bytes

_CHUNK: Final = 2**20  # bytes; so that no second copy of a large file is in memory
_UTF_16: Final = "utf-16"  # the codec removes the mark
_MARK: Final = "\ufeff"
# A file that exceeds both is a decompression bomb: gzip reaches 1,026 to 1, records about 10 to 1.
MAX_SIZE: Final = 64 * 2**20
MAX_RATIO: Final = 200
_LONGEST_MARK: Final = 4  # bytes, that of UTF-32
# zipfile raises all of these for damaged archives, and NotImplementedError, which is a RuntimeError.
ZIP_DAMAGE: Final = (BadZipFile, EOFError, OSError, OverflowError, RuntimeError, ValueError, struct.error, zlib.error)
_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_32_MARKS: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# Codecs of Python that are not encodings of files: of names, literals and mail, and one that always raises. UTF-7 is
# decoded from the beginning of an escape sequence with each chunk: that takes the square of its length.
_NOT_OF_FILES: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
# The first bytes of other kinds of file.
_SIGNATURES: Final = {
    b"\x1f\x8b": "it is compressed with gzip: its name must end in .gz",
    b"\x28\xb5\x2f\xfd": "it is compressed with Zstandard: its name must end in .zst",
    b"PK\x03\x04": "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it",
}
_SAMPLE: Final = 2**14  # bytes before and after an error that are tried in other encodings
_MOST_WRONG: Final = 0.1  # of the characters beyond ASCII
_LONGEST_RUN: Final = 4  # letters beyond ASCII one after the other, in scripts that have few
_WESTERN: Final = "windows-1252"
_NOT_ASCII: Final = re.compile(r"[^\0-\x7f]+")
_NOT_ASCII_BYTE: Final = re.compile(rb"[^\0-\x7f]")
_WORD: Final = re.compile(r"(?:[a-zA-Z]|[^\0-\x7f])+")
_SIGNS: Final = ("LEFT", "RIGHT", "EN DASH", "EM DASH", "EURO", "DEGREE", "NO-BREAK", "MIDDLE DOT", "HORIZONTAL E")
_LATIN: Final = ("LATIN", "MASCULINE", "FEMININE", "INVERTED", *_SIGNS)
_CHINESE: Final = ("CJK", "FULLWIDTH", "IDEOGRAPHIC", "LEFT", "RIGHT")
# Encoding -> what is written in it, and how the names of its letters and signs begin.
_SCRIPTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    _WESTERN: ("Western European", _LATIN),
    "windows-1250": ("Central European", _LATIN),
    "iso-8859-2": ("Central European", _LATIN),
    "windows-1254": ("Turkish", _LATIN),
    "windows-1257": ("Baltic", _LATIN),
    "cp850": ("Western European, DOS", _LATIN),
    "cp852": ("Central European, DOS", _LATIN),
    "mac-roman": ("Western European, Macintosh", _LATIN),
    "windows-1251": ("Cyrillic", ("CYRILLIC", "NUMERO", *_SIGNS)),
    "koi8-r": ("Cyrillic", ("CYRILLIC",)),
    "cp866": ("Cyrillic, DOS", ("CYRILLIC", "NUMERO")),
    "windows-1253": ("Greek", ("GREEK", *_SIGNS)),
    "windows-1255": ("Hebrew", ("HEBREW", *_SIGNS)),
    "windows-1256": ("Arabic", ("ARABIC", *_SIGNS)),
    "cp874": ("Thai", ("THAI",)),
    "shift_jis": ("Japanese", ("HIRAGANA", "KATAKANA", "HALFWIDTH", *_CHINESE)),
    "euc-jp": ("Japanese", ("HIRAGANA", "KATAKANA", *_CHINESE)),
    "gb18030": ("Chinese", _CHINESE),
    "big5": ("Chinese", _CHINESE),
    "cp949": ("Korean", ("HANGUL", *_CHINESE)),
}
_ICELANDIC: Final = frozenset("\xd0\xde\xf0\xfe")  # Turkish in its encoding


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
    try:
        codecs.getincrementaldecoder(encoding)().decode(text[:], final=True).encode()
    except UnicodeDecodeError as error:
        why = f"byte {text[error.start]:#04x} at offset {error.start}: {error.reason}"
        return text[: error.start].decode(encoding, "replace"), why
    except UnicodeError as error:  # UTF-16 without a byte order mark, of which neither order is declared
        return "", str(error)
    return "", "it cannot be decoded"


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
    return "UTF-16" if _has_utf_16_mark(b"".join(islice(parts, _LONGEST_MARK))) else None  # a part may be one byte


def decode_text(stored: FileBytes, encoding: str | None = None, spools: Spools | None = None) -> FileBytes:
    """Return UTF-8 without a byte order mark. Raises FileError with the line of the first byte that is not valid.

    A text is UTF-8, UTF-16 with a byte order mark, or in the declared encoding: a mark wins.
    """
    try:
        known = None if encoding is None else parse_encoding(encoding)
    except ValueError as error:
        raise FileError(str(error)) from None
    if _has_utf_16_mark(stored):
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
    if _looks_like_unmarked_utf_16(text):  # its NUL bytes are valid UTF-8
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


def parse_encoding(name: str) -> str:
    """Return the usual name of a text encoding that Python knows: `windows-1252` → `cp1252`. Raises ValueError."""
    try:
        known = codecs.lookup(name).name
        b" ".decode(known, "replace")
        codecs.getincrementaldecoder(known)
    except (LookupError, ValueError):
        known = ""
    if not known or known.replace("_", "-") in _NOT_OF_FILES:
        raise ValueError(f"{name!r} is not the name of an encoding, such as windows-1252 or utf-16-le")
    return known


def _has_utf_16_mark(text: FileBytes) -> bool:
    return text.startswith(_UTF_16_MARKS) and not text.startswith(_UTF_32_MARKS)


def _looks_like_unmarked_utf_16(text: FileBytes) -> bool:
    """Return whether one of the first two bytes of a text is NUL, as in UTF-16 without a byte order mark."""
    return text[:2].count(b"\0") == 1


def describe_encoding(text: FileBytes, at: int = 0) -> str:
    """Return what a text looks like that is not UTF-8 from some offset on, and what to do."""
    for signature, description in _SIGNATURES.items():
        if text.startswith(signature):
            return description
    if text.startswith(_UTF_32_MARKS):
        encoding, name = "UTF-32", "utf-32"
    elif _looks_like_unmarked_utf_16(text):
        encoding, name = "UTF-16 without a byte order mark", "utf-16-be" if text[0] == 0 else "utf-16-le"
    elif _NOT_ASCII_BYTE.search(text, 0, max(text.rfind(b"\n", 0, at), text.rfind(b"\r", 0, at), 0)):
        return "lines before are, so correct this one"
    elif not (plausible := dict(plausible_encodings(text[max(0, at - _SAMPLE) : at + _SAMPLE]))):
        return f"it is in an encoding that is not known, or damaged: {_declare('NAME')}"
    elif [*plausible] == [_WESTERN]:
        encoding, name = "Windows-1252 or Latin-1", _WESTERN
    else:
        listed = ", ".join(f"{name} ({script})" for name, script in plausible.items())
        return f"by its bytes it may be {listed}: {_declare('NAME')}"
    return f"it looks like {encoding}: {_declare(name)}"


def _declare(name: str) -> str:
    return f"declare it (--encoding {name}), or save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"


def plausible_encodings(sample: bytes) -> Iterator[tuple[str, str]]:
    """Yield the encodings in which a part of a text is words of their script, Windows-1252 alone if it is one.

    Most of the characters beyond ASCII are letters of the script, and no capital follows a small letter.
    """
    for name, (script, prefixes) in _SCRIPTS.items():
        words = [word for word in _WORD.findall(sample.decode(name, "replace")) if not word.isascii()]
        letters = [each for each in "".join(words) if not each.isascii()]
        wrong = sum(not unicodedata.name(each, "").startswith(prefixes) for each in letters)
        for before, after in chain.from_iterable(map(pairwise, words)):
            mixed = prefixes is not _LATIN and before.isascii() != after.isascii()
            wrong += mixed or (before.islower() and after.isupper())
        if prefixes is _LATIN:  # few letters are beyond ASCII, and hardly any word has no others
            wrong += sum(len(word) for word in words if len(word) > 1 and _NOT_ASCII.fullmatch(word))
            wrong += sum(len(run) for run in _NOT_ASCII.findall(" ".join(words)) if len(run) > _LONGEST_RUN)
            wrong += len(letters) * ("\xf8" in letters and not set("\xec\xed\xe8\xf9").isdisjoint(letters))
        if letters and wrong <= _MOST_WRONG * len(letters):
            yield name, script
            if name == _WESTERN and _ICELANDIC.isdisjoint(letters):
                return
