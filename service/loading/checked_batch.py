"""Check the records of a batch: the rows of the valid ones, and the keys and issues of all."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from itertools import compress
from typing import Any, Final, TypeVar

import msgspec

from service.loading.checks import PARENT, CheckedColumn, check_column
from service.loading.searched_texts import searched_texts
from service.model.records import COMPANIES, Resource
from service.reading.batch import Cell
from service.reading.diagnostics import Issue

_T = TypeVar("_T")
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class CheckedBatch(msgspec.Struct, frozen=True, eq=False):
    """What is known of a batch without the others.

    valid     for each record, whether its fields have no errors
    lines     the rows of the valid records, each followed by a comma and a line break
    keys      field -> the normalized keys of all records, in the format of `join_keys`
    texts     searched field whose keys have other words -> its texts, in the same format
    errors    field that has some -> cell -> its error; the record is not served
    warnings  field that has some -> cell -> its warning; the record is served
    """

    valid: list[bool]
    lines: bytes
    keys: dict[str, bytes]
    texts: dict[str, bytes]
    errors: dict[str, dict[Cell, Issue]]
    warnings: dict[str, dict[Cell, Issue]]


class BatchChecker:
    """Checks batches of one resource.

    resource   the resource
    companies  the identifiers of served companies; None skips checks against them
    """

    def __init__(self, resource: Resource, companies: AbstractSet[str] | None) -> None:
        self.resource, self.companies = resource, companies
        self._references = {COMPANIES.identifier, PARENT} - {resource.identifier}
        # It encodes as the record does, but is built from positional arguments: three times as fast.
        self._row = msgspec.defstruct("Row", [(name, Any) for name in resource.record.__struct_fields__], gc=False)

    def check(self, cells: Mapping[str, Sequence[Cell]]) -> CheckedBatch:
        """Return the records with some cells by field, checked."""
        columns = {
            field.name: check_column(
                field, cells[field.name], self.companies if field.name in self._references else None
            )
            for field in self.resource.fields
        }
        valid = _valid(columns.values(), len(cells[self.resource.identifier]))
        return CheckedBatch(
            valid,
            self._encode(columns, valid),
            {name: column.keys for name, column in columns.items()},
            dict(searched_texts(columns.values())),
            {name: dict(column.errors) for name, column in columns.items() if column.errors},
            {name: dict(column.warnings) for name, column in columns.items() if column.warnings},
        )

    def _encode(self, columns: Mapping[str, CheckedColumn], valid: Sequence[bool]) -> bytes:
        names = self.resource.record.__struct_fields__
        rows = list(map(self._row, *[selected(columns[name].values, valid) for name in names]))
        return _encode_lines(rows).replace(b"\n", b",\n")


def selected(items: Sequence[_T], mask: Sequence[bool]) -> Sequence[_T]:
    """Return the items where the mask is true."""
    return items if all(mask) else list(compress(items, mask))


def _valid(columns: Iterable[CheckedColumn], count: int) -> list[bool]:
    """Return for each of some records whether its fields have no errors."""
    valid = [True] * count
    for column in columns:
        if column.errors:
            valid = [each and cell not in column.errors for each, cell in zip(valid, column.cells, strict=True)]
    return valid
