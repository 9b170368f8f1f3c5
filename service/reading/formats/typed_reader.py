"""Read JSON (RFC 8259): an array of records, an object with that array, or one record per line."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.model.kinds import FLAG, NUMBER, Kind
from service.model.records import Field, Resource
from service.reading.batch import BATCH_SIZE, Batch, Cell, UnusedName, WrongType
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.columns.flags import has_flags, is_status_name, mentions_status
from service.reading.diagnostics import FileError
from service.reading.formats.json_batches import (
    BatchDecoder,
    Columns,
    check_depth,
    check_json,
    describe_json_error,
    error_offset,
)
from service.reading.text import count_line_breaks
from service.spool import FileBytes, open_bytes

_NULL: Final = Raw(b"null")
_ABSENT: Final = Raw(b"")
_NAMES: Final = msgspec.json.Decoder(dict[str, Raw])
_UNLEARNABLE: Final = re.compile(r'["\\\x00-\x1f]')  # msgspec does not accept these in the name of a member


class RecordMembers:
    """The decoders of the records of a file.

    record  the type of a record: the cells of its fields in order, then the raw JSON of its known unused members
    strict  decodes such a record; raises ValidationError for wrong types, and for members that are not known yet
    loose   decodes the same members of any object, each as raw JSON

    Raising for unknown members is free for records without any. A known unused member costs only its own decoding.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = [field.name for field in fields]
        self._typed = [_member(field) for field in fields]
        self._build_decoders({})

    def _build_decoders(self, unused: dict[str, int], *, complete: bool = False) -> None:
        """Build decoders for fields and unused members (name -> line); `complete` ones ignore all other members."""
        self._unused, self._complete = unused, complete
        others = [(f"unused_{index}", Raw, _ABSENT) for index in range(len(unused))]
        names = {other[0]: name for other, name in zip(others, unused, strict=True)}
        typed, raw = [*self._typed, *others], [*((name, Raw, _NULL) for name in self._fields), *others]
        self.record: Callable[..., Any] = msgspec.defstruct(
            "Record", typed, rename=names, eq=False, gc=False, forbid_unknown_fields=not complete
        )
        self.strict = msgspec.json.Decoder[Any](self.record)
        self.loose = msgspec.json.Decoder(msgspec.defstruct("Members", raw, rename=names, eq=False, gc=False))

    def learn(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> None:
        """Learn the unknown members of values, up to `MAX_UNUSED` per file; `lines` returns the line of each value."""
        known, first = {*self._fields, *self._unused}, dict[str, int]()
        for index, value in enumerate(() if self._complete else values):
            with suppress(DecodeError, RecursionError):
                first |= {name: index for name in _NAMES.decode(value) if name not in known and name not in first}
        if first:
            line = lines()
            found = {name: line[index] for name, index in first.items() if not _UNLEARNABLE.search(name)}
            unused = [*self._unused.items(), *found.items()]
            complete = len(unused) > MAX_UNUSED or len(found) < len(first)
            self._build_decoders(dict(unused[:MAX_UNUSED]), complete=complete)

    def unused(self, columns: Sequence[Sequence[object]]) -> list[UnusedName]:
        """Return the members that are not fields, from all columns of some records."""
        others = zip(self._unused.items(), columns[len(self._fields) :], strict=True)
        return [UnusedName(name, line, sum(cell is not _ABSENT for cell in column)) for (name, line), column in others]

    def values(self, columns: Sequence[Sequence[Raw]], name: str) -> list[Raw]:
        """Return the values of a member that is not a field, from all columns of some records."""
        return [value or _NULL for value in columns[len(self._fields) + list(self._unused).index(name)]]


def _member(field: Field) -> tuple[str, Any, object]:
    if field.kind is NUMBER:
        return field.name, Raw, _NULL
    return field.name, bool | None if field.kind is FLAG else str | None, None


_FLAGS: Final[dict[bytes, bool | None]] = {b"true": True, b"false": False, b"null": None}
_STRINGS: Final = msgspec.json.Decoder(str)
_TEXTS: Final = msgspec.json.Decoder(list[str | None])


class RecordDecoder(BatchDecoder):
    """Decodes the records of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._kinds = [field.kind for field in resource.fields]
        self._names = [field.name for field in resource.fields]
        self._members = RecordMembers(resource.fields)
        self._has_flags = has_flags(resource)
        self._status_columns: dict[str, bool] = {}

    def _columns(self, records: Sequence[Any]) -> Columns:
        columns = list(zip(*map(astuple, records), strict=True))
        cells = map(_column, self._kinds, columns or [()] * len(self._kinds))
        unused = self._members.unused(columns) if columns else []
        status_columns = {name: self._other(columns, name) for name in self._watch(columns, unused)}
        return Columns(dict(zip(self._names, cells, strict=True)), unused, status_columns)

    def _watch(self, columns: Sequence[Sequence[Raw]], unused: Sequence[UnusedName]) -> Sequence[str]:
        """Return the unused members that speak of open and closed: by their names, or where they first occur."""
        for name in (each.name for each in unused if self._has_flags and each.name not in self._status_columns):
            self._status_columns[name] = is_status_name(name) or mentions_status(name, self._other(columns, name))
        return [each.name for each in unused if self._status_columns.get(each.name)]

    def _other(self, columns: Sequence[Sequence[Raw]], name: str) -> Sequence[Cell]:
        return any_column(self._members.values(columns, name))

    def decoded(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> list[Any]:
        """Return the records: all at once if that succeeds, which is faster. Raises FileError."""
        try:
            return list(map(self._members.strict.decode, values))
        except (DecodeError, RecursionError):
            self._members.learn(values, lines)
            return super().decoded(values, lines)

    def _decode_one(self, value: Raw | bytes) -> Any:
        """Return a record, with WrongType cells for wrong types, or None if the value is not an object."""
        try:
            return self._members.strict.decode(value)
        except ValidationError:
            pass
        try:
            members = astuple(self._members.loose.decode(value))
        except ValidationError:
            check_json(value)
            return None
        return self._members.record(*map(_loose_cell, self._kinds, members), *members[len(self._kinds) :])


def any_column(values: Sequence[Raw]) -> Sequence[Cell]:
    """Return values of any type as cells: numbers as they are written, arrays and objects as a wrong type."""
    try:
        return _TEXTS.decode(b"[" + b",".join(values) + b"]")
    except ValidationError:
        return [_any_cell(bytes(value)) for value in values]


def _column(kind: Kind, members: Sequence[Any]) -> Sequence[Cell]:
    if kind is not NUMBER:
        return members
    try:
        return _TEXTS.decode(b"[" + b",".join(members) + b"]")
    except ValidationError:
        return [_number(bytes(member)) for member in members]


def _any_cell(value: bytes) -> Cell:
    return _FLAGS[value] if value in _FLAGS else _number(value)


def _loose_cell(kind: Kind, member: Raw) -> Raw | Cell:
    if kind is NUMBER:
        return member
    return _flag(bytes(member)) if kind is FLAG else _text(bytes(member))


def _text(value: bytes) -> str | WrongType | None:
    if value.startswith(b'"'):
        return _STRINGS.decode(value) if b"\\" in value else value[1:-1].decode()
    return None if value == b"null" else WrongType(value.decode())


def _number(value: bytes) -> str | WrongType | None:
    return value.decode() if value[0] in b"-0123456789" else _text(value)


def _flag(value: bytes) -> bool | WrongType | None:
    if value in _FLAGS:
        return _FLAGS[value]
    text = _text(value)
    return None if isinstance(text, str) and not text.strip() else WrongType(value.decode())


_T = TypeVar("_T")
BLANK: Final = b" \t\r\n"  # RFC 8259 section 2
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")

_JSON_LINES_HINT: Final = "; a file with one record per line is JSON Lines, and its name must end in .jsonl"


def read_json(text: FileBytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of a JSON array, or of the array that is the member of an object named like the resource.

    Raises FileError.
    """
    return array_batches(text, elements(text, resource.name), RecordDecoder(resource))


def read_json_lines(text: FileBytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of JSON Lines; empty lines are skipped. Raises FileError with the line that is not JSON."""
    return line_batches(text, RecordDecoder(resource))


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
    record, line = 1, 1
    while read := list(islice(stream, BATCH_SIZE)):
        has_data = {number: value for number, value in enumerate(read, line) if value.strip(BLANK)}
        yield decoder.batch(
            list(has_data.values()), partial(list, tuple(has_data)), first=record, done=stream.tell(), total=len(text)
        )
        record, line = record + len(has_data), line + len(read)


def elements(text: FileBytes, name: str) -> list[Raw]:
    """Return the elements of a JSON array, or of the array that is the member `name` of an object. Raises FileError."""
    try:
        if not _OBJECT.match(text):
            return _decode(text, list[Raw], expected=f'expected an array, or an object with an array under "{name}"')
        expected = f'the object has no array under "{name}"'
        members = _decode(text, dict[str, Raw], expected=expected)
        for member in members.keys() - {name}:
            check_depth(members[member])
        return _decode(members.get(name, _NULL), list[Raw], expected=expected)
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error, name) from None


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
