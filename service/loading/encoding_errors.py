"""Guess what a file is that is not UTF-8, and say what to do with it."""

import codecs
from typing import Final

_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ADVICE: Final = "save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"
# The first bytes of other kinds of file.
_SIGNATURES: Final = {
    b"\x1f\x8b": "it is compressed with gzip: its name must end in .gz",
    b"\x28\xb5\x2f\xfd": "it is compressed with Zstandard: its name must end in .zst",
    b"PK\x03\x04": "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it",
}


def is_utf_16(text: bytes) -> bool:
    """Return whether a text looks like UTF-16: it has the byte order mark, or one of its first two bytes is NUL."""
    return text.startswith(_UTF_16_MARKS) or text[:2].count(b"\0") == 1


def describe_encoding(text: bytes) -> str:
    """Return what a text that is not UTF-8 looks like, and what to do."""
    for signature, description in _SIGNATURES.items():
        if text.startswith(signature):
            return description
    encoding = "UTF-16" if is_utf_16(text) else "Windows-1252 or Latin-1"
    return f"it looks like {encoding}: {_ADVICE}"
