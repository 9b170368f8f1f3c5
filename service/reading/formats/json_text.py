"""The values in a JSON text (RFC 8259): the elements of an array, or one value per line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import Final, TypeVar

import msgspec
import numpy as np
from msgspec import DecodeError, Raw, ValidationError

from service.reading.batch import BATCH_SIZE, Batch
from service.reading.diagnostics import FileError
from service.reading.formats.json_batches import BatchDecoder, check_depth, describe_json_error, error_offset
from service.reading.text import count_line_breaks
from service.spool import FileBytes, open_bytes

_T = TypeVar("_T")
BLANK: Final = b" \t\r\n"  # RFC 8259 section 2
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")
_NULL: Final = Raw(b"null")
_JSON_LINES_HINT: Final = "; a file with one record per line is JSON Lines, and its name must end in .jsonl"


def array_batches(text: FileBytes, elements: Sequence[Raw], decoder: BatchDecoder) -> Iterator[Batch]:
    """Yield the elements of an array in a text, decoded. Raises FileError."""
    finder = LineFinder(text)
    for start in range(0, len(elements), BATCH_SIZE):
        values = elements[start : start + BATCH_SIZE]
        done = start + len(values)
        lines = cache(partial(finder.lines, values))
        yield decoder.batch(values, lines, first=start + 1, done=done, total=len(elements))


def line_batches(text: FileBytes, decoder: BatchDecoder) -> Iterator[Batch]:
    """Yield the lines of a text that are not empty, decoded. Raises FileError with the line that is not JSON."""
    stream = open_bytes(text)
    lines, record = numbered_lines(stream), 1
    while read := dict(islice(lines, BATCH_SIZE)):
        yield decoder.batch(
            list(read.values()), partial(list, tuple(read)), first=record, done=stream.tell(), total=len(text)
        )
        record += len(read)


def numbered_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers."""
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip(BLANK))


def elements(text: FileBytes, name: str) -> list[Raw]:
    """Return the elements of a JSON array, or of the array that is the member `name` of an object. Raises FileError."""
    try:
        if not _OBJECT.match(text):
            return _array(text, f'expected an array, or an object with an array under "{name}"')
        expected = f'the object has no array under "{name}"'
        members = _decode(text, dict[str, Raw], expected=expected)
        array = members.pop(name, _NULL)
        check_depth(members.values())
        return _array(array, expected)
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error, name) from None


def _array(text: FileBytes | Raw, expected: str) -> list[Raw]:
    found = _decode(text, list[Raw], expected=expected)
    check_depth(found)
    return found


def has_array(text: FileBytes, name: str) -> bool:
    """Return whether a text is an object with an array under a name."""
    if text.find(name.encode()) < 0:
        return False
    try:
        value = msgspec.json.decode(text, type=dict[str, Raw]).get(name, _NULL)
    except (DecodeError, RecursionError):  # its reader reports it
        return False
    return bytes(memoryview(value)[:1]) == b"["


def _decode(text: FileBytes | Raw, shape: type[_T], *, expected: str) -> _T:
    try:
        return msgspec.json.decode(text, type=shape)
    except ValidationError:
        raise FileError(expected) from None


def file_error(text: FileBytes, error: Exception, name: str = "", lines_hint: str = _JSON_LINES_HINT) -> FileError:
    """Return why a text is not JSON, with the line. The hint is for a text with one value per line."""
    why, offset = describe_json_error(error, text, name), error_offset(error)
    if offset is None:
        return FileError(why)
    hint = lines_hint if _OBJECT.match(text) and "trailing characters" in why else ""
    return FileError(why + hint, 1 + count_line_breaks(text, 0, offset))


class LineFinder:
    """Finds the lines on which the values of a text begin; fast if they are requested in order."""

    def __init__(self, text: FileBytes) -> None:
        self._text, self._start = text, _address(text)
        self._offset, self._line = 0, 1

    def lines(self, values: Sequence[Raw]) -> list[int]:
        """Return the line on which each value begins; values are views into the text, as msgspec decodes them."""
        return [self._line_at(_address(value) - self._start) for value in values]

    def _line_at(self, offset: int) -> int:
        if offset < self._offset:
            self._offset, self._line = 0, 1
        self._line += count_line_breaks(self._text, self._offset, offset)
        self._offset = offset
        return self._line


def _address(view: FileBytes | Raw) -> int:
    address: int = np.frombuffer(view, np.uint8).__array_interface__["data"][0]
    return address
