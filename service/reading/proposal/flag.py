"""Propose how `is_open` is made: of words for open and closed, and of closing dates.

A word that is not known is never taken for open: the mapping is invalid until the user gives it a meaning.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from service.model.kinds import parse_flag
from service.reading.columns.dates import may_be_date
from service.reading.columns.flags import IS_OPEN, flag_of, is_closed_name, says_closed
from service.reading.mapping.toml import inline_table, one_or_array, quoted
from service.reading.proposal.column_choice import prove_formats
from service.reading.proposal.first_records import ColumnSample, FirstRecords

KEEP_ONE: Final = "Keep one of these lines:"
NO_KEYS: Final[Mapping[str, str]] = {}
_BOTH: Final = 2  # values of a flag
_FLAGS: Final = {True: "true", False: "false", None: quoted("")}
_MAX_UNKNOWN: Final = 10  # unknown texts that get an empty entry each; more are free text


class ProposedEntry(msgspec.Struct, frozen=True):
    """A proposed mapping of a field.

    value    in TOML; "" if the file does not show it
    columns  the columns that it is made of
    comment  what to check about the value
    notes    what to know before it
    """

    value: str = ""
    columns: tuple[str, ...] = ()
    comment: str = ""
    notes: tuple[str, ...] = ()


def used_columns(entries: Mapping[str, ProposedEntry]) -> set[str]:
    """Return the columns that entries are made of."""
    return {name for entry in entries.values() for name in entry.columns}


def unused_columns(first: FirstRecords, entries: Mapping[str, ProposedEntry]) -> dict[str, ColumnSample]:
    """Return the columns with values that no entry is made of."""
    used = used_columns(entries)
    return {name: column for name, column in first.columns.items() if name not in used and column.has_values}


def with_keys(value: str, keys: Mapping[str, str]) -> str:
    """Return the value of an entry with more keys, each with its value in TOML; "" is an entry without any."""
    if not (value and keys):
        return value or inline_table(keys)
    table = inline_table({"from": value}) if value.startswith('"') else value
    return f"{table.removesuffix(' }')}, {inline_table(keys).removeprefix('{ ')}"


def entry_of(
    column: ColumnSample, keys: Mapping[str, str] = NO_KEYS, comment: str = "", notes: Iterable[str] = ()
) -> ProposedEntry:
    """Return the entry of one column, with keys and their values in TOML."""
    return ProposedEntry(with_keys(quoted(column.name), keys), (column.name,), comment, tuple(notes))


def flag_entry(column: ColumnSample) -> ProposedEntry:
    """Return the entry of `is_open` that is made of one column."""
    closes = is_closed_name(column.name)
    plain = not closes and all(parse_flag(text) is not None for text in column.texts)
    entry = entry_of(column) if plain else _with_values(column, closes=closes)
    blanks = () if closes else _notes_on_blanks(column, entry.value)
    return msgspec.structs.replace(entry, notes=(*entry.notes, *blanks))


def propose_closing(
    columns: Sequence[ColumnSample], entries: Mapping[str, ProposedEntry], first: FirstRecords
) -> dict[str, ProposedEntry]:
    """Return the entry of `is_open` with a column of closing dates, if one of some columns is named like that."""
    closing = [column for column in columns if is_closed_name(column.name) and column.has_values]
    dated = next((column for column in closing if any(map(may_be_date, column.texts))), None)
    if dated is not None:
        return {IS_OPEN.name: _with_closing_date(entries.get(IS_OPEN.name, ProposedEntry()), dated, first)}
    return {IS_OPEN.name: flag_entry(closing[0])} if closing and IS_OPEN.name not in entries else {}


def _with_values(column: ColumnSample, *, closes: bool) -> ProposedEntry:
    flags = [_FLAGS[cell] for cell in column.values if isinstance(cell, bool)]
    texts = list({text.casefold(): text for text in (*column.texts, *flags)}.values())
    values = {text: _meaning(text, closes=closes) for text in texts}
    known = [value for value in values.values() if value is not None]
    if closes and not known:
        return entry_of(column, {"other": _FLAGS[False], "default": _FLAGS[True]}, "any text means closed")
    if not known and not any(map(says_closed, texts)):
        return ProposedEntry(columns=(column.name,), notes=tuple(_questions(column, texts)))
    if known == [True] and len(texts) == _BOTH:
        (unknown,) = (text for text, value in values.items() if value is None)
        return entry_of(column, _values({**values, unknown: False}), f"{quoted(unknown)} seems to be the opposite")
    keys, notes = _asked(column, values)
    return entry_of(column, keys, notes=notes)


def _meaning(text: str, *, closes: bool) -> bool | None:
    flag = flag_of(text)
    return flag if flag is None or not closes or says_closed(text) else not flag


def _asked(column: ColumnSample, values: Mapping[str, bool | None]) -> tuple[dict[str, str], tuple[str, ...]]:
    unknown, name = [quoted(text) for text, value in values.items() if value is None], quoted(column.name)
    if len(unknown) <= _MAX_UNKNOWN:
        keys, asked = _values(values) if values else {}, f"give {', '.join(unknown)} in {name}"
    else:
        keys = _values({text: value for text, value in values.items() if value is not None}) | {"other": _FLAGS[None]}
        asked = f"{name} has {len(unknown)} other texts, such as {unknown[0]}: give other"
    note = f"To do: {asked} the value true (open) or false (closed). The mapping is invalid until then."
    return keys, (note,) if unknown else ()


def _values(values: Mapping[str, bool | None]) -> dict[str, str]:
    return {"values": inline_table({quoted(text): _FLAGS[value] for text, value in values.items()})}


def _notes_on_blanks(column: ColumnSample, value: str) -> Iterator[str]:
    """Yield what to do if records without a value mean no, as they do if only yes is written."""
    blank = column.cells.count(None)
    if value and blank and column.texts and all(flag_of(text) for text in column.texts):
        found = f"{quoted(column.name)} has no value in {blank:,} of the first {len(column.cells):,} records"
        yield f"{found}, and never says no. These stores are served as open. If they are closed, use this line instead:"
        yield f"{IS_OPEN.name} = {with_keys(value, {'default': _FLAGS[False]})}"


def _questions(column: ColumnSample, texts: Sequence[str]) -> Iterator[str]:
    name = quoted(column.name)
    if len(texts) != _BOTH:
        yield f"{name} looks like {IS_OPEN.name}, but its values (such as {quoted(texts[0])}) are not yes or no."
        return
    yield f"Which value of {name} means yes? {KEEP_ONE}"
    for yes in texts:
        yield f"{IS_OPEN.name} = {with_keys(name, _values({text: text == yes for text in texts}))}"


def _with_closing_date(entry: ProposedEntry, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    dates = list(filter(may_be_date, column.texts))
    others = {text: _meaning(text, closes=True) for text in column.texts if text not in dates}
    if entry.value and others:
        return entry  # values are those of the other column
    values, notes = _asked(column, others)
    possible, proof = prove_formats(dates, first)
    closing_date = {"closing_date": quoted(column.name)}
    declared = [closing_date | ({"date": one_or_array(formats)} if formats else {}) for formats in possible or [()]]
    lines = [with_keys(entry.value, keys | values) for keys in declared]
    columns = (*entry.columns, column.name)
    if len(lines) == 1:
        comment = "; ".join(filter(None, (entry.comment, proof and f"closing dates {proof}")))
        return ProposedEntry(lines[0], columns, comment, (*entry.notes, *notes))
    asked = f"Which format is {quoted(dates[0])} in? The first records do not show it. {KEEP_ONE}"
    choices = (asked, *(f"{IS_OPEN.name} = {line}" for line in lines))
    return ProposedEntry(entry.value, columns, entry.comment, (*entry.notes, *notes, *choices))
