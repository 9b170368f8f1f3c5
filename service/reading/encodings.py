"""Encodings of texts: by name, by byte order mark, and those that a text that is not UTF-8 may have."""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import Final

from service.spool import FileBytes

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


def has_utf_16_mark(text: FileBytes) -> bool:
    """Return whether a text begins with the byte order mark of UTF-16."""
    return text.startswith(_UTF_16_MARKS) and not text.startswith(_UTF_32_MARKS)


def looks_like_unmarked_utf_16(text: FileBytes) -> bool:
    """Return whether one of the first two bytes of a text is NUL, as in UTF-16 without a byte order mark."""
    return text[:2].count(b"\0") == 1


def describe_encoding(text: FileBytes, at: int = 0) -> str:
    """Return what a text looks like that is not UTF-8 from some offset on, and what to do."""
    for signature, description in _SIGNATURES.items():
        if text.startswith(signature):
            return description
    if text.startswith(_UTF_32_MARKS):
        encoding, name = "UTF-32", "utf-32"
    elif looks_like_unmarked_utf_16(text):
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
