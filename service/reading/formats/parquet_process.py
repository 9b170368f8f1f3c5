"""The process that reads a Parquet file: `python -m service.reading.formats.parquet_process`."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from service.reading.diagnostics import FileError
from service.reading.formats.arrow import TOO_MUCH_MEMORY, ArrowFile
from service.reading.formats.parquet_file import ColumnRequest, Opened, RowBatch
from service.reading.isolation import End, Unreadable, run

Message: TypeAlias = Opened | RowBatch | Unreadable | End


def answer(content: bytes, requests: Iterable[ColumnRequest]) -> Iterator[Message]:
    """Yield what a file has, and then what is requested of it, or why it cannot be used."""
    try:
        file = ArrowFile(content)
        yield Opened(file.paths, file.records)
        for request in requests:
            yield from (RowBatch(records, columns) for records, columns in file.batches(request.columns))
            yield End()
    except FileError as error:
        yield Unreadable(error.why)


if __name__ == "__main__":
    run(answer, ColumnRequest, TOO_MUCH_MEMORY)
