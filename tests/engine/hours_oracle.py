"""The oracle of opening hours: what the local clock shows is compared with each interval, as the interface has it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

Hours = Mapping[str, Any]

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY: Final = timedelta(days=1)


def is_open(hours: Hours, instant: datetime) -> bool:
    """Return whether opening hours, as they are served, are open in the minute of an instant."""
    minute = instant.astimezone(UTC).replace(second=0, microsecond=0)
    shown = minute.astimezone(ZoneInfo(hours["timezone"])).replace(tzinfo=None)
    today = shown.date()
    if any(begins <= shown < ends for begins, ends in _of_date(hours, today)):
        return True
    still = any(begins <= shown < ends for begins, ends in _of_date(hours, today - _DAY))
    return still and (_exceptions(hours, today) is None or _exceptions(hours, today - _DAY) is not None)


def _of_date(hours: Hours, day: date) -> Iterator[tuple[datetime, datetime]]:
    """Yield the intervals that begin on a local date."""
    exceptions = _exceptions(hours, day)
    week = [each for each in hours["hours"] if each["day"] == DAYS[day.weekday()]]
    for each in week if exceptions is None else exceptions:
        if "opens" in each:
            opens, closes = time.fromisoformat(each["opens"]), time.fromisoformat(each["closes"])
            is_whole = (each["opens"], each["closes"]) == ("00:00", "23:59")
            ends = datetime.combine(day, time()) + _DAY if is_whole else datetime.combine(day, closes)
            yield datetime.combine(day, opens), ends if opens < closes else ends + _DAY


def _exceptions(hours: Hours, day: date) -> Sequence[Mapping[str, str]] | None:
    """Return the exceptions of a local date, None if it has none."""
    found = [
        each for each in hours["exception_hours"] if each["valid_from"] <= day.isoformat() <= each["valid_through"]
    ]
    return found or None


# Where clocks differ in their changes: by an hour, by half of one, twice a year around Ramadan, by a date, never.
ZONES: Final = (
    *("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata"),
    *("Pacific/Apia", "Asia/Gaza", "Africa/Monrovia", "Pacific/Kiritimati", "Etc/GMT+12", "UTC"),
)
# When they change, most of them.
_CHANGES: Final = """
2026-03-29T01:00Z 2026-10-25T01:00Z 2026-03-08T07:00Z 2026-11-01T06:00Z 2026-04-04T15:00Z 2026-10-03T15:30Z
2026-02-15T02:00Z 2026-03-22T02:00Z 2011-12-30T10:00Z 2026-03-28T00:00Z 2040-10-20T00:00Z 1972-01-07T00:44Z
2050-03-27T01:00Z 1970-01-01T00:00Z 2100-12-31T23:59Z
"""
CHANGES: Final = [*map(datetime.fromisoformat, _CHANGES.split())]
_TIMES: Final = [f"{hour:02}:{minute:02}" for hour in (0, 1, 2, 3, 9, 18, 23) for minute in (0, 30, 59)]


def random_instant(random: Random) -> datetime:
    """Return an instant from 1970 to 2100, mostly within days of a change of a clock."""
    near = random.choice(CHANGES) + timedelta(minutes=random.choice([random.randint(-3000, 3000), *range(-61, 62, 30)]))
    least, most = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 12, 31, 23, 59, tzinfo=UTC)
    anywhere = least + timedelta(seconds=random.randrange(int((most - least).total_seconds())))
    return min(max(random.choice([near, near, near, anywhere]), least), most)


def random_hours(random: Random, instant: datetime) -> Hours:
    """Return opening hours as they are served, many with exceptions within days of an instant."""
    week = [{"day": day, **_interval(random)} for day in DAYS for _ in range(random.choice([0, 1, 1, 2]))]
    day, exceptions = instant.date() - random.randint(0, 4) * _DAY, list[Mapping[str, str]]()
    for _ in range(random.choice([0, 1, 1, 3])):
        through = day + random.choice([0, 0, 1, 3]) * _DAY
        dates = {"valid_from": day.isoformat(), "valid_through": through.isoformat()}
        intervals = [_interval(random) for _ in range(random.choice([0, 1, 1, 2]))]
        exceptions += [{**dates, **each} for each in intervals or [{}]]
        day = through + random.choice([1, 1, 2]) * _DAY
    return {"timezone": random.choice(ZONES), "hours": week, "exception_hours": exceptions}


def _interval(random: Random) -> Mapping[str, str]:
    opens, closes = random.sample(_TIMES, 2)
    return {"opens": opens, "closes": closes}
