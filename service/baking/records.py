"""Check the records in the rows of a baked table."""

from collections.abc import Iterator
from time import sleep
from typing import Any, Final

import msgspec
import numpy as np

from service.background import Progress
from service.baking.layout import DamagedFile
from service.engine.columns.column import StringArray
from service.engine.facets import read_spellings
from service.engine.table import ROW_END, Table
from service.model.records import ATTRIBUTES, Field, Resource
from service.texts import printable, truncate

NO_RECORD: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ROW_START: Final = b"{"
_RECORD_END: Final = b"}" + ROW_END
_LINE_END: Final = b"\n"  # in no JSON of one line
_RECORDS: Final = 512  # decoded at once: no other thread runs meanwhile, for a third of a millisecond
_TURN_SECONDS: Final = 1e-5  # for other threads, which would wait for 5 ms otherwise


def check_rows(resource: Resource, rows: StringArray, progress: Progress) -> None:
    """Check that each row is a record in JSON, followed by `ROW_END`.

    Many at once, as lines: what begins and ends like an object cannot be parts of one value on several lines. Of
    opening hours only that they are an object: to check all of their times takes ten times as long as the rest.
    """
    others = [(ATTRIBUTES, _without_times(resource, resource.hours))] if resource.hours else []
    strict = msgspec.defstruct("Record", others, bases=(resource.record,), kw_only=True, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(strict)
    for begin in range(0, len(rows), _RECORDS):
        some = rows.part(begin, begin + _RECORDS)
        if not _are_records(decoder, some):
            number, why = next(_invalid(decoder, some))
            raise DamagedFile(f"row {begin + number:,} of {resource.name} is not a record: {why}")
        progress(f"Checking {resource.name}", begin + len(some), len(rows))
        sleep(_TURN_SECONDS)


def _without_times(resource: Resource, hours: Field) -> type[msgspec.Struct]:
    """Return the type of attributes, of which opening hours may be any object."""
    (whole,) = (each.type for each in msgspec.structs.fields(resource.record) if each.name == ATTRIBUTES)
    types = {each.name: each.type for each in msgspec.structs.fields(whole)}
    return msgspec.defstruct("Attributes", list({**types, hours.member: dict[str, msgspec.Raw] | None}.items()))


def _are_records(decoder: msgspec.json.Decoder[Any], rows: StringArray) -> bool:
    data, starts, ends = np.frombuffer(rows.data, np.uint8).copy(), rows.offsets[:-1], rows.offsets[1:]
    if int((ends - starts).min()) < len(_ROW_START) + len(_RECORD_END):
        return False
    places = ((starts, _ROW_START[0]), (ends - 2, _RECORD_END[0]), (ends - 1, _RECORD_END[1]))
    if not all((data.take(place) == byte).all() for place, byte in places):
        return False
    data[ends - 1] = _LINE_END[0]
    try:
        return len(decoder.decode_lines(data.data)) == len(rows)
    except NO_RECORD:
        return False


def _invalid(decoder: msgspec.json.Decoder[Any], rows: StringArray) -> Iterator[tuple[int, str]]:
    """Yield the number of each row that is not a record and a comma, and why."""
    for number, row in enumerate(rows):
        try:
            decoder.decode(row[: -len(ROW_END)])
        except NO_RECORD as error:
            yield number, printable(truncate(str(error)))
        else:
            if not (row.startswith(_ROW_START) and row.endswith(_RECORD_END)):
                yield number, "it is not enclosed in braces, with a comma"


def check_spellings(name: str, table: Table, field: str) -> None:
    """Check that the first record with each text of lists has it, where facets read it. Raises `DamagedFile`."""
    count = len(table.lists[field].keys)
    for begin in range(0, count, _RECORDS):
        try:
            read_spellings(table, field, np.arange(begin, min(begin + _RECORDS, count)))
        except (*NO_RECORD, KeyError):
            raise DamagedFile(f"the {name} are not those of its records") from None
        sleep(_TURN_SECONDS)


def check_identifiers(resource: Resource, table: Table) -> None:
    """Check that each row has the identifier in its column. Raises `DamagedFile`."""
    decode, key = msgspec.json.Decoder(resource.record).decode, table.columns[resource.identifier]
    for number in range(len(table)):
        identifier: str = getattr(decode(table.row(number)), resource.identifier)
        if key.values is not None and key.values[key.codes[number]] != identifier.encode():
            raise DamagedFile(f"row {number} of {resource.name} has another identifier than its column")
