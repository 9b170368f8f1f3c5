"""Propose attributes for the columns that are left: as comments, so that adding one is deleting a `#`.

Opening hours are those of a column of texts, of one for each day, or of JSON, if most values can be read.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from functools import partial
from itertools import count, islice
from typing import Final
from unicodedata import combining, normalize

import msgspec

from service.model.attributes import NAME, RESERVED, SEPARATOR, AttributeKind
from service.model.hours import DAYS
from service.model.records import PREFIX, STORES
from service.reading.batch import Batch, Invalid, RecordFile
from service.reading.characters import REPAIRS
from service.reading.columns.countries import provinces_of, time_zones
from service.reading.columns.field_names import COORDINATES, is_identifier_name, suggest_field
from service.reading.columns.flags import IS_OPEN, flag_of, utc_today
from service.reading.hours.documents import MEMBERS
from service.reading.hours.reader import HoursReader
from service.reading.hours.rules import NAMES_OF_DAYS, days_of
from service.reading.hours.schedule import HoursError
from service.reading.mapping.conversions import AttributeReader
from service.reading.mapping.declaration import FieldMapping
from service.reading.mapping.toml import one_or_several, quoted, toml
from service.reading.proposal.entry import Entries, Keys, prove_formats, unused_columns, used_columns
from service.reading.proposal.first_records import FIRST, NUMBER, ColumnSample, FirstRecords
from service.texts import truncate

_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})?")
_TIME: Final = re.compile("[0-9]:[0-9]{2}")
_TIMES: Final = re.compile("time|date|stamp|created|updated|modified|datum|fecha|zeit", re.IGNORECASE)
_SINCE_1970: Final = {"unix", "unix-ms"}  # formats that other numbers have, too
_BITS: Final = {"0", "1"}
# Texts of these kinds, if all have a sign of it, too.
_SIGNS: Final[Mapping[AttributeKind, re.Pattern[str]]] = {
    "image": re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#]|$)", re.IGNORECASE),
    "url": re.compile(""),
    "email": re.compile(""),
    "phone": re.compile(r"^\+"),
}
_HOW: Final = "# The columns that are left: to serve one, delete the # of its line."
_HOURS: Final = "opening_hours"
_NOT_ASCII: Final = re.compile(r"[^a-z0-9]+")
_MAX_NAME: Final = 50  # characters, so that a number has a place behind them
_WORD: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
# A digit beside a letter or a colon: not `10-12`, which may be anything, nor a date.
_HAS_TIMES: Final = re.compile(r"24/7|[0-9].*[^\W\d_:]|[^\W\d_].*[0-9]|[0-9]:[0-9]", re.DOTALL)
# From a time to an hour, and no date.
_RANGE: Final = re.compile(r"(?<![\d-])\d\d?(?:[:.]\d\d)? ?(?:[AaPp]\.?[Mm]\.?)? ?(?:[-\u2013]|to) ?\d\d?(?![\d-])")
_NAMED: Final = re.compile("hours|open|o?effnung|offnung|horaire|orari")
# The path of a member of a week in JSON.
_OF_WEEK: Final = re.compile(r"(.+?)\.(?:periods\.0\.openDay|(?:0\.)?day(?:OfWeek(?:\.0)?)?)")
_FEWEST_DAYS: Final = 4  # that have columns
_TRIED: Final = 20  # distinct values of each source
_ZONE: Final = "UTC"  # whichever the zone of a store is, its hours are read alike


def _kind_keys(column: ColumnSample, first: FirstRecords, *, decimal: str) -> Keys:
    """Return the keys of the kind of a column, none for texts; `decimal` separates decimals of the stores."""
    texts, has_flags = set(column.texts), any(isinstance(cell, bool) for cell in column.values)
    is_code = _is_code(column.name) and not has_flags  # ON is a province, NO a country
    may_be_flag = not is_code and (not texts <= _BITS or texts in (_BITS, set()))  # of digits only if there are both
    if may_be_flag and _fits(column, "flag"):
        return {"kind": "flag"}
    if not has_flags:
        possible = [()] if _fits(column, "date") else prove_formats(column.texts, first)[0]
        if len(possible) == 1 and (_SINCE_1970.isdisjoint(possible[0]) or _TIMES.search(column.name)):
            return {"kind": "date", **({"date": one_or_several(possible[0])} if possible[0] else {})}
        if all(map(NUMBER.fullmatch, column.texts)) and not is_code:
            return _number(column, decimal)
        flags = {quoted(text): flag_of(text) for text in column.texts if not is_code}
        if None not in flags.values() and True in flags.values():  # Sundays are closed, but have hours elsewhere
            return {"kind": "flag", "values": flags}
    for kind, sign in _SIGNS.items():
        if all(map(sign.search, column.texts)) and _fits(column, kind):
            return {"kind": kind}
    # Separators of lists, not those between opening hours, in most texts.
    all_texts = [REPAIRS["entities"](cell) for cell in column.values if isinstance(cell, str)]
    is_list = 2 * sum(SEPARATOR in text and not _TIME.search(text) for text in all_texts) > len(all_texts)
    return {"kind": "list"} if is_list else {}


def _is_code(name: str) -> bool:
    """Return whether a name is that of numbers with which nobody calculates, as `plz` or `Code`, and of no flags."""
    fields = {suggest_field(each, STORES) for each in (name, *name.split(".")[-2:])}
    return is_identifier_name(name) or not fields <= {None, *COORDINATES, IS_OPEN.name}


def _number(column: ColumnSample, decimal: str) -> Keys:
    """Return the keys of numbers, none if they may have separated thousands."""
    if _fits(column, "number", decimal=decimal):
        return {"kind": "number"}
    if decimal == "," or all(map(_THOUSANDS.fullmatch, column.texts)) or not _fits(column, "number", decimal=","):
        return {}
    return {"kind": "number", "decimal": ","}


def _fits(column: ColumnSample, kind: AttributeKind, *, decimal: str = ".") -> bool:
    reader = AttributeReader(FieldMapping(kind=kind, decimal=decimal))
    return not any(isinstance(cell, Invalid) for cell in reader.column(column.values))


def propose_attributes(
    columns: Sequence[ColumnSample], hours: str, first: FirstRecords, *, decimal: str, paths: bool
) -> list[str]:
    """Return the lines of a mapping that declare opening hours, "" for none, and columns.

    `paths` if the names of columns are paths; `decimal` is the decimal separator of the stores.
    """
    of_hours = [f"# {_HOURS} = {hours}"] if hours else []
    taken = RESERVED | {field.name for field in STORES.fields} | {_HOURS for _ in of_hours}
    names = distinct((attribute_name(column.name) for column in columns), taken)
    keys_of = partial(_keys, first=first, decimal=decimal, paths=paths)
    lines = of_hours + [f"# {name} = {_entry(column, keys_of)}" for name, column in zip(names, columns, strict=False)]
    return [f"[{STORES.name}.attributes]", _HOW, *lines] if lines else []


def distinct(names: Iterable[str], taken: AbstractSet[str]) -> Iterator[str]:
    """Yield names, with a number if they are taken, also by those before."""
    for name in names:
        numbered = (f"{name}_{number}" for number in count(2))
        chosen = name if name not in taken else next(each for each in numbered if each not in taken)
        taken |= {chosen}
        yield chosen


def attribute_name(column: str) -> str:
    """Return the name of a column in ASCII, as that of an attribute."""
    letters = normalize("NFKD", column.removeprefix(PREFIX).removesuffix(FIRST).casefold())
    plain = "".join(letter for letter in letters if not combining(letter))
    name = _NOT_ASCII.sub("_", plain).strip("_")[:_MAX_NAME]
    return name if NAME.fullmatch(name) else f"column_{name}".strip("_")


def _entry(column: ColumnSample, keys_of: Callable[[ColumnSample], Keys]) -> str:
    """Return an attribute in TOML; if the first records show another kind, with a record that contradicts it."""
    keys, comment = keys_of(column), ""
    if column.late and (earlier := msgspec.structs.replace(column, late={}, is_late=False)).has_values:
        text, record = next((str(cell), record) for cell, record in column.late.items())
        comment = f"  # record {record:,} has {quoted(text)}" if keys_of(earlier) != keys else ""
    return f"{toml(keys)}{comment}"


def _keys(column: ColumnSample, first: FirstRecords, *, decimal: str, paths: bool) -> Keys:
    array = column.name.removesuffix(FIRST)
    is_first = array != column.name and all(isinstance(cell, str | None) for cell in column.values)  # of texts
    is_list = paths and (is_first or (column.texts and all(text.startswith("[") for text in column.texts)))
    found = {"kind": "list"} if is_list else _kind_keys(column, first, decimal=decimal)
    optional = {"optional": True} if column.is_late else {}
    return {"from": array if is_list else column.name, **found, "invalid": "null", **optional}


class _Source(msgspec.Struct, frozen=True):
    """Columns that may have hours: one, or that of each day; what declares them; whether nothing else is likely."""

    columns: Sequence[str]
    keys: Keys
    is_sure: bool = True


def propose_hours(file: RecordFile, first: FirstRecords, entries: Entries) -> tuple[str, set[str], Sequence[str]]:
    """Return hours of which most values can be read, in TOML, and the columns that they are made of; "" for none.

    No entry has these columns. If there are none, comments name the columns of hours and why they cannot be read.
    Raises FileError.
    """
    names = [name for name in first.columns if name not in used_columns(entries)]
    unused = unused_columns(first, entries)
    weeks = dict.fromkeys(found[1] for found in map(_OF_WEEK.fullmatch, names) if found)  # paths in JSON
    documents = [_of_column(week, names, is_sure=True) for week in weeks]
    sources = [*_weeks(names), *documents, *_texts(unused.values(), names)]
    columns = {name for each in sources for name in (*each.columns, each.keys.get("exceptions")) if name}
    batch = next(file.batches(list(columns)), None) if columns else None
    tried = [] if batch is None else [(each, *_count(batch, each, _TRIED)) for each in sources]
    likely = [(each, read) for each, read, unread in tried if read > len(unread)]
    if batch is None or not likely:
        return "", set(), [*_reasons(tried, first)]
    best, _ = max(likely, key=lambda each: (each[0].is_sure, each[1]))
    read, unread = _count(batch, best)
    zone, column = _zone(first, entries, unused.values())
    value = toml({**best.keys, **zone, "invalid": "null"})
    own = {*best.columns, best.keys.get("exceptions", ""), column}
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
            if (day := word[0].casefold()) in NAMES_OF_DAYS:
                groups[f"{name[: word.start()]}\n{name[word.end() :]}"].setdefault(day, name)
    for group in groups.values():
        if len(group) >= _FEWEST_DAYS:
            with suppress(HoursError):
                columns = {number: group[day] for day, number in days_of(group).items()}
                days = {day: columns[number] for number, day in enumerate(DAYS) if number in columns}
                if len(days) == len(group):
                    every_day = [columns.get(number, "") for number in range(len(DAYS))]
                    yield _Source(every_day, {"kind": "hours", "days": days})


def _texts(columns: Iterable[ColumnSample], names: Sequence[str]) -> Iterator[_Source]:
    """Yield columns with such a name or with times in most texts, but those of one day or of the first of an array."""
    for column in columns:
        texts, words = column.texts[:_TRIED], map(str.casefold, _WORD.findall(column.name))
        is_part = column.name.endswith(FIRST) or not NAMES_OF_DAYS.isdisjoint(words)
        is_named = _NAMED.search(attribute_name(column.name)) is not None
        if not is_part and (is_named or 2 * sum(_HAS_TIMES.search(text) is not None for text in texts) > len(texts)):
            yield _of_column(column.name, names, is_sure=is_named)


def _of_column(name: str, names: Sequence[str], *, is_sure: bool) -> _Source:
    """Return a column, and that of its exceptions if it has such a name."""
    parent, dot, member = name.rpartition(".")
    exceptions = f"{parent}{dot}{MEMBERS.get(member)}"
    has_exceptions = any(each == exceptions or each.startswith(f"{exceptions}.") for each in names)
    keys = {"from": name} | ({"exceptions": exceptions} if has_exceptions else {})
    return _Source([name], keys | {"kind": "hours"}, is_sure)


def _count(batch: Batch, source: _Source, most: int | None = None) -> tuple[int, Sequence[Invalid]]:
    """Return how many of the first `most` distinct values are hours, 0 if all are closed, and those that are not."""
    none = [None] * len(batch.numbers)
    columns = [batch.columns[name] if name else none for name in (*source.columns, source.keys.get("exceptions"))]
    rows = list(zip(*columns, strict=True))
    distinct = set(islice(dict.fromkeys(rows), most))
    rows = [each for each in rows if each in distinct]
    sources = [each[0] if len(source.columns) == 1 else each[:-1] for each in rows]
    reader = HoursReader(holidays=None, as_of=utc_today(), is_null_if_invalid=True)
    cells = reader.column(sources, [each[-1] for each in rows], [_ZONE] * len(rows), none[: len(rows)])
    unread = [each for each in cells if isinstance(each, Invalid) and each.value is None]
    are_open = any('"opens"' in str(each.value if isinstance(each, Invalid) else each) for each in cells)
    return sum(each is not None for each in cells) - len(unread) if are_open else 0, unread


def _zone(first: FirstRecords, entries: Entries, unused: Iterable[ColumnSample]) -> tuple[Keys, str]:
    """Return the key of time zones, and their column; or of a table by province, whose gaps are to be filled in."""
    if column := next((each.name for each in unused if each.texts and set(each.texts) <= time_zones()), ""):
        return {"timezone": {"from": column}}, column
    columns = {field: entries[field].columns[:1] for field in ("country", "province") if field in entries}
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
