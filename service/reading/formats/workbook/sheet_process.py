"""The process that reads a workbook: `python -m service.reading.formats.workbook.sheet_process`."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from service.reading.batches.diagnostics import FileError
from service.reading.formats.workbook.sheet import Workbook
from service.reading.formats.workbook.sheet_messages import TOO_MUCH_MEMORY, SheetRequest, SheetRows, Sheets
from service.reading.isolation.limited_process import run
from service.reading.isolation.process_messages import End, Unreadable

Message: TypeAlias = Sheets | SheetRows | Unreadable | End


def answer(content: bytes, requests: Iterable[SheetRequest]) -> Iterator[Message]:
    """Yield the sheets of a workbook, and then the rows that are requested, or why it cannot be used."""
    try:
        workbook = Workbook(content)
        yield Sheets(workbook.names)
        for request in requests:
            yield from workbook.rows(request)
            yield End()
    except FileError as error:
        yield Unreadable(error.why)


if __name__ == "__main__":
    run(answer, SheetRequest, TOO_MUCH_MEMORY)
