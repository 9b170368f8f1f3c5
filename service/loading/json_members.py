"""The members of JSON records: the fields, and what else there is, which is learned where it is first met."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw

from service.loading.batch import Unused
from service.loading.field_names import MOST_UNUSED
from service.model.kinds import FLAG, NUMBER
from service.model.records import Field

_NULL: Final = Raw(b"null")
_ABSENT: Final = Raw(b"")
_NAMES: Final = msgspec.json.Decoder(dict[str, Raw])
_UNLEARNABLE: Final = re.compile(r'["\\\x00-\x1f]')  # what msgspec does not take in the name of a member


class Members:
    """The decoders of a file's records.

    record  a record, by the cells of its fields in order, and then the raw JSON of its other members
    strict  decodes such a record; refuses (ValidationError) other types, and members that are not known yet
    loose   decodes the same members of any object, each as raw JSON

    To refuse an unknown member costs records without any nothing. Once it is known, it costs its own decoding.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = [field.name for field in fields]
        self._typed = [_member(field) for field in fields]
        self._know({})

    def _know(self, unused: dict[str, int], *, complete: bool = False) -> None:
        """Make decoders that know members which are not fields, by name and line; `complete` ones refuse no others."""
        self._unused, self._complete = unused, complete
        others = [(f"unused_{place}", Raw, _ABSENT) for place in range(len(unused))]
        names = {other[0]: name for other, name in zip(others, unused, strict=True)}
        typed, raw = [*self._typed, *others], [*((name, Raw, _NULL) for name in self._fields), *others]
        self.record: Callable[..., Any] = msgspec.defstruct(
            "Record", typed, rename=names, eq=False, gc=False, forbid_unknown_fields=not complete
        )
        self.strict = msgspec.json.Decoder[Any](self.record)
        self.loose = msgspec.json.Decoder(msgspec.defstruct("Members", raw, rename=names, eq=False, gc=False))

    def meet(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> None:
        """Learn the unknown members of values, up to `MOST_UNUSED` in all; `lines` gives the line of each value."""
        known, places = {*self._fields, *self._unused}, dict[str, int]()
        for place, value in enumerate(() if self._complete else values):
            with suppress(DecodeError, RecursionError):
                places |= {name: place for name in _NAMES.decode(value) if name not in known and name not in places}
        if places:
            line = lines()
            found = {name: line[place] for name, place in places.items() if not _UNLEARNABLE.search(name)}
            unused = [*self._unused.items(), *found.items()]
            complete = len(unused) > MOST_UNUSED or len(found) < len(places)
            self._know(dict(unused[:MOST_UNUSED]), complete=complete)

    def unused(self, columns: Sequence[Sequence[object]]) -> list[Unused]:
        """Return the members that are not fields, given all columns of some records."""
        others = zip(self._unused.items(), columns[len(self._fields) :], strict=True)
        return [Unused(name, line, sum(cell is not _ABSENT for cell in column)) for (name, line), column in others]


def _member(field: Field) -> tuple[str, Any, object]:
    if field.kind is NUMBER:
        return field.name, Raw, _NULL
    return field.name, bool | None if field.kind is FLAG else str | None, None
