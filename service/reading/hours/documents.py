"""Opening hours in JSON: as UCP, Google's Business Profile and schema.org have them."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

from service.model.hours import DAYS
from service.reading.hours.schedule import DAY, Dates, HoursError, Interval, Schedule, dates, interval

_DATE: Final = re.compile("(?!0000)([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile("([01]?[0-9]|2[0-4]):([0-5][0-9])(?::00)?|(23):(59):59")
_SCHEMA_ORG: Final = {"day": "dayOfWeek", "valid_from": "validFrom", "valid_through": "validThrough"}
_UCP: Final = "hours"
_EMPTY: Final[tuple[object, ...]] = ([], {}, {"periods": []}, None)
_Minute: TypeAlias = Annotated[int, Meta(ge=0, le=59)]


class _Time(msgspec.Struct, frozen=True):
    """A time of Google, without members that are 0."""

    hours: Annotated[int, Meta(ge=0, le=24)] = 0
    minutes: _Minute = 0


class _Date(msgspec.Struct, frozen=True):
    year: Annotated[int, Meta(ge=0, le=date.max.year)] = 0
    month: _Minute = 0
    day: _Minute = 0


class _Period(msgspec.Struct, rename="camel"):
    """A period of Google: of days of the week, or of a date."""

    open_day: str = ""
    close_day: str = ""
    start_date: _Date = _Date()
    end_date: _Date | None = None
    open_time: _Time | str = _Time()
    close_time: _Time | str = _Time()
    closed: bool = False


class _Periods(msgspec.Struct, rename="camel"):
    periods: list[_Period] = []
    special_hour_periods: list[_Period] = []


class _Specification(msgspec.Struct, rename="camel"):
    """An `OpeningHoursSpecification` of schema.org, which UCP gives a title."""

    day_of_week: str | list[str] = []
    opens: str | None = None
    closes: str | None = None
    valid_from: str | None = None
    valid_through: str | None = None
    title: str | None = None


def _read_ucp(schedule: Schedule, value: Any, as_of: date) -> None:
    """Add hours of UCP: those of schema.org with other names, whose times differ."""
    objects = msgspec.convert(value, list[dict[str, Any]])
    entries = [{_SCHEMA_ORG.get(name, name): each[name] for name in each} for each in objects]
    if any("opens" in each and each["opens"] == each.get("closes") for each in entries):
        raise HoursError("equal times")
    if any("dayOfWeek" in each and "opens" not in each for each in entries):
        raise HoursError("a day without times")
    _read_specifications(schedule, entries, as_of)


def _read_specifications(schedule: Schedule, value: Any, as_of: date) -> None:
    """Add hours of schema.org. One is closed without times, or from 00:00 to 00:00."""
    for each in msgspec.convert(value if isinstance(value, list) else [value], list[_Specification]):
        days = [each.day_of_week] if isinstance(each.day_of_week, str) else each.day_of_week
        if bool(days) == bool(each.valid_from or each.valid_through):
            raise HoursError("weekdays within dates, or neither")
        is_closed = each.opens is None and each.closes is None
        opens, closes = (0, 0) if is_closed else (_clock(each.opens or ""), _clock(each.closes or ""))
        times = [interval(opens, closes)] if opens or closes else []
        for day in days:
            schedule.week[_weekday(day.rpartition("/")[2])] += times
        if not days:
            first, last = (_day(day or "") for day in (each.valid_from, each.valid_through))
            _add(schedule, dates(first, last, as_of), times, each.title)


def _read_periods(schedule: Schedule, value: Any, as_of: date) -> None:
    found = msgspec.convert(value, _Periods)
    for each in found.periods:
        opens, closes = _weekday(each.open_day), _weekday(each.close_day)
        schedule.week[opens].append(_period(each, (closes - opens) % len(DAYS)))
    for each in found.special_hour_periods:
        first, last = (msgspec.structs.astuple(day or each.start_date) for day in (each.start_date, each.end_date))
        day, _ = days = dates(first, first, as_of)
        schedule.is_dated |= not first[0]
        times = [] if each.closed else [_period(each, (dates(last, last, day)[0] - day).days)]
        _add(schedule, days, times)


def _period(period: _Period, days: int) -> Interval:
    """Return the interval of a period that ends so many days after the one that it begins on."""
    times = (period.open_time, period.close_time)
    opens, closes = (_clock(time) if isinstance(time, str) else time.hours * 60 + time.minutes for time in times)
    closes += days * DAY
    if days not in (0, 1) or closes <= opens:
        raise HoursError("a period that does not end on its day or the next")
    return interval(opens, closes)


def _add(schedule: Schedule, days: Dates, times: list[Interval], title: str | None = None) -> None:
    known = schedule.exceptions.get(days, times)
    if bool(known) != bool(times):
        raise HoursError("a date on which it is open and closed")
    schedule.exceptions[days] = [*known, *times]
    if title is not None:
        if not title.isprintable():
            raise HoursError("a title with characters that cannot be printed")
        schedule.titles.setdefault((days, times[0][0] if times else None), title)


def _weekday(name: str) -> int:
    if name.lower() not in DAYS:
        raise HoursError(f"{name!r} is no day")
    return DAYS.index(name.lower())


def _clock(text: str) -> int:
    hour, minute = _groups(_TIME, text, "time")
    return int(hour) * 60 + int(minute)


def _day(text: str) -> tuple[int, int, int]:
    year, month, day = map(int, _groups(_DATE, text, "date such as 2026-12-24"))
    return year, month, day


def _groups(pattern: re.Pattern[str], text: str, what: str) -> Iterable[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise HoursError(f"{text!r} is no {what}")
    return filter(None, match.groups())


# Adds a value to a schedule; a date without a year is the first that is not over on a day.
_Read: TypeAlias = Callable[[Schedule, Any, date], None]
# The member of an object with a week -> that with exceptions.
MEMBERS: Final = {
    _UCP: "exception_hours",
    "regularHours": "specialHours",
    "openingHoursSpecification": "specialOpeningHoursSpecification",
}
# A member with a week, or of it or its first element, and what reads it; the same for exceptions.
_WEEKS: Final[Mapping[str, _Read]] = {
    **dict.fromkeys((_UCP, "day"), _read_ucp),
    **dict.fromkeys(("regularHours", "periods"), _read_periods),
    **dict.fromkeys(("openingHoursSpecification", "dayOfWeek", "validFrom"), _read_specifications),
}
_EXCEPTIONS: Final[Mapping[str, _Read]] = {
    "valid_from": _read_ucp, "specialHourPeriods": _read_periods, "validFrom": _read_specifications
}  # fmt: skip


def read_document(text: str, as_of: date) -> tuple[str | None, Schedule | None]:
    """Return the zone that JSON names, and its hours, None of each if it has none. Raises HoursError."""
    value, schedule = _decoded(text), Schedule()
    members = value if isinstance(value, dict) else {}
    week = next((week for week in MEMBERS if week in members), "")
    value = members.get(week, value)
    if value in _EMPTY and not (value == [] and week == _UCP):
        return None, None
    read = _WEEKS.get(week) or _reader(value, _WEEKS)
    for part in (value, members.get(MEMBERS.get(week, ""))):
        if part is not None:
            _convert(read, schedule, part, as_of)
    zone = members.get("timezone") or None
    if not isinstance(zone, str | None):
        raise HoursError("a time zone that is no text")
    return zone, schedule


def add_exceptions(schedule: Schedule, text: str, as_of: date) -> None:
    """Add the exceptions of the second member of an object to hours. Raises HoursError."""
    if value := _decoded(text):
        _convert(_reader(value, _EXCEPTIONS), schedule, value, as_of)


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HoursError(f"no JSON: {error}") from None


def _reader(value: Any, readers: Mapping[str, _Read]) -> _Read:
    sample = value[0] if isinstance(value, list) and value else value
    found = [readers[name] for name in readers if isinstance(sample, dict) and name in sample]
    if not found:
        raise HoursError("neither hours of UCP, nor of Google, nor of schema.org")
    return found[0]


def _convert(read: _Read, schedule: Schedule, value: Any, as_of: date) -> None:
    try:
        read(schedule, value, as_of)
    except msgspec.ValidationError as error:
        raise HoursError(str(error)) from None
