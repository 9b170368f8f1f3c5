"""Opening hours in JSON: as UCP, Google's Business Profile and schema.org have them."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta

from service.model.hours import DAYS, DailyHour, ExceptionHour
from service.reading.hours.schedule import DAY, Dates, HoursError, Interval, Schedule, dates, interval

_DATE: Final = re.compile("(?!0000)([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile("([01]?[0-9]|2[0-4]):([0-5][0-9])(?::00)?|(23):(59):59")
_Hour: TypeAlias = Annotated[int, Meta(ge=0, le=24)]
_Minute: TypeAlias = Annotated[int, Meta(ge=0, le=59)]
_Year: TypeAlias = Annotated[int, Meta(ge=0, le=date.max.year)]


class _Time(msgspec.Struct, frozen=True):
    """A time of Google, without members that are 0."""

    hours: _Hour = 0
    minutes: _Minute = 0


class _Date(msgspec.Struct, frozen=True):
    year: _Year = 0
    month: _Minute = 0
    day: _Minute = 0


class _Period(msgspec.Struct, rename="camel"):
    open_day: str
    close_day: str
    open_time: _Time | str = _Time()
    close_time: _Time | str = _Time()


class _Periods(msgspec.Struct):
    periods: list[_Period] = []


class _SpecialPeriod(msgspec.Struct, rename="camel"):
    start_date: _Date
    end_date: _Date | None = None
    open_time: _Time | str = _Time()
    close_time: _Time | str = _Time()
    closed: bool = False


class _SpecialPeriods(msgspec.Struct, rename="camel"):
    special_hour_periods: list[_SpecialPeriod] = []


class _Specification(msgspec.Struct, rename="camel"):
    """An `OpeningHoursSpecification` of schema.org."""

    day_of_week: str | list[str] = []
    opens: str | None = None
    closes: str | None = None
    valid_from: str | None = None
    valid_through: str | None = None


def _read_daily_hours(schedule: Schedule, value: Any, _: date) -> None:
    for each in msgspec.convert(value, list[DailyHour]):
        schedule.week[DAYS.index(each.day)].append(_interval(each.opens, each.closes))


def _read_exception_hours(schedule: Schedule, value: Any, as_of: date) -> None:
    for each in msgspec.convert(value, list[ExceptionHour]):
        is_closed = each.opens is UNSET and each.closes is UNSET
        times = None if is_closed else _interval(each.opens or "", each.closes or "")
        days = _range(each.valid_from, each.valid_through, as_of)
        _add(schedule, days, times)
        if each.title is not UNSET:
            if not each.title.isprintable():
                raise HoursError("a title with characters that cannot be printed")
            schedule.titles.setdefault((days, times and times[0]), each.title)


def _interval(opens: str, closes: str) -> Interval:
    """Return an interval of UCP, in which no times are equal."""
    if opens == closes:
        raise HoursError("equal times")
    return interval(_clock(opens), _clock(closes))


def _read_periods(schedule: Schedule, value: Any, _: date) -> None:
    for each in msgspec.convert(value, _Periods).periods:
        opens, closes = _weekday(each.open_day), _weekday(each.close_day)
        schedule.week[opens].append(_period(each, (closes - opens) % len(DAYS)))


def _read_special_periods(schedule: Schedule, value: Any, as_of: date) -> None:
    for each in msgspec.convert(value, _SpecialPeriods).special_hour_periods:
        first, last = (msgspec.structs.astuple(day or each.start_date) for day in (each.start_date, each.end_date))
        day, _ = days = dates(first, first, as_of)
        schedule.is_dated |= not first[0]
        _add(schedule, days, None if each.closed else _period(each, (dates(last, last, day)[0] - day).days))


def _period(period: _Period | _SpecialPeriod, days: int) -> Interval:
    """Return the interval of a period that ends so many days after the one that it begins on."""
    opens, closes = map(_minutes, (period.open_time, period.close_time))
    closes += days * DAY
    if days not in (0, 1) or closes <= opens:
        raise HoursError("a period that does not end on its day or the next")
    return interval(opens, closes)


def _read_specifications(schedule: Schedule, value: Any, as_of: date) -> None:
    for each in msgspec.convert(value if isinstance(value, list) else [value], list[_Specification]):
        days = [each.day_of_week] if isinstance(each.day_of_week, str) else each.day_of_week
        if bool(days) == bool(each.valid_from or each.valid_through):
            raise HoursError("weekdays within dates, or neither")
        if not days:
            _add(schedule, _range(each.valid_from or "", each.valid_through or "", as_of), _specified(each))
        elif times := _specified(each):
            for day in days:
                schedule.week[_weekday(day.rpartition("/")[2])].append(times)


def _specified(each: _Specification) -> Interval | None:
    """Return the interval of a specification, None if it is closed: without times, or from 00:00 to 00:00."""
    if each.opens is None and each.closes is None:
        return None
    opens, closes = _clock(each.opens or ""), _clock(each.closes or "")
    return interval(opens, closes) if opens or closes else None


def _add(schedule: Schedule, days: Dates, times: Interval | None) -> None:
    """Add an interval on a range of dates, or None if it is closed."""
    known = schedule.exceptions.get(days)
    if known is not None and bool(known) == (times is None):
        raise HoursError("a date on which it is open and closed")
    schedule.exceptions[days] = [*(known or ()), *filter(None, [times])]


def _weekday(name: str) -> int:
    if name.lower() not in DAYS:
        raise HoursError(f"{name!r} is no day")
    return DAYS.index(name.lower())


def _minutes(time: _Time | str) -> int:
    return _clock(time) if isinstance(time, str) else time.hours * 60 + time.minutes


def _clock(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise HoursError(f"{text!r} is no time")
    hour, minute = filter(None, match.groups())
    return int(hour) * 60 + int(minute)


def _range(first: str, last: str, as_of: date) -> Dates:
    return dates(_day(first), _day(last), as_of)


def _day(text: str) -> tuple[int, int, int]:
    match = _DATE.fullmatch(text)
    if match is None:
        raise HoursError(f"{text!r} is no date such as 2026-12-24")
    year, month, day = map(int, match.groups())
    return year, month, day


# Adds a value to a schedule; a date without a year is the first that is not over on a day.
_Read: TypeAlias = Callable[[Schedule, Any, date], None]
# The members of an object, the week first, and what reads each.
_KINDS: Final[Sequence[Sequence[tuple[str, _Read]]]] = (
    (("hours", _read_daily_hours), ("exception_hours", _read_exception_hours)),
    (("regularHours", _read_periods), ("specialHours", _read_special_periods)),
    (("openingHoursSpecification", _read_specifications), ("specialOpeningHoursSpecification", _read_specifications)),
)
# The member with a week -> that with exceptions.
MEMBERS: Final = {week: exceptions for (week, _), (exceptions, _) in _KINDS}
# A member of a value of these, or of its first element, and what reads it.
_WEEKS: Final = (
    ("periods", _read_periods),
    ("day", _read_daily_hours),
    ("dayOfWeek", _read_specifications),
    ("validFrom", _read_specifications),
)
_EXCEPTIONS: Final = (
    ("specialHourPeriods", _read_special_periods),
    ("valid_from", _read_exception_hours),
    ("validFrom", _read_specifications),
)


def read_document(text: str, as_of: date) -> tuple[str | None, Schedule | None]:
    """Return the zone that JSON names, and its hours, None of each if it has none. Raises HoursError."""
    value, schedule = _decoded(text), Schedule()
    members = value if isinstance(value, dict) else {}
    kind = next((kind for kind in _KINDS if kind[0][0] in members), None)
    parts = [(value, _reader(value, _WEEKS))] if kind is None else [(members.get(name), read) for name, read in kind]
    if parts[0][0] in ([], {}, {"periods": []}, None) and (parts[0] != ([], _read_daily_hours)):
        return None, None
    for part, read in parts:
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


def _reader(value: Any, readers: Sequence[tuple[str, _Read]]) -> _Read:
    sample = value[0] if isinstance(value, list) and value else value
    found = [read for name, read in readers if isinstance(sample, dict) and name in sample]
    if value and not found:
        raise HoursError("neither hours of UCP, nor of Google, nor of schema.org")
    return found[0] if found else _read_specifications


def _convert(read: _Read, schedule: Schedule, value: Any, as_of: date) -> None:
    try:
        read(schedule, value, as_of)
    except msgspec.ValidationError as error:
        raise HoursError(str(error)) from None
