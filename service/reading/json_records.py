"""Decode JSON values into a batch of records; values of wrong types are decoded member by member."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.model.kinds import FLAG, NUMBER, Kind
from service.model.records import Resource
from service.reading.batch import Batch, Cell, UnreadableRecord, WrongType
from service.reading.diagnostics import FileError, Issue
from service.reading.json_errors import describe_json_error
from service.reading.json_members import RecordMembers

_NOT_AN_OBJECT: Final = Issue("type", "expected an object")
_FLAGS: Final[dict[bytes, bool | None]] = {b"true": True, b"false": False, b"null": None}
_STRINGS: Final = msgspec.json.Decoder(str)
_TEXTS: Final = msgspec.json.Decoder(list[str | None])
_VALUES: Final = msgspec.json.Decoder(Raw)


class RecordDecoder:
    """Decodes the records of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._kinds = [field.kind for field in resource.fields]
        self._names = [field.name for field in resource.fields]
        self._members = RecordMembers(resource.fields)

    def batch(
        self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]], *, first: int, done: int, total: int
    ) -> Batch:
        """Return values as a batch whose first record has number `first`; `lines` returns the line of each value.

        Raises FileError if a value is not JSON.
        """
        records = self._decode(values, lines)
        numbers: Sequence[int] = range(first, first + len(records))
        unreadable: list[UnreadableRecord] = []
        if None in records:
            is_object = [record is not None for record in records]
            unreadable = [
                UnreadableRecord(number, line, _NOT_AN_OBJECT, bytes(value).decode().strip())
                for number, line, value, readable in zip(numbers, lines(), values, is_object, strict=True)
                if not readable
            ]
            records, numbers = list(compress(records, is_object)), list(compress(numbers, is_object))
            lines = _selected_lines(lines, is_object)
        columns = list(zip(*map(astuple, records), strict=True))
        cells = map(_column, self._kinds, columns or [()] * len(self._kinds))
        unused = self._members.unused(columns) if columns else []
        return Batch(numbers, dict(zip(self._names, cells, strict=True)), lines, unreadable, unused, done, total)

    def _decode(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> list[Any]:
        try:
            return list(map(self._members.strict.decode, values))
        except (DecodeError, RecursionError):
            self._members.learn(values, lines)
            return [self._decode_or_raise(value, index, lines) for index, value in enumerate(values)]

    def _decode_or_raise(self, value: Raw | bytes, index: int, lines: Callable[[], Sequence[int]]) -> object:
        try:
            return self._decode_one(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, bytes(value)), lines()[index]) from None

    def _decode_one(self, value: Raw | bytes) -> object:
        """Return a record, with WrongType cells for wrong types, or None if the value is not an object."""
        try:
            return self._members.strict.decode(value)
        except ValidationError:
            pass
        try:
            members = astuple(self._members.loose.decode(value))
        except ValidationError:
            _VALUES.decode(value)  # types are checked before the rest is parsed: raise DecodeError if that is malformed
            return None
        return self._members.record(*map(_loose_cell, self._kinds, members), *members[len(self._kinds) :])


def _selected_lines(lines: Callable[[], Sequence[int]], mask: Sequence[bool]) -> Callable[[], Sequence[int]]:
    return lambda: list(compress(lines(), mask))


def _column(kind: Kind, members: Sequence[Any]) -> Sequence[Cell]:
    if kind is not NUMBER:
        return members
    try:
        return _TEXTS.decode(b"[" + b",".join(members) + b"]")
    except ValidationError:
        return [_number(bytes(member)) for member in members]


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
