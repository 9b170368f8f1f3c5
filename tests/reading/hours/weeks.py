"""Opening hours for tests: read from cells, written briefly, and as the minutes of a calendar, minute by minute."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

import orjson

from service.model.hours import DAYS
from service.reading.batch import Cell, Invalid
from service.reading.hours.reader import HoursReader, Source

TODAY: Final = date(2026, 11, 26)
ZONE: Final = "Europe/Berlin"
DAY: Final = 1440

Interval = tuple[int, int]  # minutes since the midnight of its day; the end may be on the next
Week = Sequence[Sequence[Interval]]
Exceptions = Mapping[date, Sequence[Interval]]


def read(source: Source, exceptions: Cell = None, zone: Cell = ZONE, holidays: Sequence[date] | None = ()) -> Cell:
    """Read one source of opening hours."""
    reader = HoursReader(holidays=holidays, as_of=TODAY, is_null_if_invalid=True)
    [cell] = reader.column([source], [exceptions], [zone], [None])
    return cell


def value(source: Source, exceptions: Cell = None, holidays: Sequence[date] | None = ()) -> Any:
    """Return hours as they are served. Fails if they are refused."""
    cell = read(source, exceptions, holidays=holidays)
    assert isinstance(cell, str), cell
    return orjson.loads(cell)


def normal(hours: object) -> Any:
    """Return hours in the form in which they are served, None if they are refused."""
    cell = read(orjson.dumps(hours).decode())
    return orjson.loads(cell) if isinstance(cell, str) else None


def reason(source: Source, exceptions: Cell = None) -> str:
    """Return why hours are refused."""
    cell = read(source, exceptions)
    assert isinstance(cell, Invalid), cell
    assert (cell.issue.code, cell.value) == ("hours", None)
    return cell.issue.why.removeprefix("opening hours that cannot be read: ")


def brief(served: Any) -> str:
    """Write hours briefly: `mo 09:00-18:00 | 2026-12-24..2026-12-26 closed`."""
    week = [f"{each['day'][:2]} {each['opens']}-{each['closes']}" for each in served["hours"]]
    return " ".join(week) + "".join(f" | {_exception(each)}" for each in served["exception_hours"])


def _exception(each: Any) -> str:
    first, last = each["valid_from"], each["valid_through"]
    times = f"{each['opens']}-{each['closes']}" if "opens" in each else "closed"
    return f"{first if first == last else f'{first}..{last}'} {times}"


def minutes_of(served: Any, days: Sequence[date]) -> set[tuple[date, int]]:
    """Return the minutes of some days on which served hours are open, by the rules of what is served."""
    exceptions = dict[date, list[Interval]]()
    for each in served["exception_hours"]:
        first, last = date.fromisoformat(each["valid_from"]), date.fromisoformat(each["valid_through"])
        for offset in range((last - first).days + 1):
            times = [_times(each)] if "opens" in each else []
            exceptions.setdefault(first + timedelta(offset), []).extend(times)
    week = [[_times(each) for each in served["hours"] if each["day"] == day] for day in DAYS]
    found = set[tuple[date, int]]()
    for day in [days[0] - timedelta(1), *days]:
        for opens, closes in exceptions.get(day, week[day.weekday()]):
            for minute in range(opens, closes):
                on = day + timedelta(minute // DAY)
                if on == day or on not in exceptions or day in exceptions:
                    found.add((on, minute % DAY))
    return {each for each in found if each[0] in days}


def _times(each: Any) -> Interval:
    opens, closes = (int(each[name][:2]) * 60 + int(each[name][3:]) for name in ("opens", "closes"))
    if (opens, closes) == (0, DAY - 1):
        return 0, DAY
    return opens, closes + (DAY if closes < opens else 0)


def begun(week: Week, exceptions: Exceptions, days: Sequence[date]) -> set[tuple[date, int]]:
    """Return the minutes of some days that intervals cover, each of which belongs to the day that it begins on."""
    found = {
        (day + timedelta(minute // DAY), minute % DAY)
        for day in [days[0] - timedelta(1), *days]
        for opens, closes in exceptions.get(day, week[day.weekday()])
        for minute in range(opens, closes)
    }
    return {each for each in found if each[0] in days}
