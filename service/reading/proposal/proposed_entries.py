"""Propose the entries of a mapping, from the first records of a file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from service.model.kinds import FLAG, INSTANT, parse_instant
from service.model.records import STORES, Field
from service.reading.fields.field_names import end_of_path, is_house_number
from service.reading.mapping.toml_text import array, inline_table, quoted
from service.reading.proposal.column_choice import are_exchanged, columns_by_nearest_name, columns_by_values
from service.reading.proposal.first_records import ColumnSample, FirstRecords
from service.reading.proposal.neighbouring_dates import find_proof
from service.reading.proposal.proposed_entry import KEEP_ONE, ProposedEntry, with_keys
from service.reading.proposal.proposed_flag import flag_entry, propose_closing
from service.reading.proposal.split_columns import SplitColumn, find_split_columns
from service.reading.values.possible_dates import possible_formats

_ADDRESS: Final = "address_1"
_LATITUDE: Final = "latitude"
_LONGITUDE: Final = "longitude"
_BY_VALUES: Final = "found by its values"
_EXCHANGED: Final = "the names of the two columns are exchanged: values beyond 90 degrees are longitudes"
_CANDIDATES: Final = 3


def propose_entries(first: FirstRecords, *, paths: bool) -> dict[str, ProposedEntry]:
    """Return an entry for each field of stores that has a column. `paths` if the names of columns are paths."""
    columns = [column for column in first.columns.values() if column.has_values or not first.count]
    named = columns_by_nearest_name([column.name for column in columns], paths=paths)
    exchanged = are_exchanged(first.columns, named)
    if exchanged:
        named |= {_LATITUDE: named[_LONGITUDE], _LONGITUDE: named[_LATITUDE]}
    split = list(find_split_columns(columns, named))
    named |= {field: each.name for each in split for field in each.fields}
    valued = columns_by_values(columns, named)
    chosen = named | valued
    fields = [field for field in STORES.fields if field.name in chosen]
    entries = {field.name: propose_entry(field, first.columns[chosen[field.name]], first) for field in fields}
    for field in valued:
        entries[field] = msgspec.structs.replace(entries[field], comment=_BY_VALUES)
    for field in (_LATITUDE, _LONGITUDE) if exchanged else ():
        entries[field] = msgspec.structs.replace(entries[field], comment=_EXCHANGED)
    for each in split:
        entries |= _split_entries(each)
    used = {name for entry in entries.values() for name in entry.columns}
    entries |= propose_closing([column for column in columns if column.name not in used], entries, first)
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
    return (
        f"{found} Leave them out with `serve --invalid skip`, or use this line and fill in a default:",
        f"{field.name} = {with_keys(entry.value, {'default': quoted('')})}",
    )


def propose_entry(field: Field, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    """Return the entry of a field that is made of one column."""
    if field.kind is FLAG:
        return flag_entry(field, column)
    if field.kind is INSTANT and any(parse_instant(text) is None for text in column.texts):
        return _instant_entry(field, column, first)
    return ProposedEntry(quoted(column.name), (column.name,))


def _split_entries(column: SplitColumn) -> dict[str, ProposedEntry]:
    split = {"from": quoted(column.name), "split": quoted(column.separator)}
    first, second = (inline_table(split | {"part": part}) for part in "12")
    return {
        column.fields[0]: ProposedEntry(first, (column.name,), column.comment),
        column.fields[1]: ProposedEntry(second, (column.name,)),
    }


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


def _instant_entry(field: Field, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    dates = [text for text in column.texts if parse_instant(text) is not None or possible_formats([text])]
    known = set(dates)
    others = [text for text in column.texts if text not in known][:1]
    notes = [
        f"{quoted(text)} in {quoted(column.name)} has no format that can be declared: if it means no value,"
        " add it to no_value."
        for text in others
    ]
    formats, comment = possible_formats(dates), ""
    if len(formats) > 1 and (proof := find_proof(formats, first.columns.values())) is not None:
        formats, comment = [proof.formats], f"as {quoted(proof.column)} proves"
    possible = [_with_formats(column, each) for each in formats]
    if dates and all(parse_instant(text) is not None for text in dates):
        possible = [quoted(column.name)]
    if len(possible) == 1:
        return ProposedEntry(possible[0], (column.name,), comment, tuple(notes))
    if possible:
        example = quoted(next(text for text in dates if parse_instant(text) is None))
        notes.append(f"Which format is {example} in? The first records do not show it. {KEEP_ONE}")
        notes += [f"{field.name} = {value}" for value in possible]
    elif not others:
        notes.append(f"The dates in {quoted(column.name)} have several formats, which contradict each other.")
    return ProposedEntry(columns=(column.name,), notes=tuple(notes))


def _with_formats(column: ColumnSample, formats: Sequence[str]) -> str:
    declared = quoted(formats[0]) if len(formats) == 1 else array(formats)
    return inline_table({"from": quoted(column.name), "date": declared})
