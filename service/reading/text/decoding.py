"""Decode texts to UTF-8: from UTF-16 with a byte order mark, or from an encoding with a declared name."""

import codecs
from typing import Final

from service.files.mapped_bytes import FileBytes
from service.files.spool import Spools

_CHUNK: Final = 2**20  # bytes; so that no second copy of a large file is in memory
_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_32_MARKS: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF_16: Final = "utf-16"  # the codec removes the mark
_MARK: Final = "\ufeff"
_UTF_8: Final = frozenset({"utf-8", "utf-8-sig"})
# Codecs of Python that are not encodings of files: of names, literals and mail, and one that always raises. UTF-7 is
# decoded from the beginning of an escape sequence with each chunk: that takes the square of its length.
_NOT_OF_FILES: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
# The first bytes of other kinds of file.
_SIGNATURES: Final = {
    b"\x1f\x8b": "it is compressed with gzip: its name must end in .gz",
    b"\x28\xb5\x2f\xfd": "it is compressed with Zstandard: its name must end in .zst",
    b"PK\x03\x04": "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it",
}


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


def encoding_to_decode(text: FileBytes, declared: str | None) -> str | None:
    """Return the encoding that a text must be decoded from, None for UTF-8. A byte order mark wins.

    Raises ValueError if the declared one is unknown.
    """
    known = None if declared is None else parse_encoding(declared)
    if has_utf_16_mark(text):
        return _UTF_16
    return None if known in _UTF_8 or text.startswith(codecs.BOM_UTF8) else known


def has_utf_16_mark(text: FileBytes) -> bool:
    """Return whether a text begins with the byte order mark of UTF-16."""
    return text.startswith(_UTF_16_MARKS) and not text.startswith(_UTF_32_MARKS)


def transcode(text: FileBytes, encoding: str, spools: Spools) -> FileBytes:
    """Return a text transcoded to UTF-8, without a byte order mark. Raises UnicodeError."""
    decoder, mark = codecs.getincrementaldecoder(encoding)(), "" if encoding == _UTF_16 else _MARK
    decoded, view = spools.new(), memoryview(text)
    for start in range(0, max(len(text), 1), _CHUNK):
        characters = decoder.decode(view[start : start + _CHUNK], start + _CHUNK >= len(text))
        decoded.append((characters if len(decoded) else characters.removeprefix(mark)).encode())
    return decoded.content()


def text_before_error(text: FileBytes, encoding: str) -> tuple[str, str]:
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


def looks_like_unmarked_utf_16(text: FileBytes) -> bool:
    """Return whether one of the first two bytes of a text is NUL, as in UTF-16 without a byte order mark."""
    return text[:2].count(b"\0") == 1


def describe_encoding(text: FileBytes) -> str:
    """Return what a text that is not UTF-8 looks like, and what to do."""
    for signature, description in _SIGNATURES.items():
        if text.startswith(signature):
            return description
    encoding, name = _probable_encoding(text)
    declare = f"declare it (--encoding {name}), or save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"
    return f"it looks like {encoding}: {declare}"


def _probable_encoding(text: FileBytes) -> tuple[str, str]:
    if text.startswith(_UTF_32_MARKS):
        return "UTF-32", "utf-32"
    if looks_like_unmarked_utf_16(text):
        return "UTF-16 without a byte order mark", "utf-16-be" if text[0] == 0 else "utf-16-le"
    return "Windows-1252 or Latin-1", "windows-1252"
