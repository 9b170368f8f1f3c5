"""Find the options with which a table is read best: its header, sheets and quotes, and what is wrong in its texts."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from service.reading.batch import BATCH_SIZE, RecordFile
from service.reading.characters import needed_repairs
from service.reading.columns.field_names import columns_by_nearest_name
from service.reading.diagnostics import FileError
from service.reading.formats.file_format import WORKBOOK, FileFormat
from service.reading.formats.table_file import NO_OPTIONS, MissingHeader, RepeatedColumns, TableOptions
from service.reading.formats.workbook_file import MAX_SHEETS, WorkbookFile
from service.reading.proposal.attributes import distinct
from service.reading.proposal.first_records import MAX_COLUMNS

Open: TypeAlias = Callable[[TableOptions], RecordFile]

_MOST_SKIPPED: Final = 20  # lines
_UNUSABLE: Final = BATCH_SIZE + 1  # more than the records of a file that can be opened
_ENOUGH: Final = 3  # fields, with which names are those of a file of stores


def recognizes(names: Sequence[str]) -> bool:
    """Return whether some names are like those of the columns of stores."""
    return len(columns_by_nearest_name(list(islice(names, MAX_COLUMNS)), paths=False)) >= _ENOUGH


def find_table_options(open_file: Open, form: FileFormat, sheets: Sequence[str] = ()) -> TableOptions:
    """Return the options with which a file is read best, of those that its first records show the need for.

    `sheets` are the visible ones of a workbook: the first with known columns, and those with the same, are chosen.
    """
    found = _find_header(open_file, NO_OPTIONS) if form.is_csv or form is WORKBOOK else NO_OPTIONS
    if len(sheets) > 1:
        found = _find_sheets(open_file, found, sheets)
    if form.is_csv and _count_unreadable(open_file, found):
        trimmed = msgspec.structs.replace(found, trim=True)  # spaces before quotes
        ordinary = _find_header(open_file, TableOptions(quote=""))  # quotes are ordinary characters
        found = min(found, trimmed, ordinary, key=partial(_count_unreadable, open_file))
    return _with_cleaning(open_file, found)


def _find_sheets(open_file: Open, found: TableOptions, sheets: Sequence[str]) -> TableOptions:
    """Return options of the first sheet, or of the first one with known names, and of those with the same columns."""
    for sheet in sheets[:MAX_SHEETS]:
        options = found if sheet == sheets[0] else _find_header(open_file, TableOptions(sheets=(sheet,)))
        with suppress(FileError):
            file = open_file(options)
            if isinstance(file, WorkbookFile) and recognizes(file.names):
                alike = file.alike_sheets()
                return msgspec.structs.replace(options, sheets=(sheet, *alike)) if alike else options
    return found


def _find_header(open_file: Open, options: TableOptions) -> TableOptions:
    """Return options with the lines above the first header with known names, else above the first row of data."""
    width, headless = 0, options
    for skipped in range(_MOST_SKIPPED + 1):
        tried = msgspec.structs.replace(options, skip_lines=skipped)
        try:
            names = open_file(tried).names
        except MissingHeader as error:
            # Below a header of unknown names are rows as wide as it; below a title are wider ones.
            last = max((number for number, cell in enumerate(error.row, 1) if cell), default=0)
            if headless == options and last > width:
                columns = tuple(f"column_{number}" for number in range(1, 1 + len(error.row)))
                headless = msgspec.structs.replace(tried, columns=columns)
        except RepeatedColumns as error:
            named = [cell.strip() or f"column_{number}" for number, cell in enumerate(error.row, 1)]
            if recognizes(named) and error.line is not None:
                return msgspec.structs.replace(options, skip_lines=error.line, columns=tuple(distinct(named, set())))
        except FileError:
            continue
        else:
            if recognizes(names) and (len(names) > width or headless == options):
                return tried
            width = max(width, len(names))
    return headless


def _count_unreadable(open_file: Open, options: TableOptions) -> int:
    try:
        file = open_file(options)
        batch = next(file.batches(file.names[:1]), None)
    except FileError:
        return _UNUSABLE
    cells = batch.columns[file.names[0]] if batch is not None else ()
    if not options.quote and any(str(cell).startswith('"') for cell in (file.names[0], *cells)):  # around cells, lines
        return _UNUSABLE
    return len(batch.unreadable) if batch is not None else 0


def _with_cleaning(open_file: Open, options: TableOptions) -> TableOptions:
    with suppress(FileError):  # raised again when the mapping is proposed
        file = open_file(options)
        batch = next(file.batches(list(islice(file.names, MAX_COLUMNS))), None)
        cells = batch.columns.values() if batch is not None else ()
        texts = {cell for column in (file.names, *cells) for cell in column if isinstance(cell, str)}
        trim = options.trim or any(text != text.strip() != "" for text in texts)
        repair = tuple(name for name, is_error in needed_repairs("\n".join(texts)) if is_error)
        return msgspec.structs.replace(options, trim=trim, repair=repair)
    return options
