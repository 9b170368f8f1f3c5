"""Check a batch of records, and encode what is valid: all of loading that needs nothing of other batches."""

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from itertools import compress
from typing import Any, Final

import msgspec

from service.loading.checks import PARENT, CheckedColumn, check_column
from service.loading.searched_texts import searched_texts
from service.model.records import COMPANIES, Resource
from service.reading.batches.batch import Cell, expand

Cells = Mapping[str, Sequence[Cell]]
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class CheckedBatch(msgspec.Struct, frozen=True, eq=False):
    """A batch of records, checked.

    columns  its fields, in order
    rows     a line of JSON for each record, empty if it is invalid
    texts    those that are searched instead of keys
    """

    columns: Sequence[CheckedColumn]
    rows: bytes
    texts: Mapping[str, bytes]


class BatchChecker:
    """Checks and encodes batches of records of a resource."""

    def __init__(self, resource: Resource, companies: AbstractSet[str] | None) -> None:
        """`companies` are the identifiers of served companies; None skips checks against them."""
        self._resource, self._companies = resource, companies
        self._references = {COMPANIES.identifier, PARENT} - {resource.identifier}
        # It encodes as the record does, but is built from positional arguments: three times as fast.
        self._row = msgspec.defstruct("Row", [(name, Any) for name in resource.record.__struct_fields__], gc=False)
        self._attributes: Callable[..., Any] = msgspec.defstruct(
            "Attributes", [(field.member, Any) for field in resource.attributes], gc=False
        )

    def check(self, cells: Cells) -> CheckedBatch:
        """Return the cells of a batch, checked."""
        columns = [
            check_column(field, cells[field.name], self._companies if field.name in self._references else None)
            for field in self._resource.fields
        ]
        return CheckedBatch(columns, self._encode(columns), dict(searched_texts(columns)))

    def _encode(self, columns: Sequence[CheckedColumn]) -> bytes:
        """Return a line for each record, empty if it is invalid."""
        members = [column.values for column in columns if column.field.served and not column.field.attribute]
        if self._resource.attributes:
            attributes = (column.values for column in columns if column.field.attribute)
            values: list[Any] = list(map(self._attributes, *attributes))
            members.append(values)
        invalid = [column for column in columns if column.errors]
        if not invalid:
            return _encode_lines(list(map(self._row, *members)))
        valid = [True] * len(invalid[0].cells)
        for column in invalid:
            valid = [each and cell not in column.errors for each, cell in zip(valid, column.cells, strict=True)]
        rows = map(self._row, *(compress(values, valid) for values in members))
        lines = _encode_lines(list(rows)).split(b"\n")[:-1]
        return b"\n".join([*expand(lines, valid, b""), b""])
