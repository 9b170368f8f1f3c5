"""The formats that dates may have: 31.05.2024 is in May, but 05.06.2024 is in May or in June."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from service.model.kinds import parse_instant
from service.reading.values.date_formats import RFC_3339, DateFormat, parse_date_format

_DATE: Final = re.compile(
    r"(?P<first>[0-9]{1,4})(?P<separator>[./-] ?)(?P<second>[0-9]{1,2})(?P=separator)(?P<third>[0-9]{1,4})"
    r"(?:(?P<gap>,? )(?P<hour>[0-9]{1,2}):[0-9]{2}(?P<seconds>:[0-9]{2})?(?P<half> ?[AaPp][Mm])?)?"
)
_COMPACT: Final = "yyyymmdd"
_DIGITS: Final = re.compile("(?:19|20)[0-9]{6}")  # other centuries are rather numbers
_NUMBERS: Final = ("first", "second", "third")
_ORDERS: Final = ("dmy", "mdy", "ymd")
_YEARS: Final = {2: "yy", 4: "yyyy"}  # by their number of digits
_HALVES: Final = len("am")


def possible_formats(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the formats of dates, for each order of day, month and year that all of them may have.

    If there are several, the texts do not prove one. If there are none, a text has no format that can be declared.
    """
    others = [text for text in texts if parse_instant(text) is None]
    standard = (RFC_3339,) if len(others) < len(texts) else ()
    if others and all(map(_DIGITS.fullmatch, others)):
        compact = parse_date_format(_COMPACT)
        return [(_COMPACT, *standard)] if all(_is_date(text, compact) for text in others) else []
    found = list(filter(None, map(_DATE.fullmatch, others)))
    if not found or len(found) < len(others):
        return []
    return [(*formats, *standard) for order in _ORDERS if (formats := _formats(found, order))]


def _formats(dates: Sequence[re.Match[str]], order: str) -> tuple[str, ...]:
    """Return the formats of dates, one for each layout; none if a date cannot have this order."""
    year = _NUMBERS[order.index("y")]
    layouts: dict[tuple[object, ...], list[re.Match[str]]] = {}
    for each in dates:
        half = each["half"] and each["half"][:-_HALVES]
        layout = (each["separator"], len(each[year]), each["gap"], bool(each["seconds"]), half)
        layouts.setdefault(layout, []).append(each)
    formats = [_format(alike, order) for alike in layouts.values()]
    return tuple(dict.fromkeys(formats)) if all(formats) else ()


def _format(dates: Sequence[re.Match[str]], order: str) -> str:
    """Return the format of dates of one layout, "" if a date cannot have this order."""
    parts = [_part(part, [len(each[number]) for each in dates]) for part, number in zip(order, _NUMBERS, strict=True)]
    if not all(parts):
        return ""
    declared = dates[0]["separator"].join(parts) + _time_format(dates)
    expected = parse_date_format(declared)
    return declared if all(_is_date(each[0], expected) for each in dates) else ""


def _part(part: str, digits: Sequence[int]) -> str:
    """Return the part of a format for numbers of this many digits, "" if there is none."""
    if part == "y":
        return _YEARS.get(digits[0], "")
    return part * min(digits) if max(digits) <= len("dd") else ""


def _time_format(dates: Sequence[re.Match[str]]) -> str:
    first = dates[0]
    if first["gap"] is None:
        return ""
    hours = _part("h", [len(each["hour"]) for each in dates])
    half = f"{first['half'][:-_HALVES]}am/pm" if first["half"] else ""
    return f"{first['gap']}{hours}:mm{':ss' if first['seconds'] else ''}{half}"


def _is_date(text: str, expected: DateFormat) -> bool:
    parsed = expected.parse(text)
    if parsed is None:
        return False
    try:
        date.fromisoformat(parsed[0])
    except ValueError:
        return False
    return True
