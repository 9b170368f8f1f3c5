"""Propose a mapping for a file, as the text of mapping.toml: a person checks it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from service.model.attributes import MOST
from service.model.kinds import INSTANT, NUMBER
from service.model.records import COMPANIES, STORES
from service.reading.batch import BATCH_SIZE, RecordFile
from service.reading.columns.field_names import suggest_field
from service.reading.diagnostics import FileError
from service.reading.formats.file_format import WORKBOOK, FileFormat
from service.reading.formats.table_file import NO_OPTIONS, MissingHeader, TableOptions
from service.reading.mapping.toml import array, inline_table, quoted
from service.reading.proposal.attributes import propose_attributes
from service.reading.proposal.column_choice import (
    MAX_COLUMNS,
    ColumnSample,
    FirstRecords,
    read_first_records,
    recognizes,
)
from service.reading.proposal.entries import fill_in, missing_notes, propose_entries
from service.reading.proposal.flag import ProposedEntry, unused_columns
from service.reading.proposal.presets import entries_of_preset, entries_to_add, find_preset, flag_to_add
from service.reading.text import Cleaning, has_c1
from service.texts import counted

Open: TypeAlias = Callable[[TableOptions], RecordFile]

_MOST_SKIPPED: Final = 20  # lines
_REPAIR: Final = "windows-1252"  # what nearly all files with C1 characters were written in
_UNUSABLE: Final = BATCH_SIZE + 1  # more than the records of a file that can be opened
_Entries: TypeAlias = Mapping[str, ProposedEntry]
_MAX_UNUSED: Final = 20  # names that are listed
_MAX_SHOWN: Final = 50  # columns without names
NO_KEYS: Final[Mapping[str, str]] = {}
_NUMBERS: Final = [field.name for field in STORES.fields if field.kind is NUMBER]
_INSTANTS: Final = [field.name for field in STORES.fields if field.kind is INSTANT]
_NAN: Final = "NaN"
_PLACES: Final = ("Nan", "NAN", "nan")  # a province of Thailand
_ZONE: Final = '# time_zone = "Europe/Berlin"  # of dates and times without an offset; UTC if it is not declared'


def find_table_options(open_file: Open, form: FileFormat) -> TableOptions:
    """Return the options with which a file is read best, of those that its first records show the need for."""
    found = _find_header(open_file, NO_OPTIONS) if form.is_csv or form is WORKBOOK else NO_OPTIONS
    if form.is_csv and (unreadable := _count_unreadable(open_file, found)):
        ordinary = _find_header(open_file, TableOptions(quotes=False))  # quotes are ordinary characters
        found = ordinary if _count_unreadable(open_file, ordinary) < unreadable else found
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


def propose_mapping(
    file: RecordFile,
    name: str,
    *,
    options: Mapping[str, str] = NO_KEYS,
    derives_companies: bool = True,
) -> str:
    """Return a mapping for the stores in an opened file of some name. Raises FileError.

    It declares the options with which the file is opened, keys with their values in TOML, and that the companies are
    derived from the stores, if they are.
    """
    first, companies = read_first_records(file), list[str]()
    preset = find_preset(list(first.columns))
    if preset is not None:
        made = entries_of_preset(preset, first)
        entries = entries_to_add(made, first) | flag_to_add(preset, made, first)
        unused = unused_columns(first, made | entries)
    else:
        made = propose_entries(first, paths=not file.is_table)
        unused = unused_columns(first, made)
        if derives_companies:
            companies = list(_derive_companies(made, name, unused))
        made = entries = _complete(made, unused.values(), first)
    declared = {**options, **_proposed_options(first, made)}
    decimal = "," if "decimal" in declared else "."
    blocks: Sequence[Iterable[str]] = (
        _heading(file, name, first, options),
        [] if preset is None else [f"preset = {quoted(preset)}"],
        _options(declared, entries),
        _fields(entries),
        companies,
        propose_attributes(list(unused.values()), first, decimal=decimal, paths=not file.is_table),
        _not_used(file, list(unused)[MOST:]),
    )
    return "\n\n".join(filter(None, map("\n".join, blocks))) + "\n"


def _derive_companies(entries: dict[str, ProposedEntry], name: str, unused: dict[str, ColumnSample]) -> Iterator[str]:
    """Yield the lines of the companies of stores: add the entry that they need, use the column that names them."""
    yield from ("[companies]", f"from = {quoted(STORES.name)}")
    if COMPANIES.identifier not in entries:
        stem = name.partition(".")[0].strip().encode("utf-8", "replace").decode() or COMPANIES.noun
        constant = inline_table({"constant": quoted(stem)})
        entries[COMPANIES.identifier] = ProposedEntry(constant, comment="no column names the company: fill in its name")
    elif column := next((each for each in unused if suggest_field(each, STORES) == COMPANIES.identifier), None):
        del unused[column]
        yield from ("", "[companies.fields]", f"name = {quoted(column)}")


def _heading(file: RecordFile, name: str, first: FirstRecords, options: Mapping[str, str]) -> Iterator[str]:
    yield f"# Proposed for {quoted(name)} from the names of its columns and its first {counted(first.count, 'record')}."
    yield "# Check each line, and what `store-directory check` shows with it. All keys: `store-directory help mapping`."
    if file.assumed:
        yield f"# Assumed about the file: {'; '.join(file.assumed)}."
    if "columns" in options:
        shown = [quoted(next(iter(column.texts), "")) for column in islice(first.columns.values(), _MAX_SHOWN)]
        yield f"# There is no header line: name the columns, the first values of which are {', '.join(shown)}."
    elif file.is_table and not recognizes(file.names):
        yield "# Few names of columns are known. They must be in the first row, without a title above them."


def _complete(entries: _Entries, unused: Iterable[ColumnSample], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries in the order of the fields, with those of required fields that have no column or no value."""
    complete = {}
    for field in STORES.fields:
        entry = entries.get(field.name) or (fill_in(field, unused, first) if field.required else None)
        if entry is None:
            continue
        if field.required and entry.columns:
            entry = msgspec.structs.replace(entry, notes=(*entry.notes, *missing_notes(field, entry, first)))
        complete[field.name] = entry
    return complete


def _proposed_options(first: FirstRecords, entries: _Entries) -> dict[str, str]:
    options = {}
    numbers = [text for field in _NUMBERS for column in _columns(field, first, entries) for text in column.texts]
    if any("," in text for text in numbers) and not any("." in text for text in numbers):
        options["decimal"] = quoted(",")
    found = [text for field in entries for column in _columns(field, first, entries) for text in column.no_value]
    # In other columns it may be a place: but not beside numbers that are none, unless it is spelt like one, too.
    if _NAN in numbers and {text for column in first.columns.values() for text in column.texts}.isdisjoint(_PLACES):
        found.append(_NAN)
    if no_value := {text.casefold(): text for text in found}:
        options["no_value"] = array(no_value.values())
    return options


def _columns(field: str, first: FirstRecords, entries: _Entries) -> list[ColumnSample]:
    return [first.columns[name] for name in entries[field].columns] if field in entries else []


def _options(options: Mapping[str, str], entries: _Entries) -> list[str]:
    lines = [f"{key} = {value}" for key, value in options.items()]
    if any(field in entries and entries[field].value.startswith("{") for field in _INSTANTS):
        lines.append(_ZONE)
    return [f"[{STORES.name}]", *lines] if lines else []


def _fields(entries: _Entries) -> Sequence[str]:
    lines: list[str] = []
    for field, entry in entries.items():
        lines += [f"# {note}" for note in entry.notes]
        if entry.value:
            lines.append(f"{field} = {entry.value}" + (f"  # {entry.comment}" if entry.comment else ""))
    return [f"[{STORES.name}.fields]", *lines] if lines else []


def _not_used(file: RecordFile, unused: Sequence[str]) -> Iterator[str]:
    if unused:
        more = f" and {len(unused) - _MAX_UNUSED:,} more" if len(unused) > _MAX_UNUSED else ""
        yield f"# Not used: {', '.join(map(quoted, unused[:_MAX_UNUSED]))}{more}."
    if len(file.names) > MAX_COLUMNS:
        yield f"# Only the first {MAX_COLUMNS:,} columns were read."
