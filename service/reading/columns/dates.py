"""The formats that dates may have: 31.05.2024 is in May, but 05.06.2024 is in May or in June."""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final, TypeAlias

from service.model.kinds import INSTANT_PATTERN, parse_instant, trim
from service.reading.batch import Cell, Invalid
from service.reading.diagnostics import Issue
from service.texts import repeated

Cells: TypeAlias = Sequence[Cell]
MAX_CACHED: Final = 1 << 16  # texts; columns with many distinct ones must not exhaust memory
RFC_3339: Final = "rfc3339"  # the format of dates of the data format
# A token -> the part that it is, and its text. `mm` after hours is minutes.
TOKENS: Final = {
    "yyyy": ("year", "[0-9]{4}"),
    "yy": ("year", "[0-9]{2}"),
    "mmm": ("month", r"[^\W\d_]{3,}\.?"),
    "mm": ("month", "[0-9]{2}"),
    "m": ("month", "[0-9]{1,2}"),
    "ddd": ("weekday", r"[^\W\d_]{2,}\.?"),
    "dd": ("day", "[0-9]{2}"),
    "d": ("day", "[0-9]{1,2}"),
    "hh": ("hour", "(?:[01][0-9]|2[0-3])"),
    "h": ("hour", "(?:[01]?[0-9]|2[0-3])"),
    "ss": ("second", "[0-5][0-9]"),
    "am/pm": ("half", "[AaPp][Mm]"),
    "t": ("mark", "[Tt]"),
    "zz": ("offset", r"(?:[.,][0-9]{1,9})? ?(?:Z|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?)"),
}
# In English, German, French, Spanish, Italian and Dutch; three letters are enough if no other month has them.
_MONTHS: Final = (
    "january januar jänner janvier enero gennaio januari",
    "february februar février fevrier febrero febbraio februari",
    "march märz maerz mrz mars marzo maart mrt",
    "april avril abril aprile",
    "may mai mayo maggio mei",
    "june juni juin junio giugno",
    "july juli juillet julio luglio",
    "august août aout agosto augustus",
    "september septembre septiembre settembre setiembre",
    "october oktober octobre octubre ottobre",
    "november novembre noviembre",
    "december dezember décembre decembre diciembre dicembre",
)
_SECONDS_OF: Final = {"unix": 1, "unix-ms": 1000}  # formats: the time since 1970 in these parts of a second
_HALF_DAY_HOURS: Final = {"hh": "(?:0[1-9]|1[0-2])", "h": "(?:0?[1-9]|1[0-2])"}
_TOKEN: Final = re.compile("|".join(sorted(TOKENS.keys() - {"t"}, key=len, reverse=True)) + r"|t(?=h)|[^\W_]+|[\W_]")
_DATE: Final = ("year", "month", "day")
_TIME: Final = ("hour", "minute", "second")
_YEAR_END: Final = 12
_FRACTION_AND_OFFSET: Final = re.compile("([.,][0-9]+)? ?(?:([+-][0-9]{2}):?([0-9]{2})?)?")
_PIVOT: Final = 69  # of years with two digits, as in POSIX: 69 is 1969, 68 is 2068
_HALF_DAY: Final = 12
_OFFSET: Final = len("2000-01-01T00:00:00")
_CHANGES: Final = "?"
_MAX_LENGTH: Final = 100  # characters of a format
DateParser: TypeAlias = Callable[[str], tuple[str, str] | None]
_GAP: Final = "[./-] ?|,? "
_NUMBERS: Final = {"d": "[0-9]{1,2}", "m": r"(?:[0-9]{1,2}|[^\W\d_]{3,}\.?)", "y": "(?:[0-9]{2}|[0-9]{4})"}
# The order of day, month and year -> dates that may have it, with a weekday and a time.
_ORDERS: Final = {
    f"{first}{second}{third}": re.compile(
        rf"(?:[^\W\d_]{{2,}}\.?(?P<weekday>,? ))?(?P<{first}>{_NUMBERS[first]})(?P<before>{_GAP})"
        rf"(?P<{second}>{_NUMBERS[second]})(?P<after>{_GAP})(?P<{third}>{_NUMBERS[third]})"
        r"(?:(?P<gap>,? |[Tt])(?P<h>[0-9]{1,2}):[0-9]{2}(?P<seconds>:[0-9]{2})?(?P<half> ?[AaPp][Mm])?"
        rf"(?P<space> ?)(?P<offset>{TOKENS['zz'][1]})?)?"
    )
    for first, second, third in ("dmy", "mdy", "ymd")
}
# Dates of digits alone; others are rather numbers: before 1900 and from 2100 on, and the time since 1970 before 1973.
_OF_DIGITS: Final = {
    "yyyymmdd": re.compile("(?:19|20)[0-9]{6}"),
    "unix": re.compile(r"(?:[1-9][0-9]{8}|[1-3][0-9]{9})(?:\.[0-9]{1,6})?"),
    "unix-ms": re.compile("[1-9][0-9]{11}|[1-3][0-9]{12}"),
}
# What dates with names of months may have besides: 1st, 1er, 3 de mayo de 2024.
_FILLER: Final = re.compile(r"(?<=[0-9])(?:st|nd|rd|th|er|[ºª])\b|\b(?:de|del|di|of) ", re.IGNORECASE)
_SECONDS: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?")
# Formats of months and years, which are proposed for dates only: most other numbers like these are none.
_WITHOUT_DAYS: Final = (
    *("yyyy", "yyyy-mm", "yyyy/mm", "mmm-yy", "mmm, yyyy"),
    *(f"{month}{gap}yyyy" for month in ("mm", "m", "mmm") for gap in "-/. "),
)


def cached_converter(convert: Callable[[str], Cell]) -> Callable[[Cell], Cell]:
    """Return what converts texts that are not blank, stripped and each distinct one once; other cells stay the same."""

    @lru_cache(MAX_CACHED)
    def converted(cell: Cell) -> Cell:
        text = trim(cell) if isinstance(cell, str) else ""
        return convert(text) if text else cell

    return converted


@lru_cache(MAX_CACHED)
def parse_date_format(text: str, *, ends: bool = False) -> DateParser:
    """Return the parser of a declared format. Raises ValueError, with what is wrong.

    It returns a date, which may not exist, and a time, as in RFC 3339; None for a text in another format. A month or a
    year is its first day, or its last if `ends`.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"longer than {_MAX_LENGTH} characters")
    if (parts_of_second := _SECONDS_OF.get(text)) is not None:
        return partial(_since_1970, parts_of_second)
    parts: list[str] = []
    pattern = ""
    tokens = _TOKEN.findall(text.lower())
    for token in tokens:
        if token in TOKENS:
            part, digits = TOKENS[token]
            if part == "month" and parts and parts[-1] == "hour":
                part, digits = "minute", "[0-5][0-9]"
            if part == "hour" and "am/pm" in tokens:
                digits = _HALF_DAY_HOURS[token]
            parts.append(part)
            pattern += f"(?P<{part}>{digits})" if parts.count(part) == 1 else digits
        elif token.isalnum():
            raise ValueError(f"unknown part {token!r}; the parts are {', '.join(TOKENS)}")
        else:
            pattern += re.escape(token)
    _check_parts(parts)
    pattern += "".join(f"(?P<{part}>)?" for part in (*_DATE, *_TIME, "half", "offset") if part not in parts)
    return partial(_parse, re.compile(pattern), ends=ends)


def _parse(pattern: re.Pattern[str], text: str, *, ends: bool) -> tuple[str, str] | None:
    match = pattern.fullmatch(text) or pattern.fullmatch(_FILLER.sub("", text))
    if match is None:
        return None
    year, month, day, hour, minute, second, half, offset = match.group(*_DATE, *_TIME, "half", "offset")
    month = month or str(_YEAR_END if ends else 1)
    if not month.isdecimal():
        name = month.rstrip(".").lower()
        found = [number for number, names in enumerate(_MONTHS, 1) if f" {name}" in f" {names}"]
        if len(found) != 1:
            return None
        month = str(found[0])
    if len(year) < len("yyyy"):
        year = ("19" if int(year) >= _PIVOT else "20") + year
    if not day:
        is_month = ends and int(year) and 0 < int(month) <= _YEAR_END
        day = str(monthrange(int(year), int(month))[1] if is_month else 1)
    if half:
        hour = str(int(hour) % _HALF_DAY + _HALF_DAY * (half.lower() == "pm"))
    return f"{year}-{month:0>2}-{day:0>2}", f"{hour or '':0>2}:{minute or '00'}:{second or '00'}{_offset(offset or '')}"


def _offset(text: str) -> str:
    """Return an offset as in RFC 3339, "" for none: `+01`, `+0100` and ` UTC`, after a fraction of a second."""
    parts: tuple[str, str, str] = _FRACTION_AND_OFFSET.findall(text)[0]
    fraction, hours, minutes = parts
    return fraction.replace(",", ".") + (f"{hours}:{minutes or '00'}" if hours else "Z" if text else "")


def _since_1970(parts_of_second: int, text: str) -> tuple[str, str] | None:
    with suppress(OverflowError):
        if _SECONDS.fullmatch(text):
            microseconds = int(Decimal(text) * 10**6 // parts_of_second)
            instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
            return instant.date().isoformat(), f"{instant.time().isoformat()}Z"
    return None


def _check_parts(parts: Sequence[str]) -> None:
    for part in repeated(parts):
        raise ValueError(f"the {part} is repeated; mm is the month, after hours the minutes")
    missing = [part for part in _DATE if part not in parts]
    if missing and (missing not in (["day"], ["month", "day"]) or "hour" in parts):
        raise ValueError(f"the {missing[0]} is missing")
    time = [part in parts for part in _TIME]
    if time != sorted(time, reverse=True) or ("half" in parts and "hour" not in parts):
        raise ValueError("a time needs hours, and seconds need minutes, as in hh:mm:ss")


def instant_converter(
    formats: Sequence[str], zone: tzinfo | None, *, ends: bool = False
) -> Callable[[str], Cell] | None:
    """Return the function from texts in the declared formats to date-times of RFC 3339; None if it changes nothing.

    A date-time that clocks show twice is the first, and one that they skip has the offset before: RFC 5545, 3.3.5.
    `ends` is that of `parse_date_format`.
    """
    declared = [parse_date_format(each, ends=ends) for each in formats if each != RFC_3339]
    if not declared:
        return None if zone is None else lambda text: _in_zone(text, zone)
    standard = RFC_3339 in formats
    issue = Issue("date", f"expected a date as {' or '.join(formats)}, as the mapping declares")
    offset_of = lru_cache(MAX_CACHED)(partial(_offset_of, zone=zone))

    def convert(text: str) -> Cell:
        for parse in declared:
            if (parsed := parse(text)) is not None and (offset := offset_of(parsed[0])) is not None:
                local = "T".join(parsed)
                if len(local) > _OFFSET:
                    return local
                return local + offset if offset != _CHANGES else _localize(local, zone)
        if standard and parse_instant(text) is not None:
            return _in_zone(text, zone)
        return Invalid(text, issue)

    return convert


def day_parser(formats: Sequence[str], *, ends: bool = False) -> Callable[[str], date | None]:
    """Return the function from texts in some formats to days, None for others; no formats are those of the data format.

    The day is that of the date as it is written; `ends` is that of `parse_date_format`.
    """
    convert = instant_converter(formats, None, ends=ends) or str

    def parse(text: str) -> date | None:
        converted = convert(text)
        instant = parse_instant(converted) if isinstance(converted, str) else None
        return None if instant is None else instant.date()

    return parse


def _offset_of(day: str, zone: tzinfo | None) -> str | None:
    """Return the offset of a day, "" without a zone, None of no day; `_CHANGES` for several, and one with seconds."""
    try:
        start = datetime.fromisoformat(day).replace(tzinfo=zone)
    except ValueError:
        return None
    if zone is None:
        return ""
    first, last = start.utcoffset(), start.replace(hour=23, minute=59, second=59).utcoffset()
    return start.isoformat()[_OFFSET:] if first == last and first is not None and not first.seconds % 60 else _CHANGES


def _in_zone(text: str, zone: tzinfo | None) -> str:
    """Return a date-time of RFC 3339, in a zone if it has no offset; other texts unchanged."""
    with suppress(ValueError):
        if zone is not None and INSTANT_PATTERN.fullmatch(text) and datetime.fromisoformat(text).tzinfo is None:
            return _localize(text, zone)
    return text


def _localize(text: str, zone: tzinfo | None) -> str:
    local = datetime.fromisoformat(text).replace(tzinfo=zone)
    offset = local.utcoffset()
    if offset is not None and offset.seconds % 60:
        # Before zones had standard times, their offsets had seconds, which RFC 3339 does not have.
        with suppress(OverflowError):  # before the year 1: invalid, and reported as that
            return local.astimezone(UTC).isoformat()
    return local.isoformat()


def possible_formats(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the formats of dates, for each order of day, month and year that all of them may have.

    If there are several, the texts do not prove one. If there are none, a text has no format that can be declared.
    """
    others = [text for text in texts if parse_instant(text) is None]
    standard = (RFC_3339,) if len(others) < len(texts) else ()
    for declared, digits in _OF_DIGITS.items() if others else ():
        if all(map(digits.fullmatch, others)):
            parse = parse_date_format(declared)
            return [(declared, *standard)] if all(_is_date(text, parse) for text in others) else []
    plain = [_FILLER.sub("", text) for text in others]
    return [(*formats, *standard) for order in _ORDERS if (formats := _formats(plain, order))]


def format_without_days(texts: Sequence[str]) -> str | None:
    """Return the first format of months or years that all of some texts have, None if there is none."""
    parsers = {declared: parse_date_format(declared) for declared in _WITHOUT_DAYS if texts}
    return next((declared for declared, parse in parsers.items() if all(_is_date(text, parse) for text in texts)), None)


def may_be_date(text: str) -> bool:
    """Return whether a text is a date of some format."""
    return parse_instant(text) is not None or bool(possible_formats([text]))


def _formats(texts: Sequence[str], order: str) -> tuple[str, ...]:
    """Return the formats of dates, one for each layout; none if a text is no date of this order."""
    formats, layouts = dict[str, None](), defaultdict[str, list[re.Match[str]]](list)
    for text in texts:
        if (date := _ORDERS[order].fullmatch(text)) is None:
            return ()
        layouts[_layout(date, order)].append(date)
    for layout, alike in layouts.items():
        widths = {part: min(len(each[part] or part) for each in alike) for part in "dmh"}
        formats[declared := layout.format(**{part: part * width for part, width in widths.items()})] = None
        parse = parse_date_format(declared) if declared else None
        if not (parse and all(_is_date(each[0], parse) for each in alike)):
            return ()
    return tuple(formats)


def _layout(date: re.Match[str], order: str) -> str:
    """Return the format of a date with `{d}`, `{m}` and `{h}` for its numbers; "" if it is none."""
    is_named, is_short = not date["m"].isdecimal(), len(date["y"]) == len("yy")
    if is_named and is_short and (order != "dmy" or date["before"] == " "):  # Elm 12 24 is no date
        return ""
    if not is_named and date["before"] != date["after"]:
        return ""
    tokens = {"d": "{d}", "m": "mmm" if is_named else "{m}", "y": "y" * len(date["y"])}
    first, second, third = (tokens[part] for part in order)
    layout = f"{first}{date['before']}{second}{date['after']}{third}"
    if date["weekday"]:
        layout = f"ddd{date['weekday']}{layout}"
    if date["h"]:
        half = f"{date['half'][:-2]}am/pm" if date["half"] else ""
        offset = f"{date['space']}zz" if date["offset"] else ""
        layout += f"{date['gap'].lower()}{{h}}:mm{':ss' if date['seconds'] else ''}{half}{offset}"
    return layout


def _is_date(text: str, parse: DateParser) -> bool:
    return (parsed := parse(text)) is not None and _offset_of(parsed[0], None) is not None
