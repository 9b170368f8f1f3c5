"""Intervals as values of filters, `A/B`, and the parameters of other interfaces that they replace.

The syntax is that of `datetime` in OGC API - Features, section 7.15.4.
"""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from service.model.kinds import DATE, INSTANT, NUMBER, NUMBER_PATTERN, number_key, parse_instant
from service.model.records import PREFIX, Field


class Interval(NamedTuple):
    """The normalized keys from one to another, both included."""

    low: str
    high: str


FIRST_KEY: Final = ""
LAST_KEY: Final = "~"  # sorts after all keys of dates, and of numbers
_EVERY: Final = Interval(FIRST_KEY, LAST_KEY)
_OPEN: Final = ("", "..")
_MOST_ENDS: Final = 2
_UTC: Final = -len("+00:00")
_DATE_LENGTH: Final = len("2026-11-01")
_SERVED_LENGTH: Final = len("2026-11-01T00:00:00Z")

# Returns the first and last key of a text, None if it is invalid.
_Bounds = Callable[[str], tuple[str, str] | None]


class Form(NamedTuple):
    """What the ends of intervals are: their parser, their name, and an example of an interval."""

    bounds: _Bounds
    noun: str
    example: str


def _instant_bounds(text: str) -> tuple[str, str] | None:
    """Return an instant, or all of a day."""
    instant = parse_instant(_with_plus(text) if " " in text else text)
    if instant is None:
        return None
    if len(text) == _SERVED_LENGTH and text[-1] == "Z":  # most, which need no arithmetic
        key = f"{text[:_DATE_LENGTH]}T{text[_DATE_LENGTH + 1 : -1]}"
    else:
        key = instant.astimezone(UTC).isoformat()[:_UTC]
    return key, f"{text}T23:59:59.999999" if len(text) == _DATE_LENGTH else key


def _with_plus(text: str) -> str:
    """Return a time with the `+` of its offset, which is a space if the client did not escape it."""
    time, _, offset = text.rpartition(" ")
    return f"{time}+{offset}" if ":" in time else text


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = timedelta(minutes=1)
MINUTES: Final = (datetime(2101, 1, 1, tzinfo=UTC) - _EPOCH) // _MINUTE


def parse_minute(text: str) -> int:
    """Return the minute of an instant, counted from 1970 in UTC, less than `MINUTES`. Raises `ValueError`."""
    text = _with_plus(text.strip())
    instant = parse_instant(text)
    if instant is not None and datetime.fromisoformat(text).tzinfo is not None:
        minute = (instant - _EPOCH) // _MINUTE
        if 0 <= minute < MINUTES:
            return minute
    raise ValueError("expected a date-time with an offset, such as 2026-12-24T10:00:00+01:00")


def _date_bounds(text: str) -> tuple[str, str] | None:
    return (text, text) if len(text) == _DATE_LENGTH and parse_instant(text) else None


def _number_bounds(text: str) -> tuple[str, str] | None:
    return (number_key(text), number_key(text)) if NUMBER_PATTERN.fullmatch(text) else None


_FORMS: Final[Mapping[str, Form]] = {
    INSTANT.name: Form(_instant_bounds, "a date-time, a date or an interval", "2026-11-01T00:00:00Z/.."),
    DATE.name: Form(_date_bounds, "an interval of dates", "2026-01-01/.."),
    NUMBER.name: Form(_number_bounds, "an interval of numbers", "100/250"),
}


def form_of(field: Field) -> Form | None:
    """Return the form of the intervals of a field, None if its filter takes none: coordinates have boxes."""
    return _FORMS.get(field.kind.name) if field.kind is not NUMBER or field.attribute else None


def interval_parser(field: Field, form: Form) -> Callable[[str], str | Interval]:
    """Return the parser of a value: of an interval, of a whole date-time or date, else to a normalized key.

    It raises `ValueError` with the reason.
    """

    def parse(value: str) -> str | Interval:
        parts = value.split("/", _MOST_ENDS)
        is_alone = len(parts) == 1
        if is_alone and field.kind is not INSTANT:
            return field.kind.normalize(value)
        ends = [_EVERY if (text := part.strip()) in _OPEN and not is_alone else form.bounds(text) for part in parts]
        first, last = ends[0], ends[-1]
        if len(parts) > _MOST_ENDS or first is None or last is None:
            raise ValueError(f"expected {form.noun}, such as {form.example}")
        if first[0] > last[1]:
            raise ValueError("the interval ends before it begins")
        return Interval(first[0], last[1])

    return parse


# Names such as `updated_since`, `created[gte]` and `min_area`, as words that are separated by underscores.
_COMPARISON: Final = "gte?|lte?|from|to|since|after|before|until|min|max|start|end"
_COMPARED: Final = re.compile(rf"(?:(?:{_COMPARISON})_)?(.+?)(?:_(?:{_COMPARISON}))?")
_SEPARATORS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[\[\]_:-]+")
_LONGEST_NAME: Final = 100
_UPDATED: Final = ("updated", "update", "modified", "changed", "last_updated", "last_modified", "modified_at", "since")
_SYNONYMS: Final = {**dict.fromkeys(_UPDATED, "updated_at"), "created": "created_at", "creation": "created_at"}


def replaced_by(name: str, parameters: Collection[str]) -> str:
    """Return the parameter, of those that take intervals, that does what an unknown one is for; "" if none does."""
    words = _SEPARATORS.sub("_", name[:_LONGEST_NAME]).strip("_").lower()
    match = _COMPARED.fullmatch(words)
    base = match[1] if match else words
    return next((each for each in (_SYNONYMS.get(base, base), PREFIX + base) if each in parameters), "")
