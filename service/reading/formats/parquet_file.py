"""Parquet and GeoParquet as a file of records by column."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice
from operator import mul
from typing import ClassVar, Final

import msgspec

from service.reading.batch import Batch, RecordFile, UnusedName, WrongType
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.diagnostics import FileError
from service.reading.formats.geometry import LATITUDE, LONGITUDE
from service.reading.formats.json_file import heads
from service.reading.isolation import FileReader
from service.reading.text import MAX_RATIO
from service.spool import FileBytes

UNREADABLE: Final = "not a Parquet file that can be read"


class ColumnRequest(msgspec.Struct, frozen=True):
    """The paths of the columns to read."""

    columns: Sequence[str]


class Opened(msgspec.Struct, frozen=True, tag=True):
    """The path of each column, or member of a nested one, with the column; and the number of records."""

    paths: dict[str, str]
    records: int


class RowBatch(msgspec.Struct, frozen=True, tag=True):
    """The next records: how many, and the cells of each requested column."""

    records: int
    columns: list[list[str | bool | WrongType | None]]


class ParquetReader(FileReader):
    """The process of a Parquet file, with a memory pool that reserves no address space, and without other threads."""

    module = "service.reading.formats.arrow"
    unreadable = UNREADABLE
    opened_type, part_type = Opened, RowBatch
    too_large = f"the file expands to more than 64 MiB and {MAX_RATIO} times its size"
    settings: ClassVar = {"ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1"}


class ParquetFile(RecordFile):
    """The records of a Parquet file."""

    is_table = False
    is_costly = True  # another process would have to read it, and large columns count towards its limits

    def __init__(self, content: FileBytes | FileReader) -> None:
        if find_spec("pyarrow") is None:
            raise FileError("reading Parquet needs pyarrow: `pip install 'store-directory[parquet]'`")
        self._reader = ParquetReader.of(content)
        self._opened = self._reader.opened
        self.names, self.assumed = list(self._opened.paths), ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells of some columns. Raises FileError."""
        used = {name for path in columns for name in (path, *heads(path))}
        located = {self._opened.paths.get(name) for name in (LATITUDE, LONGITUDE)}
        unused = dict.fromkeys(name for name in self._opened.paths.values() if name not in used | located)
        unused_names, first, total = list(islice(unused, MAX_UNUSED)), 1, self._opened.records
        for rows in self._reader.parts(ColumnRequest([*columns, *also])):
            yield Batch(
                range(first, first + rows.records),
                dict(zip([*columns, *also], rows.columns, strict=True)),
                partial(mul, [None], rows.records),  # there are no lines
                [],
                [UnusedName(name, None, rows.records) for name in unused_names],
                done=first - 1 + rows.records,
                total=max(total, first - 1 + rows.records),
            )
            first += rows.records
