"""The process that reads a workbook: `python -m service.reading.formats.sheet_process`."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from service.reading.diagnostics import FileError
from service.reading.formats.sheet import Workbook
from service.reading.formats.workbook_file import TOO_MUCH_MEMORY, SheetRequest, SheetRows, Sheets
from service.reading.isolation import End, Unreadable, run

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
