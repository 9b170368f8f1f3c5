"""JSON values as records: decoded by column where all is well, member by member where a type is wrong."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.loading.batch import Batch, Broken, Cell, Mistyped
from service.loading.faults import Flaw, RefusedError
from service.loading.json_errors import not_json
from service.loading.json_members import Members
from service.model.kinds import FLAG, NUMBER, Kind
from service.model.records import Resource

_NO_OBJECT: Final = Flaw("type", "a record is an object")
_FLAGS: Final[dict[bytes, bool | None]] = {b"true": True, b"false": False, b"null": None}
_STRINGS: Final = msgspec.json.Decoder(str)
_TEXTS: Final = msgspec.json.Decoder(list[str | None])
_VALUES: Final = msgspec.json.Decoder(Raw)


class RecordDecoder:
    """Decodes the records of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._kinds = [field.kind for field in resource.fields]
        self._names = [field.name for field in resource.fields]
        self._members = Members(resource.fields)

    def batch(
        self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]], *, first: int, done: int, total: int
    ) -> Batch:
        """Return values as a batch whose first record has number `first`; `lines` gives the line of each value.

        Raises RefusedError where a value is not JSON.
        """
        records = self._decode(values, lines)
        numbers: Sequence[int] = range(first, first + len(records))
        broken: list[Broken] = []
        if None in records:
            whole = [record is not None for record in records]
            broken = [
                Broken(number, line, _NO_OBJECT, bytes(value).decode().strip())
                for number, line, value, sound in zip(numbers, lines(), values, whole, strict=True)
                if not sound
            ]
            records, numbers = list(compress(records, whole)), list(compress(numbers, whole))
            lines = _selected(lines, whole)
        columns = list(zip(*map(astuple, records), strict=True))
        cells = map(_column, self._kinds, columns or [()] * len(self._kinds))
        unused = self._members.unused(columns) if columns else []
        return Batch(numbers, dict(zip(self._names, cells, strict=True)), lines, broken, unused, done, total)

    def _decode(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> list[Any]:
        try:
            return list(map(self._members.strict.decode, values))
        except (DecodeError, RecursionError):
            self._members.meet(values, lines)
            return [self._decode_apart(value, place, lines) for place, value in enumerate(values)]

    def _decode_apart(self, value: Raw | bytes, place: int, lines: Callable[[], Sequence[int]]) -> object:
        try:
            return self._decode_one(value)
        except (DecodeError, RecursionError) as error:
            raise RefusedError(not_json(error, bytes(value)), lines()[place]) from None

    def _decode_one(self, value: Raw | bytes) -> object:
        """Return a record, with Mistyped cells where a type is wrong, or None where the value is no object."""
        try:
            return self._members.strict.decode(value)
        except ValidationError:
            pass
        try:
            members = astuple(self._members.loose.decode(value))
        except ValidationError:
            _VALUES.decode(value)  # the type is told before the rest of the value is looked at
            return None
        return self._members.record(*map(_loose_cell, self._kinds, members), *members[len(self._kinds) :])


def _selected(lines: Callable[[], Sequence[int]], whole: Sequence[bool]) -> Callable[[], Sequence[int]]:
    return lambda: list(compress(lines(), whole))


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


def _text(value: bytes) -> str | Mistyped | None:
    if value.startswith(b'"'):
        return _STRINGS.decode(value) if b"\\" in value else value[1:-1].decode()
    return None if value == b"null" else Mistyped(value.decode())


def _number(value: bytes) -> str | Mistyped | None:
    return value.decode() if value[0] in b"-0123456789" else _text(value)


def _flag(value: bytes) -> bool | Mistyped | None:
    if value in _FLAGS:
        return _FLAGS[value]
    text = _text(value)
    return None if isinstance(text, str) and not text.strip() else Mistyped(value.decode())
