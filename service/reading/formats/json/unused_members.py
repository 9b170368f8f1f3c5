"""Decoders for JSON records that learn the names of unknown members as they occur."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw

from service.model.kinds import FLAG, NUMBER
from service.model.records import Field
from service.reading.batches.batch import UnusedName
from service.reading.fields.field_names import MAX_UNUSED

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
