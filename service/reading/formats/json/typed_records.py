"""Decode JSON values into a batch of records; values of wrong types are decoded member by member."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.model.kinds import FLAG, NUMBER, Kind
from service.model.records import Resource
from service.reading.batches.batch import Cell, UnusedName, WrongType
from service.reading.formats.json.json_batches import BatchDecoder, Columns, check_json
from service.reading.formats.json.unused_members import RecordMembers
from service.reading.values.closed_cells import has_flags, speaks, speaks_by_name

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
        self._watched: dict[str, bool] = {}

    def _columns(self, records: Sequence[Any]) -> Columns:
        columns = list(zip(*map(astuple, records), strict=True))
        cells = map(_column, self._kinds, columns or [()] * len(self._kinds))
        unused = self._members.unused(columns) if columns else []
        watched = {name: self._other(columns, name) for name in self._watch(columns, unused)}
        return Columns(dict(zip(self._names, cells, strict=True)), unused, watched)

    def _watch(self, columns: Sequence[Sequence[Raw]], unused: Sequence[UnusedName]) -> Sequence[str]:
        """Return the unused members that speak of open and closed: by their names, or where they first occur."""
        for name in (each.name for each in unused if self._has_flags and each.name not in self._watched):
            self._watched[name] = speaks_by_name(name) or speaks(name, self._other(columns, name))
        return [each.name for each in unused if self._watched.get(each.name)]

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
