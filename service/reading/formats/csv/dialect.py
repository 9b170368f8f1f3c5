"""Find the delimiter of a CSV text, by what it says itself or from its header."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from service.files.mapped_bytes import FileBytes
from service.reading.batches.diagnostics import FileError
from service.reading.text.decompression import count_line_breaks

COMMA: Final = ","
DELIMITERS: Final = {COMMA: "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_ALL: Final = "".join(DELIMITERS).encode()
# A quote opens a cell at its beginning only; if it is not closed, the cell is the rest of the text.
_QUOTED_OR_LINE_END: Final = re.compile(rb'(?<![^,;\t|\r\n])"[^"]*+(?:""[^"]*+)*+"?|[\r\n]')
_LINE_END: Final = re.compile(rb"[\r\n]")
_SEPARATOR_LINE: Final = re.compile(r'("?)sep=([^\r\n"])\1(?=[\r\n])', re.IGNORECASE)
_LONGEST_SEPARATOR_LINE: Final = 12  # bytes


def is_delimiter(text: str) -> bool:
    """Return whether a text can be declared as a delimiter: one character, but no letter, digit or quote."""
    return len(text) == 1 and not text.isalnum() and text not in '"\r\n\0'


def separator_line(text: FileBytes, start: int = 0) -> str | None:
    """Return the delimiter that the line at `start` declares: `sep=;`, as in spreadsheets. None: no such line.

    Raises FileError if it cannot be a delimiter.
    """
    match = _SEPARATOR_LINE.match(text[start : start + _LONGEST_SEPARATOR_LINE].decode("utf-8", "replace"))
    if match is not None and not is_delimiter(match[2]):
        raise FileError(f"{match[2]!r} cannot be a delimiter", 1 + count_line_breaks(text, 0, start))
    return match and match[2]


def skip_blank_rows(text: FileBytes, delimiters: bytes, start: int = 0) -> int:
    """Return the offset after the rows at `start` that have no other characters than some delimiters."""
    row = re.compile(rb"[%b\r\n]*" % re.escape(delimiters)).match(text, start)
    end = row.end() if row else start
    return max(start, 1 + text.rfind(b"\n", start, end), 1 + text.rfind(b"\r", start, end))


def find_delimiter(text: FileBytes, finds: Callable[[str], bool], *, quotes: bool = True, start: int = 0) -> str:
    """Return the delimiter of a text, as its header shows: the first row at `start` that has a value.

    `finds` returns whether all required columns are found with a delimiter. A comma with which they are found is the
    delimiter, then the only one outside quotes, then the only one with which they are found. Raises FileError.
    """
    header = _read_header(text, start, _QUOTED_OR_LINE_END if quotes else _LINE_END)
    found = [delimiter for delimiter in DELIMITERS if delimiter.encode() in header.unquoted]
    if found in ([], [COMMA]) or finds(COMMA):
        return COMMA
    fitting = found if len(found) == 1 else list(filter(finds, found))
    if len(fitting) != 1:
        raise FileError(_describe_unclear(found), 1 + count_line_breaks(text, 0, header.start))
    return fitting[0]


def _describe_unclear(found: Sequence[str]) -> str:
    kinds = " and ".join(DELIMITERS[delimiter] for delimiter in found)
    declared = " or ".join(f"delimiter = {_as_toml(delimiter)}" for delimiter in found)
    return f"the header has {kinds}, and which of them delimit columns is unclear: declare {declared} in mapping.toml"


def _as_toml(delimiter: str) -> str:
    return '"\\t"' if delimiter == "\t" else f'"{delimiter}"'


class _RawHeader(msgspec.Struct, frozen=True):
    """The offset of the first row with a value, and its bytes with a quote for each quoted cell."""

    start: int
    unquoted: bytes


def _read_header(text: FileBytes, start: int, tokens: re.Pattern[bytes]) -> _RawHeader:
    row = bytearray()
    start = end = skip_blank_rows(text, _ALL, start)
    for token in tokens.finditer(text, start):
        row += text[end : token.start()]
        end = token.end()
        if not token[0].startswith(b'"'):
            return _RawHeader(start, bytes(row))
        row += b'"'
    return _RawHeader(start, bytes(row) + text[end:])
