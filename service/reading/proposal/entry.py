"""What is proposed for a field: the keys of its entry as a mapping has them, and what to check; how `is_open` is made.

A word that is not known is never taken for open: the mapping is invalid until the user gives it a meaning.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from service.model.kinds import parse_flag
from service.model.records import STORES, Field
from service.reading.columns.dates import RFC_3339, may_be_date, possible_formats
from service.reading.columns.field_names import end_of_path
from service.reading.columns.flags import (
    IS_OPEN,
    flag_of,
    has_status_word,
    is_closed_name,
    mentions_status,
    says_closed,
)
from service.reading.mapping.toml import one_or_several, quoted, toml
from service.reading.proposal.first_records import ColumnSample, FirstRecords

_KEEP_ONE: Final = "Keep one of these lines:"
_BOTH: Final = 2  # values of a flag
_MAX_UNKNOWN: Final = 10  # unknown texts that get an empty entry each; more are free text
Keys: TypeAlias = Mapping[str, Any]


class ProposedEntry(msgspec.Struct, frozen=True):
    """A proposed mapping of a field.

    keys     of its table; none if the file does not show them
    columns  the columns that it is made of
    comment  what to check about the keys
    notes    what to know before them
    """

    keys: Keys = {}
    columns: tuple[str, ...] = ()
    comment: str = ""
    notes: tuple[str, ...] = ()

    def declared(self, **keys: object) -> str:
        """Return the entry in TOML, with more keys."""
        return toml(shortest({**self.keys, **keys}))


Entries: TypeAlias = Mapping[str, ProposedEntry]  # by field


def shortest(keys: Keys) -> str | Keys:
    """Return an entry as it is written: a column alone is no table."""
    return keys["from"] if keys.keys() == {"from"} else keys


def used_columns(entries: Entries) -> set[str]:
    """Return the columns that entries are made of."""
    return {name for entry in entries.values() for name in entry.columns}


def unused_columns(first: FirstRecords, entries: Entries) -> dict[str, ColumnSample]:
    """Return the columns with values that no entry is made of."""
    used = used_columns(entries)
    return {name: column for name, column in first.columns.items() if name not in used and column.has_values}


def entry_of(
    column: ColumnSample, keys: Keys | None = None, comment: str = "", notes: Iterable[str] = ()
) -> ProposedEntry:
    """Return the entry of one column, with more keys."""
    return ProposedEntry({"from": column.name, **(keys or {})}, (column.name,), comment, tuple(notes))


def join(columns: Sequence[str], comment: str = "", **keys: object) -> ProposedEntry:
    """Return the entry of columns that are joined, unless there is only one."""
    own = {"from": columns[0]} if len(columns) == 1 else {"join": columns, **keys}
    return ProposedEntry(own, tuple(columns), comment)


def prove_formats(texts: Sequence[str], first: FirstRecords) -> tuple[list[tuple[str, ...]], str]:
    """Return the formats that dates may have, a single one if a column proves it, and which; "" without a proof.

    A column with only one possible format does, if the dates are written like it, and no other contradicts it.
    """
    possible = possible_formats(texts)
    if len(possible) > 1:
        proven: dict[str, str] = {}  # without times
        for column in first.columns.values():  # most of which have no dates
            own = possible_formats(column.texts) if possible_formats(column.texts[:1]) else []
            proven |= {_day(each): column.name for each in own[0]} if len(own) == 1 else {}
        days = {found: [_day(each) for each in found if each != RFC_3339] for found in possible}
        fitting = [found for found, declared in days.items() if all(each in proven for each in declared)]
        if len(fitting) == 1:
            return fitting, f"as {quoted(proven[days[fitting[0]][0]])} proves"
    return possible, ""


def _day(format_of_date: str) -> str:
    """Return the part of a format before its time."""
    return format_of_date.partition(" h")[0].rstrip(",")


def with_formats(
    entry: ProposedEntry, field: str, keys: Keys, formats: Sequence[Sequence[str]], example: str
) -> ProposedEntry:
    """Return an entry with keys and the format of its dates; of several, as lines one of which the user keeps."""
    tables = [{**keys, **({"date": one_or_several(each)} if each else {})} for each in formats]
    if len(tables) == 1:
        return msgspec.structs.replace(entry, keys=tables[0])
    asked = f"Which format is {quoted(example)} in? The first records do not show it. {_KEEP_ONE}"
    lines = (f"{field} = {toml(each)}" for each in tables)
    return msgspec.structs.replace(entry, notes=(*entry.notes, asked, *lines))


def fill_in(field: Field, unused: Iterable[ColumnSample], first: FirstRecords) -> ProposedEntry:
    """Return the entry of a required field that no column is for, which the user fills in."""
    comment = "required: fill in"
    if field.name == STORES.identifier:
        distinct = [quoted(column.name) for column in unused if len(column.texts) == first.count > 1][:3]
        such_as = f", such as {' or '.join(distinct)}" if distinct else ""
        comment = f"required: put a column that identifies the store here{such_as}"
    return ProposedEntry({"constant": ""}, comment=comment)


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
        f"{field.name} = {entry.declared(default='')}",
    )


def find_flags(columns: Iterable[ColumnSample]) -> ColumnSample | None:
    """Return the column that says what is open, if there is one: the one with the fewest unknown words."""
    return min(filter(_says_what_is_open, columns), key=_count_unknown, default=None)


def is_flag(column: ColumnSample) -> bool:
    """Return whether some words of a column are known."""
    return _count_unknown(column) < len(column.texts) or not column.texts


def says_yes_and_no(column: ColumnSample) -> bool:
    """Return whether a column has words for both, and no others: `On` alone is a name."""
    cells = {*column.values} - {None}
    return len(cells) < _MAX_UNKNOWN and {flag_of(str(cell)) for cell in cells} == {True, False}


def _says_what_is_open(column: ColumnSample) -> bool:
    """Return whether a column has words for open and closed, or is one of states with words for yes and no."""
    has_states = bool(column.texts) and has_status_word(column.name) and not _count_unknown(column)
    return not is_closed_name(column.name) and (has_states or mentions_status(end_of_path(column.name), column.values))


def _count_unknown(column: ColumnSample) -> int:
    return sum(flag_of(text) is None for text in column.texts)


def flag_entry(column: ColumnSample) -> ProposedEntry:
    """Return the entry of `is_open` that is made of one column."""
    closes = is_closed_name(column.name)
    plain = not closes and all(parse_flag(text) is not None for text in column.texts)
    entry = entry_of(column) if plain else _with_values(column, closes=closes)
    blanks = () if closes else _notes_on_blanks(column, entry)
    return msgspec.structs.replace(entry, notes=(*entry.notes, *blanks))


def propose_closing(columns: Sequence[ColumnSample], entries: Entries, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return the entry of `is_open` with a column of closing dates, if one of some columns is named like that."""
    closing = [column for column in columns if is_closed_name(column.name) and column.has_values]
    dated = next((column for column in closing if any(map(may_be_date, column.texts))), None)
    if dated is not None:
        return {IS_OPEN.name: _with_closing_date(entries.get(IS_OPEN.name, ProposedEntry()), dated, first)}
    return {IS_OPEN.name: flag_entry(closing[0])} if closing and IS_OPEN.name not in entries else {}


def _with_values(column: ColumnSample, *, closes: bool) -> ProposedEntry:
    flags = [toml(cell) for cell in column.values if isinstance(cell, bool)]
    texts = list({text.casefold(): text for text in (*column.texts, *flags)}.values())
    values = {text: _meaning(text, closes=closes) for text in texts}
    known = [value for value in values.values() if value is not None]
    if closes and not known:
        return entry_of(column, {"other": False, "default": True}, "any text means closed")
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


def _asked(column: ColumnSample, values: Mapping[str, bool | None]) -> tuple[Keys, tuple[str, ...]]:
    unknown, name = [quoted(text) for text, value in values.items() if value is None], quoted(column.name)
    if len(unknown) <= _MAX_UNKNOWN:
        keys, asked = _values(values) if values else {}, f"give {', '.join(unknown)} in {name}"
    else:
        keys = {**_values({text: value for text, value in values.items() if value is not None}), "other": ""}
        asked = f"{name} has {len(unknown)} other texts, such as {unknown[0]}: give other"
    note = f"To do: {asked} the value true (open) or false (closed). The mapping is invalid until then."
    return keys, (note,) if unknown else ()


def _values(values: Mapping[str, bool | None]) -> Keys:
    return {"values": {quoted(text): "" if value is None else value for text, value in values.items()}}


def _notes_on_blanks(column: ColumnSample, entry: ProposedEntry) -> Iterator[str]:
    """Yield what to do if records without a value mean no, as they do if only yes is written."""
    blank = column.cells.count(None)
    if entry.keys and blank and column.texts and all(flag_of(text) for text in column.texts):
        found = f"{quoted(column.name)} has no value in {blank:,} of the first {len(column.cells):,} records"
        yield f"{found}, and never says no. These stores are served as open. If they are closed, use this line instead:"
        yield f"{IS_OPEN.name} = {entry.declared(default=False)}"


def _questions(column: ColumnSample, texts: Sequence[str]) -> Iterator[str]:
    name = quoted(column.name)
    if len(texts) != _BOTH:
        yield f"{name} looks like {IS_OPEN.name}, but its values (such as {quoted(texts[0])}) are not yes or no."
        return
    yield f"Which value of {name} means yes? {_KEEP_ONE}"
    for yes in texts:
        yield f"{IS_OPEN.name} = {toml({'from': column.name, **_values({text: text == yes for text in texts})})}"


def _with_closing_date(entry: ProposedEntry, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    dates = list(filter(may_be_date, column.texts))
    others = {text: _meaning(text, closes=True) for text in column.texts if text not in dates}
    if entry.keys and others:
        return entry  # values are those of the other column
    values, notes = _asked(column, others)
    formats, proof = prove_formats(dates, first)
    comment = "; ".join(filter(None, (entry.comment, proof and f"closing dates {proof}")))
    both = ProposedEntry(entry.keys, (*entry.columns, column.name), comment, (*entry.notes, *notes))
    keys = {**entry.keys, "closing_date": column.name, **values}
    return with_formats(both, IS_OPEN.name, keys, formats or [()], dates[0])
