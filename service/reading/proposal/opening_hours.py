"""Propose opening hours: of a column of texts, of one for each day, or of JSON, if most values can be read."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from itertools import islice
from typing import Final

import msgspec

from service.model.hours import DAYS
from service.reading.batch import Batch, Invalid, RecordFile
from service.reading.columns.countries import provinces_of, time_zones
from service.reading.columns.flags import utc_today
from service.reading.hours.documents import MEMBERS
from service.reading.hours.reader import HoursReader
from service.reading.hours.rules import NAMES_OF_DAYS, days_of
from service.reading.hours.schedule import HoursError
from service.reading.mapping.toml import quoted, toml
from service.reading.proposal.attributes import attribute_name
from service.reading.proposal.entry import Keys, ProposedEntry, unused_columns, used_columns
from service.reading.proposal.first_records import FIRST, ColumnSample, FirstRecords
from service.texts import truncate

_WORD: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
# A digit beside a letter or a colon: not `10-12`, which may be anything, nor a date.
_TIMES: Final = re.compile(r"24/7|[0-9].*[^\W\d_:]|[^\W\d_].*[0-9]|[0-9]:[0-9]", re.DOTALL)
# From a time to an hour, and no date.
_RANGE: Final = re.compile(r"(?<![\d-])\d\d?(?:[:.]\d\d)? ?(?:[AaPp]\.?[Mm]\.?)? ?(?:[-\u2013]|to) ?\d\d?(?![\d-])")
_NAMED: Final = re.compile("hours|open|o?effnung|offnung|horaire|orari")
# The path of a member of a week in JSON.
_OF_WEEK: Final = re.compile(r"(.+?)\.(?:periods\.0\.openDay|(?:0\.)?day(?:OfWeek(?:\.0)?)?)")
_FEWEST_DAYS: Final = 4  # that have columns
_TRIED: Final = 20  # distinct values of each source
_AREAS: Final = ("country", "province")
_OPENS: Final = '"opens"'
_ZONE: Final = "UTC"  # whichever the zone of a store is, its hours are read alike


class _Source(msgspec.Struct, frozen=True):
    """Columns that may have hours: one, or that of each day; what declares them; whether nothing else is likely.

    exceptions  the column of exceptions, "" if there is none
    """

    columns: Sequence[str]
    keys: Keys
    is_sure: bool = True
    exceptions: str = ""


def propose_hours(
    file: RecordFile, first: FirstRecords, entries: Mapping[str, ProposedEntry]
) -> tuple[str, AbstractSet[str], Sequence[str]]:
    """Return hours of which most values can be read, in TOML, and the columns that they are made of; "" for none.

    No entry has these columns. If there are none, comments name the columns of hours and why they cannot be read.
    Raises FileError.
    """
    names = [name for name in first.columns if name not in used_columns(entries)]
    unused = unused_columns(first, entries)
    weeks = dict.fromkeys(found[1] for found in map(_OF_WEEK.fullmatch, names) if found)  # paths in JSON
    documents = [_of_column(week, names, is_sure=True) for week in weeks]
    sources = [*_weeks(names), *documents, *_texts(unused.values(), names)]
    columns = {name for each in sources for name in (*each.columns, each.exceptions) if name}
    batch = next(file.batches(list(columns)), None) if columns else None
    tried = [] if batch is None else [(each, *_count(batch, each, _TRIED)) for each in sources]
    likely = [(each, read) for each, read, unread in tried if read > len(unread)]
    if batch is None or not likely:
        return "", frozenset(), [*_reasons(tried, first)]
    best, _ = max(likely, key=lambda each: (each[0].is_sure, each[1]))
    read, unread = _count(batch, best)
    zone, column = _zone(first, entries, unused.values())
    value = toml({**best.keys, **zone, "invalid": "null"})
    own = {*best.columns, best.exceptions, column}
    paths = () if file.is_table else tuple(f"{name}." for name in own if name)
    return (
        f"{value}  # {read:,} of {read + len(unread):,} values read",
        {name for name in names if name in own or name.startswith(paths)},
        (),
    )


def _reasons(tried: Iterable[tuple[_Source, int, Sequence[Invalid]]], first: FirstRecords) -> Iterator[str]:
    """Yield a comment for each source that is named for hours and has times, with the first error."""
    for source, _, unread in tried:
        columns = [name for name in source.columns if name in first.columns]
        has_times = any(_RANGE.search(text) for name in columns for text in first.columns[name].texts)
        if source.is_sure and unread and has_times:
            example = quoted(truncate(unread[0].text))
            yield f"# {', '.join(map(quoted, columns))}: {unread[0].issue.why}, such as {example}."


def _weeks(names: Sequence[str]) -> Iterator[_Source]:
    """Yield those columns whose names have a day and are else alike."""
    groups = defaultdict[str, dict[str, str]](dict)
    for name in names:
        for word in _WORD.finditer(name):
            groups[f"{name[: word.start()]}\n{name[word.end() :]}"].setdefault(word[0].casefold(), name)
    for group in groups.values():
        if _FEWEST_DAYS <= len(group) <= len(DAYS):
            try:
                numbers = days_of(group)
            except HoursError:
                continue
            columns = {number: group[word] for word, number in numbers.items()}
            days = {day: columns[number] for number, day in enumerate(DAYS) if number in columns}
            if len(days) == len(group):
                keys = {"kind": "hours", "days": days}
                yield _Source([columns.get(number, "") for number in range(len(DAYS))], keys)


def _texts(columns: Iterable[ColumnSample], names: Sequence[str]) -> Iterator[_Source]:
    """Yield columns with such a name or with times in most texts, but those of one day or of the first of an array."""
    for column in columns:
        texts, words = column.texts[:_TRIED], map(str.casefold, _WORD.findall(column.name))
        is_part = column.name.endswith(FIRST) or not NAMES_OF_DAYS.isdisjoint(words)
        is_named = _NAMED.search(attribute_name(column.name)) is not None
        if not is_part and (is_named or 2 * sum(_TIMES.search(text) is not None for text in texts) > len(texts)):
            yield _of_column(column.name, names, is_sure=is_named)


def _of_column(name: str, names: Sequence[str], *, is_sure: bool) -> _Source:
    """Return a column, and that of its exceptions if it has such a name."""
    parent, dot, member = name.rpartition(".")
    exceptions = f"{parent}{dot}{MEMBERS.get(member)}"
    has_exceptions = any(each == exceptions or each.startswith(f"{exceptions}.") for each in names)
    keys = {"from": name} | ({"exceptions": exceptions} if has_exceptions else {})
    return _Source([name], keys | {"kind": "hours"}, is_sure, exceptions if has_exceptions else "")


def _count(batch: Batch, source: _Source, most: int | None = None) -> tuple[int, Sequence[Invalid]]:
    """Return how many of the first `most` distinct values are hours, 0 if all are closed, and those that are not."""
    none = [None] * len(batch.numbers)
    columns = [batch.columns[name] if name else none for name in (*source.columns, source.exceptions)]
    rows = list(zip(*columns, strict=True))
    distinct = set(islice(dict.fromkeys(rows), most))
    rows = [each for each in rows if each in distinct]
    sources = [each[0] if len(source.columns) == 1 else each[:-1] for each in rows]
    reader = HoursReader(holidays=None, as_of=utc_today(), is_null_if_invalid=True)
    cells = reader.column(sources, [each[-1] for each in rows], [_ZONE] * len(rows), none[: len(rows)])
    unread = [each for each in cells if isinstance(each, Invalid) and each.value is None]
    are_open = any(_OPENS in str(each.value if isinstance(each, Invalid) else each) for each in cells)
    return sum(each is not None for each in cells) - len(unread) if are_open else 0, unread


def _zone(
    first: FirstRecords, entries: Mapping[str, ProposedEntry], unused: Iterable[ColumnSample]
) -> tuple[Keys, str]:
    """Return the key of time zones, and their column; or of a table by province, whose gaps are to be filled in."""
    if column := next((each.name for each in unused if each.texts and set(each.texts) <= time_zones()), ""):
        return {"timezone": {"from": column}}, column
    columns = {field: entries[field].columns[:1] for field in _AREAS if field in entries}
    texts = {field: first.columns[name].texts for field, names in columns.items() for name in names}
    spelt = {attribute_name(text): text for text in texts.get("province", ())}
    rows = dict.fromkeys(row for country in texts.get("country", ()) for row in provinces_of(country))
    zones = defaultdict[str, set[str]](set)
    for spellings in zip(*(row[:2] for row in rows), strict=True):
        if not spelt.keys().isdisjoint(map(attribute_name, spellings)):
            for name, (_, _, zone) in zip(spellings, rows, strict=True):
                zones[spelt.get(attribute_name(name), name)].add(zone)
    if not zones:
        return {}, ""
    values = {quoted(name): "".join(some) if len(some) == 1 else "" for name, some in zones.items()}
    return {"timezone": {"from": columns["province"][0], "values": values, "other": ""}}, ""
