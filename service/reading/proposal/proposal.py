"""Propose a mapping for a file, as the text of mapping.toml: a person checks it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from itertools import chain, count, islice
from typing import Final

import msgspec

from service.model.attributes import MOST
from service.model.kinds import INSTANT, NUMBER, WORDS
from service.model.records import COMPANIES, STORES
from service.reading.batch import RecordFile
from service.reading.characters import REPAIRS, WINDOWS
from service.reading.columns.countries import time_zone_of
from service.reading.columns.field_names import COORDINATES, find_alike, names_company
from service.reading.formats.json_file import heads
from service.reading.formats.table_file import NO_OPTIONS, TableFile
from service.reading.mapping.mapped_records import resolve_columns
from service.reading.mapping.mapping_file import load_mapping
from service.reading.mapping.toml import quoted, toml
from service.reading.proposal.attributes import propose_attributes, propose_hours
from service.reading.proposal.entries import find_identifier, propose_entries, propose_entry
from service.reading.proposal.entry import (
    Entries,
    Keys,
    ProposedEntry,
    fill_in,
    join,
    missing_notes,
    says_yes_and_no,
    shortest,
    unused_columns,
    used_columns,
)
from service.reading.proposal.first_records import (
    FIRST,
    MAX_COLUMNS,
    MAX_NAME,
    ColumnSample,
    FirstRecords,
    array_of,
    read_columns,
)
from service.reading.proposal.table_options import recognizes
from service.texts import counted

# A preset -> sets of columns; the files of its source have all of one set, and hardly any others do.
_SIGNATURES: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "all-the-places": [("@spider",)],
    "overture": [("names.primary", "addresses.0.locality", "sources.0.dataset")],
    "openstreetmap": [("@id", "shop"), ("@id", "addr:street"), ("shop", "addr:street")],
    "google-business-profile": [("Store code", "Business name")],
}
_IN_LINE: Final = 20  # names that are listed
_MAX_SHOWN: Final = 50  # columns without names, characters of a long one
_NUMBERS: Final = [field.name for field in STORES.fields if field.kind is NUMBER]
_INSTANTS: Final = [field.name for field in STORES.fields if field.kind is INSTANT]
_WORDS: Final = {field.name for field in STORES.fields if field.kind is WORDS} - {"phone_number"}
_DECIMAL_COMMA: Final = re.compile("[0-9],[0-9]")
_NAN: Final = "NaN"
_PLACES: Final = ("Nan", "NAN", "nan")  # a province of Thailand
_ZONE: Final = '# time_zone = "{}"  # of dates and times without an offset; UTC if it is not declared'


def propose_mapping(
    file: RecordFile, name: str, *, options: Keys = NO_OPTIONS.declared, derives_companies: bool = True
) -> str:
    """Return a mapping for the stores in an opened file of some name. Raises FileError.

    It declares the options with which the file is opened, by their keys, and that the companies are derived from the
    stores, if they are.
    """
    first, companies, paths = read_columns(file), list[str](), not file.is_table
    names = list(first.columns)
    presets = (preset for preset, sets in _SIGNATURES.items() for each in sets if all(find_alike(each, names).values()))
    preset = next(presets, None)
    made = {} if preset is None else _entries_of_preset(preset, first)
    own = _complete_preset(made, first, paths=paths)
    if STORES.identifier not in made | own:
        own |= find_identifier(file, made | own, first)
    unused = unused_columns(first, made | own)
    if preset is None and derives_companies:
        companies = list(_derive_companies(own, name, unused))
    own = _entries_to_add(made, first) | own if preset else _complete(own, unused.values(), first)
    hours, of_hours, unread = propose_hours(file, first, made | own)
    left, most = [column for name, column in unused.items() if name not in of_hours], MOST - bool(hours)
    separator, odd = _decimal(first, made | own)
    repairs, comment = _repairs(first, made | own, options.get("repair", ()))
    declared = {**options, **separator, **_no_value(first, made | own), **repairs}
    decimal = "," if "decimal" in declared else "."
    blocks: Sequence[Iterable[str]] = (
        _heading(file, name, first, options),
        [] if preset is None else [f"preset = {quoted(preset)}"],
        _options(declared, {"decimal": odd, "repair": comment}, own, first),
        _fields(own, {field for field in own for column in _columns(field, first, own) if column.is_late}),
        companies,
        propose_attributes(left[:most], hours, first, decimal=decimal, paths=paths),
        unread,
        _not_proposed(file, first, [column.name for column in left[most:]], used_columns(made | own), of_hours),
    )
    return "\n\n".join(filter(None, map("\n".join, blocks))) + "\n"


def _derive_companies(entries: dict[str, ProposedEntry], name: str, unused: dict[str, ColumnSample]) -> Iterator[str]:
    yield from ("[companies]", f"from = {quoted(STORES.name)}")
    if COMPANIES.identifier not in entries:
        stem = name.partition(".")[0].strip().encode("utf-8", "replace").decode() or COMPANIES.noun
        comment = "no column names the company: fill in its name"
        entries[COMPANIES.identifier] = ProposedEntry({"constant": stem}, comment=comment)
        return
    for each, column in unused.items():
        if names_company(each) and not says_yes_and_no(column):
            del unused[each]
            yield from ("", "[companies.fields]", f"name = {quoted(each)}")
            return


def _heading(file: RecordFile, name: str, first: FirstRecords, options: Keys) -> Iterator[str]:
    yield f"# Proposed for {quoted(name)} from the names of its columns and its first {counted(first.count, 'record')}."
    yield "# Check each line, and what `store-directory check` shows with it. All keys: `store-directory help mapping`."
    if file.assumed:
        yield f"# Assumed about the file: {'; '.join(file.assumed)}."
    warnings = file.warnings if isinstance(file, TableFile) else ()
    yield from dict.fromkeys(f"# {issue.code}: {issue.why}." for _, issue in warnings)
    if "columns" in options and "column_1" not in first.columns:
        yield "# Several columns have one name: all are declared, with different names."
    elif "columns" in options:
        shown = [quoted(next(iter(column.texts), "")) for column in islice(first.columns.values(), _MAX_SHOWN)]
        yield f"# There is no header line: name the columns, the first values of which are {', '.join(shown)}."
    elif file.is_table and not recognizes(file.names):
        yield "# Few names of columns are known. They must be in the first row, without a title above them."


def _complete(entries: Entries, unused: Iterable[ColumnSample], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries in the order of the fields, with those of required fields that have no column or no value."""
    complete = {}
    for field in (each for each in STORES.fields if each.required or each.name in entries):
        entry = entries.get(field.name) or fill_in(field, unused, first)
        notes = missing_notes(field, entry, first) if field.required and entry.columns else ()
        complete[field.name] = msgspec.structs.replace(entry, notes=(*entry.notes, *notes))
    return complete


def _decimal(first: FirstRecords, entries: Entries) -> tuple[Keys, str]:
    """Return the key of decimal commas, in a comment if more numbers have points, and the first record unlike most."""
    columns = [column for field in _NUMBERS for column in _columns(field, first, entries)]
    cells = chain.from_iterable((*zip(each.cells, count(1), strict=False), *each.late.items()) for each in columns)
    texts = [(str(cell), record) for cell, record in cells]
    points = [each for each in texts if "." in each[0]]
    commas = [each for each in texts if _DECIMAL_COMMA.search(each[0]) and "." not in each[0]]
    fewer = min(commas, points, key=len)
    key = {} if not commas else {"# decimal": ","} if fewer is commas else {"decimal": ","}
    return key, next((f"record {record:,} has {quoted(text)}" for text, record in fewer), "")


def _no_value(first: FirstRecords, entries: Entries) -> Keys:
    numbers = {text for field in _NUMBERS for column in _columns(field, first, entries) for text in column.texts}
    found = [text for field in entries for column in _columns(field, first, entries) for text in column.no_value]
    # In other columns it may be a place: but not beside numbers that are none, unless it is spelt like one, too.
    if _NAN in numbers and {text for column in first.columns.values() for text in column.texts}.isdisjoint(_PLACES):
        found.append(_NAN)
    texts = list({text.casefold(): text for text in found}.values())
    return {"no_value": texts} if texts else {}


def _columns(field: str, first: FirstRecords, entries: Entries) -> list[ColumnSample]:
    return [first.columns[name] for name in entries[field].columns] if field in entries else []


def _repairs(first: FirstRecords, entries: Entries, declared: Sequence[str]) -> tuple[Keys, str]:
    """Return the key of the repairs without which texts are errors, or of others in a comment, and what to add."""
    words = {column.name for field in _WORDS for column in _columns(field, first, entries)}
    found = {
        name: any(column.repairs.get(name) for column in first.columns.values())
        for column in first.columns.values()
        for name in column.repairs
        if name != "apostrophe" or column.name not in words
    }
    trim = {"trim": True} if "trim" in found else {}
    needed = [name for name in (*REPAIRS, WINDOWS) if found.get(name) or name in declared]
    names = [name for name in (*REPAIRS, WINDOWS) if name in found or name in needed]
    if not needed:
        return {"# repair": names, **trim} if names else trim, "characters that are wrong in some texts"
    others = "" if names == needed else f"{toml(names)} if these characters are wrong, too"
    return {"repair": needed, **trim}, others


def _options(options: Keys, comments: Mapping[str, str], entries: Entries, first: FirstRecords) -> list[str]:
    found = {key: comments.get(key.removeprefix("# ")) for key in options}
    lines = [f"{key} = {toml(value)}" + (f"  # {found[key]}" if found[key] else "") for key, value in options.items()]
    if any(field in entries and len(entries[field].keys) > 1 for field in _INSTANTS):
        countries = (text for column in _columns("country", first, entries) for text in column.texts)
        lines.append(_ZONE.format(time_zone_of(next(countries, "")) or "UTC"))
    return [f"[{STORES.name}]", *lines] if lines else []


def _fields(entries: Entries, optional: AbstractSet[str]) -> Sequence[str]:
    lines: list[str] = []
    for field in (each.name for each in STORES.fields if each.name in entries):
        entry = entries[field]
        lines += [f"# {note}" for note in entry.notes]
        if entry.keys:
            declared = entry.declared(**({"optional": True} if field in optional else {}))
            lines.append(f"{field} = {declared}" + (f"  # {entry.comment}" if entry.comment else ""))
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


def _entries_of_preset(preset: str, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return how a preset makes the fields, of the columns that a file has. Raises FileError."""
    filled = {name for name, column in first.columns.items() if column.has_values or not first.count}
    resolved = resolve_columns(list(first.columns), load_mapping(preset).stores, STORES, is_table=False, by_name=True)
    entries = {}
    for field, entry in resolved.items():
        found = [(list(filter(filled.__contains__, each.columns)), each.separator) for each in entry.sources]
        own = ({} if each == " " else {"separator": each} for _, each in found)
        made = [join(names, **keys).keys for (names, _), keys in zip(found, own, strict=True) if names]
        if entry.closing_date and entry.closing_date in first.columns:
            entries[field] = ProposedEntry(columns=(entry.closing_date,))
        elif made:
            keys = made[0] if len(made) == 1 else {"first": list(map(shortest, made))}
            entries[field] = ProposedEntry(keys, tuple(name for columns, _ in found for name in columns))
    return entries


def _entries_to_add(made: Entries, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries where those of a preset are not enough: values are missing, or dates have another format."""
    added = dict[str, ProposedEntry]()
    for field in STORES.fields if first.count else ():
        entry = made.get(field.name, ProposedEntry())
        missing = first.count_missing(entry.columns) if field.required else 0
        if field.kind is INSTANT and len(entry.columns) == 1:
            proposed = propose_entry(field, first.columns[entry.columns[0]], first)
            added |= {field.name: proposed} if proposed.keys != entry.keys else {}
        elif missing == first.count:
            added[field.name] = fill_in(field, (), first)
        elif missing:
            added[field.name] = ProposedEntry(columns=entry.columns, notes=missing_notes(field, entry, first))
    return added


def _complete_preset(made: Entries, first: FirstRecords, *, paths: bool) -> dict[str, ProposedEntry]:
    """Return entries of the fields for which a file has none of the columns of a preset, from its other columns."""
    used = used_columns(made)
    others = {name: column for name, column in first.columns.items() if name not in used}
    own = propose_entries(FirstRecords(others, first.count), paths=paths)
    if not made.keys().isdisjoint(COORDINATES):  # a pair of one source
        own = {field: entry for field, entry in own.items() if field not in COORDINATES}
    return {field: entry for field, entry in own.items() if field not in made}
