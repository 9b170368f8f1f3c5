"""Cells with what they are converted to."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from service.model.kinds import trim
from service.reading.batches.batch import Cell

Cells: TypeAlias = Sequence[Cell]
MAX_CACHED: Final = 1 << 16  # texts; columns with many distinct ones must not exhaust memory


class ConvertedCells(dict[Cell, Cell]):
    """Cells with what they are converted to, each distinct one once."""

    def __init__(self, convert: Callable[[str], Cell]) -> None:
        """Convert texts that are not blank, without the white space around them; other cells stay the same."""
        self._convert = convert

    def __missing__(self, cell: Cell) -> Cell:
        if len(self) >= MAX_CACHED:
            self.clear()
        text = trim(cell) if isinstance(cell, str) else ""
        converted = self[cell] = self._convert(text) if text else cell
        return converted

    def column(self, cells: Cells) -> Cells:
        """Return the cells of a column, converted."""
        return list(map(self.__getitem__, cells))
