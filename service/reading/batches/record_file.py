"""An opened data file: records by column, under the names that the file uses."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from service.reading.batches.batch import Batch, Cell


class RecordFile(ABC):
    """The records of a file.

    names     its columns, in order; of JSON, the paths of the members of its first records
    line      the line of the names, if they are in one place
    assumed   what was assumed about the file, each in a few words
    is_table  whether all columns are in `names` and all cells are texts, as in CSV; otherwise `batches` takes other
              names, too: their cells are None in records without them
    has_dates whether cells may be real dates, which are texts as in RFC 3339, whatever format is declared
    """

    names: Sequence[str]
    line: int | None = None
    assumed: Sequence[str]
    is_table: bool = True
    has_dates: bool = False

    @abstractmethod
    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records in order, with the cells of some columns, by name, and `also` of others. Raises FileError.

        The names of the file that are not among `columns` are the `unused` ones of the batches.
        """

    def first_cells(self, columns: Sequence[str]) -> Mapping[str, Sequence[Cell]]:
        """Return the cells of some columns in the first records, if they are read at little cost. Raises FileError."""
        batch = next(self.batches(columns), None)
        return {} if batch is None else batch.columns
