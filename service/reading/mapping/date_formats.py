"""Formats of dates, as spreadsheet programs write them: `dd.mm.yyyy hh:mm`."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from typing import Final

import msgspec

from service.model.kinds import INSTANT_PATTERN, parse_instant
from service.reading.batch import Cell, Invalid
from service.reading.diagnostics import Issue

RFC_3339: Final = "rfc3339"  # the format of dates of the data format
# A token -> the part that it is, and its text. `mm` after hours is minutes.
TOKENS: Final = {
    "yyyy": ("year", "[0-9]{4}"),
    "yy": ("year", "[0-9]{2}"),
    "mm": ("month", "[0-9]{2}"),
    "m": ("month", "[0-9]{1,2}"),
    "dd": ("day", "[0-9]{2}"),
    "d": ("day", "[0-9]{1,2}"),
    "hh": ("hour", "[0-9]{2}"),
    "h": ("hour", "[0-9]{1,2}"),
    "ss": ("second", "[0-9]{2}"),
    "am/pm": ("half", "[AaPp][Mm]"),
}
_TOKEN: Final = re.compile("|".join(sorted(TOKENS, key=len, reverse=True)) + r"|[^\W_]+|[\W_]")
_DATE: Final = ("year", "month", "day")
_TIME: Final = ("hour", "minute", "second")
_TWO_DIGITS: Final = 100
_PIVOT: Final = 69  # of years with two digits, as in POSIX: 69 is 1969, 68 is 2068
_HALF_DAY: Final = 12


class DateFormat(msgspec.Struct, frozen=True, eq=False):
    """A format: its pattern, and its parts in the order of the arguments of `datetime`."""

    pattern: re.Pattern[str]
    parts: tuple[str, ...]
    short_year: bool
    half_days: bool

    def parse(self, text: str) -> datetime | None:
        """Return a text as a date-time without a zone, None if it does not have the format."""
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        numbers = list(map(int, match.group(*self.parts)))
        if self.short_year:
            numbers[0] += 1900 if numbers[0] >= _PIVOT else 2000
        if self.half_days:
            hour = numbers[len(_DATE)]
            if not 1 <= hour <= _HALF_DAY:
                return None
            numbers[len(_DATE)] = hour % _HALF_DAY + _HALF_DAY * (match["half"] in ("PM", "pm", "Pm", "pM"))
        try:
            return datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - the zone is another's
        except ValueError:
            return None


def parse_date_format(text: str) -> DateFormat:
    """Return a declared format. Raises ValueError, with what is wrong."""
    parts: list[str] = []
    pattern = ""
    short_year = False
    for token in _TOKEN.findall(text.lower()):
        if token in TOKENS:
            part, digits = TOKENS[token]
            if part == "month" and parts and parts[-1] == "hour":
                part = "minute"
            parts.append(part)
            pattern += f"(?P<{part}>{digits})" if parts.count(part) == 1 else digits
            short_year |= token == "yy"  # noqa: S105 - of a format
        elif token.isalnum():
            raise ValueError(f"unknown part {token!r}; the parts are {', '.join(TOKENS)}")
        else:
            pattern += re.escape(token)
    _check_parts(parts)
    ordered = tuple(part for part in (*_DATE, *_TIME) if part in parts)
    return DateFormat(re.compile(pattern), ordered, short_year, "half" in parts)


def _check_parts(parts: Sequence[str]) -> None:
    if repeated := [part for part, count in Counter(parts).items() if count > 1]:
        raise ValueError(f"the {repeated[0]} is repeated; mm is the month, after hours the minutes")
    if missing := [part for part in _DATE if part not in parts]:
        raise ValueError(f"the {missing[0]} is missing")
    time = [part in parts for part in _TIME]
    if time != sorted(time, reverse=True) or ("half" in parts and "hour" not in parts):
        raise ValueError("a time needs hours, and seconds need minutes, as in hh:mm:ss")


def instant_converter(formats: Sequence[str], zone: tzinfo | None) -> Callable[[str], Cell] | None:
    """Return the function from texts in the declared formats to date-times of RFC 3339; None if it changes nothing.

    A date-time that clocks show twice is the first, and one that they skip has the offset before: RFC 5545, 3.3.5.
    """
    declared = [parse_date_format(each) for each in formats if each != RFC_3339]
    if not declared:
        return None if zone is None else lambda text: _in_zone(text, zone)
    standard = RFC_3339 in formats
    expected = " or ".join(formats)
    issue = Issue("date", f"expected a date as {expected}, as the mapping declares")

    def convert(text: str) -> Cell:
        for each in declared:
            if (date_time := each.parse(text)) is not None:
                return _format(date_time, zone)
        if standard and parse_instant(text) is not None:
            return _in_zone(text, zone)
        return Invalid(text, issue)

    return convert


def _in_zone(text: str, zone: tzinfo | None) -> str:
    """Return a date-time of RFC 3339, in a zone if it has no offset; other texts unchanged."""
    if zone is None or INSTANT_PATTERN.fullmatch(text) is None:
        return text
    try:
        date_time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if date_time.tzinfo is not None else _format(date_time, zone)


def _format(date_time: datetime, zone: tzinfo | None) -> str:
    if zone is None:
        return date_time.isoformat()
    local = date_time.replace(tzinfo=zone)
    offset = local.utcoffset()
    if offset is not None and offset.seconds % 60:
        # Before zones had standard times, their offsets had seconds, which RFC 3339 does not have.
        with suppress(OverflowError):  # before the year 1: invalid, and reported as that
            return local.astimezone(UTC).isoformat()
    return local.isoformat()
