"""Propose a mapping for a file, as the text of mapping.toml: a person checks it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from service.model.attributes import MOST
from service.model.kinds import INSTANT, NUMBER, WORDS
from service.model.records import COMPANIES, STORES
from service.reading.batch import BATCH_SIZE, RecordFile
from service.reading.characters import REPAIRS, WINDOWS, Cleaning, needed_repairs
from service.reading.columns.field_names import is_identifier_name, suggest_field
from service.reading.diagnostics import FileError
from service.reading.formats.file_format import WORKBOOK, FileFormat
from service.reading.formats.json_file import heads
from service.reading.formats.table_file import NO_OPTIONS, MissingHeader, RepeatedColumns, TableFile, TableOptions
from service.reading.formats.workbook_file import MAX_SHEETS, WorkbookFile
from service.reading.mapping.toml import array, inline_table, one_or_array, quoted
from service.reading.proposal.attributes import distinct, propose_attributes
from service.reading.proposal.column_choice import recognizes
from service.reading.proposal.entries import fill_in, find_identifier, missing_notes
from service.reading.proposal.first_records import (
    FIRST,
    MAX_COLUMNS,
    MAX_NAME,
    ColumnSample,
    FirstRecords,
    array_of,
    read_columns,
)
from service.reading.proposal.flag import NO_KEYS, ProposedEntry, unused_columns, used_columns, with_keys
from service.reading.proposal.opening_hours import propose_hours
from service.reading.proposal.presets import complete_preset, entries_of_preset, entries_to_add, find_preset
from service.texts import counted

Open: TypeAlias = Callable[[TableOptions], RecordFile]

_MOST_SKIPPED: Final = 20  # lines
_UNUSABLE: Final = BATCH_SIZE + 1  # more than the records of a file that can be opened
_Entries: TypeAlias = Mapping[str, ProposedEntry]
_IN_LINE: Final = 20  # names that are listed
_MAX_SHOWN: Final = 50  # columns without names, characters of a long one
_NUMBERS: Final = [field.name for field in STORES.fields if field.kind is NUMBER]
_INSTANTS: Final = [field.name for field in STORES.fields if field.kind is INSTANT]
_WORDS: Final = {field.name for field in STORES.fields if field.kind is WORDS} - {"phone_number"}
_DECIMAL_COMMA: Final = re.compile("[0-9],[0-9]")
_NAN: Final = "NaN"
_PLACES: Final = ("Nan", "NAN", "nan")  # a province of Thailand
_ZONE: Final = '# time_zone = "Europe/Berlin"  # of dates and times without an offset; UTC if it is not declared'


def find_table_options(open_file: Open, form: FileFormat, sheets: Sequence[str] = ()) -> TableOptions:
    """Return the options with which a file is read best, of those that its first records show the need for.

    `sheets` are the visible ones of a workbook: the first with known columns, and those with the same, are chosen.
    """
    found = _find_header(open_file, NO_OPTIONS) if form.is_csv or form is WORKBOOK else NO_OPTIONS
    if len(sheets) > 1:
        found = _find_sheets(open_file, found, sheets)
    if form.is_csv and _count_unreadable(open_file, found):
        trimmed = msgspec.structs.replace(found, cleaning=Cleaning(trim=True))  # spaces before quotes
        ordinary = _find_header(open_file, TableOptions(quotes=False))  # quotes are ordinary characters
        found = min(found, trimmed, ordinary, key=partial(_count_unreadable, open_file))
    return msgspec.structs.replace(found, cleaning=_find_cleaning(open_file, found))


def options_as_toml(options: TableOptions) -> dict[str, str]:
    """Return the keys of a mapping that declare options, each with its value in TOML."""
    cleaning, sheets = options.cleaning, options.sheets
    keys = {
        "repair": one_or_array(cleaning.repair),
        "quote": "" if options.quotes else quoted(""),
        "skip_lines": str(options.skip_lines or ""),
        "columns": array(options.columns) if options.columns else "",
        "sheets" if len(sheets) > 1 else "sheet": one_or_array(sheets),
        "trim": "true" if cleaning.trim else "",
    }
    return {key: value for key, value in keys.items() if value}


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
    if not options.quotes and any(str(cell).startswith('"') for cell in (file.names[0], *cells)):  # around cells, lines
        return _UNUSABLE
    return len(batch.unreadable) if batch is not None else 0


def _find_cleaning(open_file: Open, options: TableOptions) -> Cleaning:
    with suppress(FileError):  # raised again when the mapping is proposed
        file = open_file(options)
        batch = next(file.batches(list(islice(file.names, MAX_COLUMNS))), None)
        cells = batch.columns.values() if batch is not None else ()
        texts = {cell for column in (file.names, *cells) for cell in column if isinstance(cell, str)}
        spaced = any(text != text.strip() != "" for text in texts)
        repair = tuple(name for name, is_error in needed_repairs("\n".join(texts)) if is_error)
        return Cleaning(trim=spaced or options.cleaning.trim, repair=repair)
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
    first, companies = read_columns(file), list[str]()
    preset, paths = find_preset(list(first.columns)), not file.is_table
    made = {} if preset is None else entries_of_preset(preset, first)
    own = complete_preset(made, first, paths=paths)
    if STORES.identifier not in made | own:
        own |= find_identifier(file, made | own, first)
    unused = unused_columns(first, made | own)
    if preset is None and derives_companies:
        companies = list(_derive_companies(own, name, unused))
    own = entries_to_add(made, first) | own if preset else _complete(own, unused.values(), first)
    hours, of_hours = propose_hours(file, first, made | own)
    left, most = [column for name, column in unused.items() if name not in of_hours], MOST - bool(hours)
    declared = {**options, **_proposed_options(first, made | own)}
    decimal = "," if "decimal" in declared else "."
    blocks: Sequence[Iterable[str]] = (
        _heading(file, name, first, options),
        [] if preset is None else [f"preset = {quoted(preset)}"],
        _options(declared | _repairs(first, made | own, options.get("repair", "")), own),
        _fields(own, {field for field in own for column in _columns(field, first, own) if column.is_late}),
        companies,
        propose_attributes(left[:most], hours, first, decimal=decimal, paths=paths),
        _not_proposed(file, first, [column.name for column in left[most:]], used_columns(made | own), of_hours),
    )
    return "\n\n".join(filter(None, map("\n".join, blocks))) + "\n"


def _derive_companies(entries: dict[str, ProposedEntry], name: str, unused: dict[str, ColumnSample]) -> Iterator[str]:
    yield from ("[companies]", f"from = {quoted(STORES.name)}")
    if COMPANIES.identifier not in entries:
        stem = name.partition(".")[0].strip().encode("utf-8", "replace").decode() or COMPANIES.noun
        constant = inline_table({"constant": quoted(stem)})
        entries[COMPANIES.identifier] = ProposedEntry(constant, comment="no column names the company: fill in its name")
        return
    for column in unused:
        if suggest_field(column, STORES) == COMPANIES.identifier and not is_identifier_name(column):
            del unused[column]
            yield from ("", "[companies.fields]", f"name = {quoted(column)}")
            return


def _heading(file: RecordFile, name: str, first: FirstRecords, options: Mapping[str, str]) -> Iterator[str]:
    yield f"# Proposed for {quoted(name)} from the names of its columns and its first {counted(first.count, 'record')}."
    yield "# Check each line, and what `store-directory check` shows with it. All keys: `store-directory help mapping`."
    if file.assumed:
        yield f"# Assumed about the file: {'; '.join(file.assumed)}."
    warnings = file.warnings if isinstance(file, TableFile) else ()
    yield from dict.fromkeys(f"# {issue.code}: {issue.why}." for _, _, issue in warnings)
    if "columns" in options and "column_1" not in first.columns:
        yield "# Several columns have one name: all are declared, with different names."
    elif "columns" in options:
        shown = [quoted(next(iter(column.texts), "")) for column in islice(first.columns.values(), _MAX_SHOWN)]
        yield f"# There is no header line: name the columns, the first values of which are {', '.join(shown)}."
    elif file.is_table and not recognizes(file.names):
        yield "# Few names of columns are known. They must be in the first row, without a title above them."


def _complete(entries: _Entries, unused: Iterable[ColumnSample], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries in the order of the fields, with those of required fields that have no column or no value."""
    complete = {}
    for field in (each for each in STORES.fields if each.required or each.name in entries):
        entry = entries.get(field.name) or fill_in(field, unused, first)
        notes = missing_notes(field, entry, first) if field.required and entry.columns else ()
        complete[field.name] = msgspec.structs.replace(entry, notes=(*entry.notes, *notes))
    return complete


def _proposed_options(first: FirstRecords, entries: _Entries) -> dict[str, str]:
    options = {}
    numbers = [text for field in _NUMBERS for column in _columns(field, first, entries) for text in column.texts]
    if any(map(_DECIMAL_COMMA.search, numbers)) and not any("." in text for text in numbers):
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


def _repairs(first: FirstRecords, entries: _Entries, declared: str) -> dict[str, str]:
    """Return the key of the repairs without which texts are errors, the others in a comment; of all in a comment."""
    words = {column.name for field in _WORDS for column in _columns(field, first, entries)}
    found = {
        name: any(column.repairs.get(name) for column in first.columns.values())
        for column in first.columns.values()
        for name in column.repairs
        if name != "apostrophe" or column.name not in words
    }
    trim = {"trim": "true"} if "trim" in found else {}
    needed = [name for name in (*REPAIRS, WINDOWS) if found.get(name) or quoted(name) in declared]
    names = [name for name in (*REPAIRS, WINDOWS) if name in found or name in needed]
    if not needed:
        return ({"# repair": f"{array(names)}  # characters that are wrong in some texts"} if names else {}) | trim
    others = "" if names == needed else f"  # {array(names)} if these characters are wrong, too"
    return {"repair": one_or_array(needed) + others} | trim


def _options(options: Mapping[str, str], entries: _Entries) -> list[str]:
    lines = [f"{key} = {value}" for key, value in options.items()]
    if any(field in entries and entries[field].value.startswith("{") for field in _INSTANTS):
        lines.append(_ZONE)
    return [f"[{STORES.name}]", *lines] if lines else []


def _fields(entries: _Entries, optional: AbstractSet[str]) -> Sequence[str]:
    lines: list[str] = []
    for field in (each.name for each in STORES.fields if each.name in entries):
        entry = entries[field]
        lines += [f"# {note}" for note in entry.notes]
        if entry.value:
            value = with_keys(entry.value, {"optional": "true"}) if field in optional else entry.value
            lines.append(f"{field} = {value}" + (f"  # {entry.comment}" if entry.comment else ""))
    return [f"[{STORES.name}.fields]", *lines] if lines else []


def _not_proposed(
    file: RecordFile, first: FirstRecords, beyond: Sequence[str], used: AbstractSet[str], of_hours: AbstractSet[str]
) -> Iterator[str]:
    beginnings = {head for name in first.columns for head in heads(name)}
    left = {name: column for name, column in first.columns.items() if name not in used | of_hours}
    others = [column for name, column in left.items() if not (column.has_values or name in beginnings)]
    lists = {array_of(name) for name in left if name.endswith(FIRST)}  # of which all elements are read
    arrays = {array_of(name) for name in left} - lists | {array_of(name) for name in used}
    is_empty = {column.name: all(cell is None for cell in column.values) for column in others}
    whys = {
        f"A mapping has at most {MOST} attributes": beyond,
        "No record has a value": [name for name in is_empty if is_empty[name]] if first.count else (),
        "Arrays and objects are no values": [name for name in is_empty if not is_empty[name]],
        "Only the first element of these arrays is read": [name for name in first.arrays if name in arrays],
        "The name is too long": [f"{name[:_MAX_SHOWN]}…" for name in file.names if len(name) > MAX_NAME],
    }
    for why, names in whys.items():
        for start in range(0, len(names), _IN_LINE):
            yield f"# {why}: {', '.join(map(quoted, names[start : start + _IN_LINE]))}."
    if unnamed := sum(not name.strip() for name in file.names):
        yield f"# {counted(unnamed, 'column')} without a name: name them in the file, or declare columns."
    if len(file.names) > MAX_COLUMNS:
        yield f"# Only the first {MAX_COLUMNS:,} columns were read."
