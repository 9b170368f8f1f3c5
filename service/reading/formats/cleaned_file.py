"""A file of records whose cells are cleaned."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from service.reading.batches.batch import Batch, Cell
from service.reading.batches.record_file import RecordFile

_Columns = Mapping[str, Sequence[Cell]]


class CleanedFile(RecordFile):
    """The records of a file that is no table, whose cells are cleaned; its names stay."""

    def __init__(self, file: RecordFile, clean: Callable[[str], str]) -> None:
        self._file, self._clean = file, clean
        self.names, self.line, self.assumed, self.is_table = file.names, file.line, file.assumed, file.is_table

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records of the file, cleaned."""
        for batch in self._file.batches(columns, also):
            yield msgspec.structs.replace(batch, columns=self._cleaned(batch.columns))

    def first_cells(self, columns: Sequence[str]) -> Mapping[str, Sequence[Cell]]:
        """Return the first cells of the file, cleaned."""
        return self._cleaned(self._file.first_cells(columns))

    def _cleaned(self, columns: _Columns) -> _Columns:
        clean = self._clean
        return {
            name: [clean(cell) if isinstance(cell, str) else cell for cell in cells] for name, cells in columns.items()
        }
