"""Rows as CSV (RFC 4180): cells are quoted only where they must be."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final

import msgspec

from service.engine.column import Rows
from service.engine.row_json import Distances
from service.engine.table import Table
from service.engine.whole_csv import csv_lines
from service.model.kinds import FLAG
from service.model.records import ATTRIBUTES, DISTANCE, Field, Resource

_LINE_END: Final = "\r\n"
_NULL: Final = b"null"
_QUOTED: Final = frozenset('"\r\n')  # besides commas
_FLAGS: Final = {True: "true", False: "false"}

# Decodes a list of records to the values of each member.
Decode = Callable[[bytes], Mapping[str, Sequence[Any]]]


def header(names: Sequence[str]) -> bytes:
    """Return the line of the names of columns, which need no quotes."""
    return f"{','.join(names)}{_LINE_END}".encode()


def lines(table: Table, resource: Resource, names: Sequence[str], rows: Rows, metres: Distances | None) -> bytes:
    """Return some columns of rows, each row followed by a line end; `metres` are the distances, if wanted."""
    if tuple(names) == resource.members:  # which nest no attributes
        whole = csv_lines(*table.rows.joined(rows), resource.members)
        if whole is not None:
            return whole
    return decoded_lines(table, resource, names, rows, metres)


def decoded_lines(
    table: Table, resource: Resource, names: Sequence[str], rows: Rows, metres: Distances | None
) -> bytes:
    """Return the same, by decoding each record."""
    encoded = b"".join((b"[", *table.json(rows), b"]"))
    columns = decoder(resource)(encoded)
    cells = [_distance_cells(metres) if name == DISTANCE else _cells(resource, name, columns[name]) for name in names]
    separators = "".join(resource.field(name).separator for name in names if name != DISTANCE)
    if b"\\" in encoded or len(names) == 1 or _QUOTED.intersection(separators):
        return _written(zip(*cells, strict=True)).encode()
    # Without an escape in the JSON no text has a quote or a line break, and no separator has: only commas need quotes.
    lines = map(",".join, zip(*map(_quoted, cells), strict=True))
    return _LINE_END.join([*lines, ""]).encode()


def _cells(resource: Resource, name: str, values: Sequence[Any]) -> Sequence[str]:
    field = resource.field(name)
    if field.is_list:
        return ["" if value is None else field.separator.join(value) for value in values]
    if field.attribute == "number":
        return ["" if value == _NULL else value.decode() for value in map(bytes, values)]
    if field.kind is FLAG:
        return [_FLAGS.get(value, "") for value in values]
    return [value or "" for value in values] if None in values else values


def _distance_cells(metres: Distances | None) -> Sequence[str]:
    return ["" if each is None else repr(each) for each in metres or ()]


def _quoted(cells: Sequence[str]) -> Sequence[str]:
    return [f'"{cell}"' if "," in cell else cell for cell in cells] if "," in "".join(cells) else cells


class _Lines(list[str]):
    """The lines that a writer writes."""

    write = list.append


def _written(rows: Iterable[tuple[str, ...]]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator=_LINE_END).writerows(rows)
    return "".join(lines)


@cache  # of each resource
def decoder(resource: Resource) -> Decode:
    """Return what decodes records of a resource."""
    names = resource.columns
    attributes = msgspec.defstruct("Attributes", [(each.member, _type(each)) for each in resource.attributes], gc=False)
    own = [(field.name, _type(field), None) for field in resource.fields if field.served and not field.attribute]
    record = msgspec.defstruct("Cells", [*own, (ATTRIBUTES, attributes | None, None)], gc=False)
    decode, values = msgspec.json.Decoder(list[record]).decode, attrgetter(*names)  # type: ignore[valid-type]
    return lambda encoded: dict(zip(names, zip(*map(values, decode(encoded)), strict=True), strict=True))


def _type(field: Field) -> Any:
    """Return the type of the value of a field: a number, which has a decimal's digits, stays JSON."""
    if field.attribute == "number":
        return msgspec.Raw
    return list[str] | None if field.is_list else str | bool | None
