"""Companies derived from the records of stores."""

from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from service.model.records import COMPANIES
from service.reading.batch import Batch, Cell
from service.reading.mapping.conversions import has_value
from service.reading.mapping.declaration import ResourceMapping
from service.reading.mapping.record_mapper import read_mapped
from service.reading.record_file import RecordFile


def derived_companies(file: RecordFile, mapping: ResourceMapping) -> Iterator[Batch]:
    """Yield the companies of the stores of a file, each as its first store has it. Raises FileError.

    Stores without a company yield none; they are reported when the stores are checked.
    """
    yield from _distinct(read_mapped(file, mapping, COMPANIES, by_name=False))  # the column `name` is that of the store


def _distinct(batches: Iterable[Batch]) -> Iterator[Batch]:
    known: set[Cell] = set()
    for batch in batches:
        first: dict[Cell, int] = {}
        for index, cell in enumerate(batch.columns[COMPANIES.identifier]):
            first.setdefault(cell, index)
        indexes = [
            index for cell, index in first.items() if isinstance(cell, str) and cell not in known and has_value(cell)
        ]
        known.update(first)
        yield msgspec.structs.replace(
            batch,
            numbers=[batch.numbers[index] for index in indexes],
            columns={name: [cells[index] for index in indexes] for name, cells in batch.columns.items()},
            lines=partial(_lines_of, batch, indexes),
            unreadable=(),
        )


def _lines_of(batch: Batch, indexes: list[int]) -> list[int]:
    lines = batch.lines()
    return [lines[index] for index in indexes]
