"""An opened data file: records by column, under the names that the file uses."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from service.reading.batch import Batch


class RecordFile(ABC):
    """The records of a file.

    names     its columns, in order; of JSON, the paths of the members of its first records
    line      the line of the names, if they are in one place
    assumed   what was assumed about the file, each in a few words
    is_table  whether all columns are in `names` and all cells are texts, as in CSV; otherwise `batches` takes other
              names, too: their cells are None in records without them
    """

    names: Sequence[str]
    line: int | None = None
    assumed: Sequence[str]
    is_table: bool = True

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Yield all records in order, with the cells of some columns, by name. Raises FileError.

        The other names of the file are the `unused` ones of the batches.
        """
