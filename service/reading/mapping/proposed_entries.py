"""Propose the entries of a mapping, from the first records of a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from service.model.kinds import FLAG, INSTANT, parse_flag, parse_instant
from service.model.records import STORES, Field
from service.reading.field_names import is_house_number
from service.reading.mapping.column_choice import columns_by_nearest_name, columns_by_values, end_of_path
from service.reading.mapping.first_records import ColumnSample, FirstRecords
from service.reading.mapping.flag_words import flag_of
from service.reading.mapping.possible_dates import possible_formats
from service.reading.mapping.toml_text import array, inline_table, quoted

_ADDRESS: Final = "address_1"
_BY_VALUES: Final = "found by its values"
_BOTH: Final = 2  # values of a flag
_CANDIDATES: Final = 3
_FLAGS: Final = {True: "true", False: "false"}
_KEEP_ONE: Final = "Keep one of these lines:"


class ProposedEntry(msgspec.Struct, frozen=True):
    """How a field is made.

    value    in TOML; "" if the file does not show it
    columns  the columns that it is made of
    comment  what to check about the value
    notes    what to know before it
    """

    value: str = ""
    columns: tuple[str, ...] = ()
    comment: str = ""
    notes: tuple[str, ...] = ()


def propose_entries(first: FirstRecords, *, paths: bool) -> dict[str, ProposedEntry]:
    """Return an entry for each field of stores that has a column. `paths` if the names of columns are paths."""
    columns = [column for column in first.columns.values() if column.has_values or not first.count]
    named = columns_by_nearest_name([column.name for column in columns], paths=paths)
    valued = columns_by_values(columns, named)
    chosen = named | valued
    fields = [field for field in STORES.fields if field.name in chosen]
    entries = {field.name: propose_entry(field, first.columns[chosen[field.name]]) for field in fields}
    for field in valued:
        entries[field] = msgspec.structs.replace(entries[field], comment=_BY_VALUES)
    return entries | _joined_address([column.name for column in columns], chosen, paths=paths)


def fill_in(field: Field, unused: Iterable[ColumnSample], first: FirstRecords) -> ProposedEntry:
    """Return the entry of a required field that no column is for, which the user fills in."""
    comment = "required: fill in"
    if field.name == STORES.identifier:
        distinct = [quoted(column.name) for column in unused if len(column.texts) == first.count > 1][:_CANDIDATES]
        such_as = f", such as {' or '.join(distinct)}" if distinct else ""
        comment = f"required: put a column that identifies the store here{such_as}"
    return ProposedEntry(inline_table({"constant": quoted("")}), comment=comment)


def missing_notes(field: Field, entry: ProposedEntry, first: FirstRecords) -> tuple[str, ...]:
    """Return what to do about the records in which a required field is missing, if there are any."""
    missing = first.count_missing(entry.columns)
    if not missing:
        return ()
    found = f"{field.name} is required, but missing in {missing:,} of the first {first.count:,} records."
    if field.name == STORES.identifier:
        return (f"{found} Complete them, or leave them out with `serve --invalid skip`.",)
    table = inline_table({"from": entry.value}) if entry.value.startswith('"') else entry.value
    return (
        f"{found} Leave them out with `serve --invalid skip`, or use this line and fill in a default:",
        f'{field.name} = {table.removesuffix(" }")}, default = "" }}',
    )


def propose_entry(field: Field, column: ColumnSample) -> ProposedEntry:
    """Return the entry of a field that is made of one column."""
    if field.kind is FLAG and any(parse_flag(text) is None for text in column.texts):
        return _flag_entry(field, column)
    if field.kind is INSTANT and any(parse_instant(text) is None for text in column.texts):
        return _instant_entry(field, column)
    return ProposedEntry(quoted(column.name), (column.name,))


def _joined_address(names: Sequence[str], chosen: Mapping[str, str], *, paths: bool) -> dict[str, ProposedEntry]:
    """Return the entry of an address whose number has a column of its own, in the order of the columns."""
    street = chosen.get(_ADDRESS)
    if street is None:
        return {}
    parent = street.removesuffix(end_of_path(street)) if paths else ""
    others = [name for name in names if name.startswith(parent) and name not in chosen.values()]
    number = next((name for name in others if is_house_number(name.removeprefix(parent))), None)
    if number is None:
        return {}
    joined = [name for name in names if name in (street, number)]
    return {_ADDRESS: ProposedEntry(inline_table({"join": array(joined)}), tuple(joined))}


def _flag_entry(field: Field, column: ColumnSample) -> ProposedEntry:
    texts = list({text.casefold(): text for text in column.texts}.values())
    values = {text: flag for text in texts if (flag := flag_of(text)) is not None}
    unknown = [text for text in texts if text not in values]
    if not values:
        return ProposedEntry(columns=(column.name,), notes=tuple(_questions(field, column, unknown)))
    if unknown and len(texts) == _BOTH:
        values[unknown[0]] = not next(iter(values.values()))
        comment = f"{quoted(unknown[0])} seems to be the opposite"
        return ProposedEntry(_with_values(column, values), (column.name,), comment)
    notes = [f"What does {quoted(text)} mean? Add it to the values, or declare other = false." for text in unknown[:1]]
    return ProposedEntry(_with_values(column, values), (column.name,), notes=tuple(notes))


def _questions(field: Field, column: ColumnSample, texts: Sequence[str]) -> Iterator[str]:
    if len(texts) != _BOTH:
        yield f"{quoted(column.name)} may be {field.name}, but has neither yes nor no, such as {quoted(texts[0])}."
        return
    yield f"Which value of {quoted(column.name)} means yes? {_KEEP_ONE}"
    for yes in texts:
        yield f"{field.name} = {_with_values(column, {text: text == yes for text in texts})}"


def _with_values(column: ColumnSample, values: Mapping[str, bool]) -> str:
    flags = {quoted(text): _FLAGS[flag] for text, flag in values.items()}
    return inline_table({"from": quoted(column.name), "values": inline_table(flags)})


def _instant_entry(field: Field, column: ColumnSample) -> ProposedEntry:
    possible = [_with_formats(column, formats) for formats in possible_formats(column.texts)]
    if len(possible) == 1:
        return ProposedEntry(possible[0], (column.name,))
    example = quoted(next(text for text in column.texts if parse_instant(text) is None))
    notes = [f"{quoted(column.name)} has a date of no format that can be declared, or of none at all: {example}."]
    if possible:
        question = f"Which format is {example} in? The first records do not show it. {_KEEP_ONE}"
        notes = [question, *(f"{field.name} = {value}" for value in possible)]
    return ProposedEntry(columns=(column.name,), notes=tuple(notes))


def _with_formats(column: ColumnSample, formats: Sequence[str]) -> str:
    declared = quoted(formats[0]) if len(formats) == 1 else array(formats)
    return inline_table({"from": quoted(column.name), "date": declared})
