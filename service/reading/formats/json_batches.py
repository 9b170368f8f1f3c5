"""Decode JSON values into batches; what is decoded of a value is up to the decoder."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
from msgspec import DecodeError, Raw, ValidationError

from service.reading.batch import Batch, Cell, UnreadableRecord, UnusedName
from service.reading.diagnostics import FileError, Issue
from service.spool import FileBytes

_OFFSET: Final = re.compile(r" \(byte ([0-9]+)\)")
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
# A whole object without nested ones, as most records are, which is faster than its tokens; a string, which may contain
# any other token and may be cut off by the end of the text; the punctuation.
_TOKEN: Final = re.compile(rb'\{[^{}"]*+(?:%b[^{}"]*+)*+\}|%b|[\[{,:}\]]' % (_STRING, _STRING), re.DOTALL)
# This close to the end, the decoder reports a lone surrogate as a truncated text.
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}.{0,5}\Z", re.DOTALL)
_BLANK: Final = re.compile(rb"\s*+\Z")
_MAX_NAME: Final = 60  # characters
# How deep arrays and objects may be nested. Decoders stop at a limit of their own, which depends on the Python.
MAX_JSON_DEPTH: Final = 500
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEPS: Final = bytes(set(range(256)) - set(b"[{]}"))


def check_depth(values: Iterable[Raw | FileBytes]) -> None:
    """Raise RecursionError if a JSON value is nested deeper than `MAX_JSON_DEPTH`."""
    for text in (bytes(value) for value in values if len(value) > 2 * MAX_JSON_DEPTH):  # one copy at a time
        if text.count(b"[") + text.count(b"{") > MAX_JSON_DEPTH:
            steps = np.frombuffer(_STRINGS.sub(b"", text).translate(_STEPS, _NO_STEPS), np.int8)
            if steps.cumsum(dtype=np.int32).max(initial=0) > MAX_JSON_DEPTH:
                raise RecursionError("the JSON is nested too deeply")


def error_offset(error: Exception) -> int | None:
    """Return the offset in bytes at which decoding failed, None if the error has none."""
    found = _OFFSET.search(str(error))
    return int(found[1]) if found else None


def describe_json_error(error: Exception, text: FileBytes, name: str = "") -> str:
    """Return why a text is not JSON, from the error of the decoder, with the record and member if they are known.

    The text is an array of records, or an object with that array as its member `name`.
    """
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if _BLANK.match(text):
        return "not valid JSON: the file is empty"
    location = _describe(_path(text, _valid_end(text, error_offset(error))), name)
    if error_offset(error) is None:
        return f"not valid JSON: truncated, or a lone surrogate{location}"
    return f"not valid JSON: {str(error).removeprefix('JSON is malformed: ')}{location}"


def _valid_end(text: FileBytes, offset: int | None) -> int:
    """Return the end of the valid part of a text."""
    if offset is None:
        lone = _LONE_SURROGATE.search(text, max(0, len(text) - _MAX_NAME))
        return lone.start() if lone else len(text)
    # For a misspelled word such as `tru}` the decoder reports the offset after the bracket.
    return offset - text.startswith((b"}", b"]"), offset - 1)


def _describe(path: list[str | int | None], name: str) -> str:
    match path[path[:1] == [name] :]:
        case [int(record), str(member), *_]:
            return f", in record {record}, at {member[:_MAX_NAME]!r}"
        case [int(record), *_]:
            return f", in record {record}"
        case [str(member), *_]:
            return f", at {member[:_MAX_NAME]!r}"
    return ""


def _path(text: FileBytes, stop: int) -> list[str | int | None]:
    """Return the path to an offset: names of members, and numbers of array elements, from 1.

    An object before its first member has None instead. The text before the offset must be valid JSON.
    """
    path: list[str | int | None] = []
    last = b""
    for found in _TOKEN.finditer(text, 0, stop):
        match found[0]:
            case b"[":
                path.append(1)
            case b"{":
                path.append(None)
            case b"," if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case b":" if path:
                path[-1] = last[1:-1].decode(errors="replace")
            case b"]" | b"}" if path:
                path.pop()
                if not path:  # the end of the outermost value
                    break
            case value:
                last = value
    return path


_VALUES: Final = msgspec.json.Decoder(Raw)


class Columns(msgspec.Struct, frozen=True, eq=False):
    """The columns of some records, as in a batch."""

    cells: Mapping[str, Sequence[Cell]]
    unused: Sequence[UnusedName]


class BatchDecoder(ABC):
    """Decodes the values of a file, batch by batch.

    expected  the issue of a value that is no record
    """

    expected: ClassVar = Issue("type", "expected an object")

    @property
    @abstractmethod
    def _decode(self) -> Callable[[Raw | bytes], Any]:
        """What returns a record, or raises ValidationError if a value is none or has members that are not known yet."""

    @abstractmethod
    def _learn(self, values: Sequence[Raw | bytes]) -> None:
        """Learn the unknown members of values, any of which may be no record."""

    @abstractmethod
    def _columns(self, records: Sequence[Any], lines: Callable[[], Sequence[int]]) -> Columns:
        """Return the columns of records; `lines` returns the line of each."""

    def batch(
        self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]], *, first: int, done: int, total: int
    ) -> Batch:
        """Return values as a batch whose first record has number `first`; `lines` returns the line of each value.

        Raises FileError if a value is not JSON.
        """
        records = self.decoded(values, lines)
        _check_depths(values, lines)
        numbers: Sequence[int] = range(first, first + len(records))
        unreadable: list[UnreadableRecord] = []
        if None in records:
            readable = [record is not None for record in records]
            unreadable = [
                UnreadableRecord(number, line, self.expected, bytes(value).decode().strip())
                for number, line, value, is_readable in zip(numbers, lines(), values, readable, strict=True)
                if not is_readable
            ]
            records, numbers = list(compress(records, readable)), list(compress(numbers, readable))
            lines = _selected_lines(lines, readable)
        found = self._columns(records, lines)
        return Batch(numbers, found.cells, lines, unreadable, found.unused, done, total)

    def decoded(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> list[Any]:
        """Return each value as a record, or None if it is not an object. Raises FileError if it is not JSON."""
        try:
            return list(map(self._decode, values))
        except (DecodeError, RecursionError):
            self._learn(values)
            return [self._decode_or_raise(value, index, lines) for index, value in enumerate(values)]

    def _decode_or_raise(self, value: Raw | bytes, index: int, lines: Callable[[], Sequence[int]]) -> Any:
        try:
            return self._decode_one(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, bytes(value)), lines()[index]) from None

    def _decode_one(self, value: Raw | bytes) -> Any:
        try:
            return self._decode(value)
        except ValidationError:
            check_json(value)
            return None


def check_json(value: Raw | bytes) -> None:
    """Raise DecodeError or RecursionError if a value is not JSON: decoders check types before they parse the rest."""
    _VALUES.decode(value)
    check_depth([value])


def _check_depths(values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> None:
    for index in [index for index, length in enumerate(map(len, values)) if length > 2 * MAX_JSON_DEPTH]:
        try:
            check_depth([values[index]])
        except RecursionError as error:
            raise FileError(describe_json_error(error, b""), lines()[index]) from None


def _selected_lines(lines: Callable[[], Sequence[int]], mask: Sequence[bool]) -> Callable[[], Sequence[int]]:
    return lambda: list(compress(lines(), mask))
