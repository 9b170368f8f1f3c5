"""The readers of JSON (RFC 8259): an array of records, an object that holds one, or a record a line."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from io import BytesIO
from itertools import islice
from typing import Final, TypeVar

import msgspec
import numpy as np
from msgspec import DecodeError, Raw, ValidationError

from service.loading.batch import BATCH_SIZE, Batch
from service.loading.faults import RefusedError
from service.loading.json_errors import error_offset, not_json
from service.loading.json_records import RecordDecoder
from service.loading.unpack import count_breaks
from service.records import Resource

_T = TypeVar("_T")
_BLANK: Final = b" \t\r\n"  # RFC 8259 section 2
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")
_NULL: Final = Raw(b"null")
_MISNAMED: Final = "; a file with one record on each line is JSON Lines, and its name ends in .jsonl"


def read_json(text: bytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of a JSON array, or of the array that an object holds under the resource's name.

    Raises RefusedError.
    """
    decoder, finder = RecordDecoder(resource), _LineFinder(text)
    elements = _elements(text, resource.name)
    for start in range(0, len(elements), BATCH_SIZE):
        values = elements[start : start + BATCH_SIZE]
        done = start + len(values)
        lines = cache(partial(finder.lines, values))
        yield decoder.batch(values, lines, first=start + 1, done=done, total=len(elements))


def read_json_lines(text: bytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of JSON lines, empty lines left out. Raises RefusedError with the line that is not JSON."""
    decoder, stream = RecordDecoder(resource), BytesIO(text)
    record, line = 1, 1
    while read := list(islice(stream, BATCH_SIZE)):
        filled = {number: value for number, value in enumerate(read, line) if value.strip(_BLANK)}
        yield decoder.batch(
            list(filled.values()), partial(list, filled), first=record, done=stream.tell(), total=len(text)
        )
        record, line = record + len(filled), line + len(read)


def _elements(text: bytes, name: str) -> list[Raw]:
    try:
        if not _OBJECT.match(text):
            return _decode(text, list[Raw], wanted=f'an array, or an object with an array under "{name}", is needed')
        wanted = f'the object has no array under "{name}"'
        members = _decode(text, dict[str, Raw], wanted=wanted)
        return _decode(members.get(name, _NULL), list[Raw], wanted=wanted)
    except (DecodeError, RecursionError) as error:
        raise _refused(text, error, name) from None


def _decode(text: bytes | Raw, shape: type[_T], *, wanted: str) -> _T:
    try:
        return msgspec.json.decode(text, type=shape)
    except ValidationError:
        raise RefusedError(wanted) from None


def _refused(text: bytes, error: Exception, name: str) -> RefusedError:
    why, offset = not_json(error, text, name), error_offset(error)
    if offset is None:
        return RefusedError(why)
    hint = _MISNAMED if _OBJECT.match(text) and "trailing characters" in why else ""
    return RefusedError(why + hint, 1 + count_breaks(text, 0, offset))


class _LineFinder:
    """Finds the lines on which the values of a text begin, asked for in their order."""

    def __init__(self, text: bytes) -> None:
        self._text, self._start = text, _address(text)
        self._place, self._line = 0, 1

    def lines(self, values: Sequence[Raw]) -> list[int]:
        """Return the line on which each value begins; values are views into the text, as msgspec decodes them."""
        return [self._line_at(_address(value) - self._start) for value in values]

    def _line_at(self, place: int) -> int:
        self._line += count_breaks(self._text, self._place, place)
        self._place = place
        return self._line


def _address(view: bytes | Raw) -> int:
    address: int = np.frombuffer(view, np.uint8).__array_interface__["data"][0]
    return address
