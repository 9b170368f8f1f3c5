"""Propose how a table is read: where it begins, what its columns are called; and how its cells are cleaned."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from service.reading.batches.batch import BATCH_SIZE
from service.reading.batches.diagnostics import FileError
from service.reading.batches.record_file import RecordFile
from service.reading.formats.file_format import WORKBOOK, FileFormat
from service.reading.formats.table.missing_header import MissingHeader
from service.reading.formats.table.rows import Row
from service.reading.formats.table.table_options import NO_OPTIONS, TableOptions
from service.reading.mapping.toml_text import array, quoted
from service.reading.proposal.column_choice import recognizes
from service.reading.proposal.first_records import MAX_COLUMNS
from service.reading.text.cleaning import Cleaning, has_c1

Open: TypeAlias = Callable[[TableOptions], RecordFile]

_MOST_SKIPPED: Final = 20  # lines
_REPAIR: Final = "windows-1252"  # what nearly all files with C1 characters were written in
_UNUSABLE: Final = BATCH_SIZE + 1  # more than the records of a file that can be opened


def find_table_options(open_file: Open, form: FileFormat) -> TableOptions:
    """Return the options with which a file is read best, of those that its first records show the need for."""
    found = _find_header(open_file, NO_OPTIONS) if form.is_csv or form is WORKBOOK else NO_OPTIONS
    if form.is_csv:
        found = _without_quotes(open_file, found)
    return msgspec.structs.replace(found, cleaning=_find_cleaning(open_file, found))


def options_as_toml(options: TableOptions) -> Iterator[tuple[str, str]]:
    """Yield the keys of a mapping that declare options, each with its value in TOML."""
    if options.cleaning.repair:
        yield "repair", quoted(options.cleaning.repair)
    if not options.quotes:
        yield "quote", quoted("")
    if options.skip_lines:
        yield "skip_lines", str(options.skip_lines)
    if options.columns:
        yield "columns", array(options.columns)
    if options.cleaning.trim:
        yield "trim", "true"


def _without_quotes(open_file: Open, found: TableOptions) -> TableOptions:
    """Return the options with which quotes are ordinary characters if more records can be read with them than found."""
    unreadable = _count_unreadable(open_file, found)
    if unreadable:
        ordinary = _find_header(open_file, TableOptions(quotes=False))
        if _count_unreadable(open_file, ordinary) < unreadable:
            return ordinary
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
            if headless == options and _count_cells(error.row) > width:
                columns = tuple(f"column_{number}" for number in range(1, 1 + len(error.row)))
                headless = msgspec.structs.replace(tried, columns=columns)
        except FileError:
            continue
        else:
            if recognizes(names) and (len(names) > width or headless == options):
                return tried
            width = max(width, len(names))
    return headless


def _count_cells(row: Row) -> int:
    """Return the number of cells up to the last with a value."""
    return max((number for number, cell in enumerate(row, 1) if cell), default=0)


def _count_unreadable(open_file: Open, options: TableOptions) -> int:
    try:
        file = open_file(options)
        batch = next(file.batches(file.names[:1]), None)
    except FileError:
        return _UNUSABLE
    return len(batch.unreadable) if batch is not None else 0


def _find_cleaning(open_file: Open, options: TableOptions) -> Cleaning:
    with suppress(FileError):  # raised again when the mapping is proposed
        file = open_file(options)
        batch = next(file.batches(list(islice(file.names, MAX_COLUMNS))), None)
        cells = batch.columns.values() if batch is not None else ()
        texts = {cell for column in cells for cell in column if isinstance(cell, str)}
        spaced = any(text != text.strip() != "" for text in texts)
        return Cleaning(trim=spaced, repair=_REPAIR if any(map(has_c1, texts)) else "")
    return Cleaning()
