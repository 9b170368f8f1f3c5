"""Derive companies from the stores, if they have no file of their own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

from service.model.kinds import IDENTIFIER, WORDS
from service.model.records import COMPANIES, STORES, Company, Field, Resource
from service.reading.batches.batch import Batch, Cell

_T = TypeVar("_T")
NAME_COLUMN: Final = "company_name"
_IDENTIFIER: Final = COMPANIES.identifier
_NAME: Final = "name"
# The company columns of a stores file, unless a mapping declares others.
OWNERS: Final = Resource(
    name=STORES.name,
    record=Company,
    identifier=_IDENTIFIER,
    fields=(Field(_IDENTIFIER, IDENTIFIER, ""), Field(NAME_COLUMN, WORDS, "")),
)


def companies_of_owners(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the companies in records that are read as `OWNERS`."""
    for batch in batches:
        columns = {_IDENTIFIER: batch.columns[_IDENTIFIER], _NAME: batch.columns[NAME_COLUMN]}
        yield msgspec.structs.replace(batch, columns=columns)


class DistinctCompanies:
    """The companies of stores: the first record of each identifier in all files, named by it if it has no name.

    Records without an identifier, or that cannot be read, are errors of the stores.
    """

    def __init__(self, resource: Resource = COMPANIES) -> None:
        """Take the resource of companies, which may have attributes."""
        self._fields = [field.name for field in resource.fields]
        self._known: set[Cell] = set()

    def of(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the companies in the records of all stores of the next file."""
        for batch in batches:
            identifiers = batch.columns[_IDENTIFIER]
            first = [index for index, cell in enumerate(identifiers) if self._is_new(cell)]
            none = (None,) * len(identifiers)
            columns = {name: _selected(batch.columns.get(name, none), first) for name in self._fields}
            named = zip(columns[_NAME], columns[_IDENTIFIER], strict=True)
            columns[_NAME] = [identifier if _is_blank(name) else name for name, identifier in named]
            yield Batch(
                numbers=_selected(batch.numbers, first),
                columns=columns,
                lines=partial(_lines, batch.lines, first),
                unreadable=(),
                unused=(),
                done=batch.done,
                total=batch.total,
            )

    def _is_new(self, cell: Cell) -> bool:
        if not isinstance(cell, str) or cell in self._known or not cell.strip():
            return False
        self._known.add(cell)
        return True


def _is_blank(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _lines(lines: Callable[[], Sequence[int | None]], indexes: Sequence[int]) -> list[int | None]:
    return _selected(lines(), indexes)


def _selected(items: Sequence[_T], indexes: Sequence[int]) -> list[_T]:
    return [items[index] for index in indexes]
