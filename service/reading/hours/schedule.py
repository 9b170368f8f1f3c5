"""A week and its exceptions as intervals of minutes, and their normal form, in which they are served."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET

from service.model.hours import DAYS, MOST_EXCEPTIONS, DailyHour, ExceptionHour

DAY: Final = 1440  # minutes
WEEK: Final = range(len(DAYS))
ALL_DAY: Final = (0, DAY)
_ONE_DAY: Final = timedelta(days=1)
_YEARS: Final = 9  # among as many following ones is a leap year

# Minutes since the midnight with which its day begins; an interval of 20:00 to 02:00 is (1200, 1560).
Interval: TypeAlias = tuple[int, int]
Dates: TypeAlias = tuple[date, date]  # the first and the last


class HoursError(ValueError):
    """Opening hours that cannot be said exactly, with the reason."""


def interval(opens: int, closes: int) -> Interval:
    """Return the interval between two local times; one that does not close later on its day ends on the next."""
    if (opens, closes) == (0, DAY - 1):
        return ALL_DAY
    closes += DAY if closes <= opens else 0
    if opens >= DAY or closes - opens > DAY:
        raise HoursError("more than 24 hours")
    return opens, closes


def united(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the intervals of a day in order; those that overlap or touch are one. Raises HoursError."""
    found: list[Interval] = []
    for opens, closes in sorted(intervals):
        if found and opens <= found[-1][1]:
            found[-1] = found[-1][0], max(closes, found[-1][1])
        else:
            found.append((opens, closes))
    if any(closes - opens >= DAY and (opens, closes) != ALL_DAY for opens, closes in found):
        raise HoursError("24 hours that do not begin at 00:00")
    return found


def dates(first: tuple[int, int, int], last: tuple[int, int, int], as_of: date) -> Dates:
    """Return a range of dates, each a year, a month and a day. Raises HoursError.

    Without a year, which is 0, it is the first range that is not over on a day; the last date is after the first.
    """
    for year in (first[0],) if first[0] else range(as_of.year - 1, as_of.year + _YEARS):
        later = 0 if last[0] or last[1:] >= first[1:] else 1
        try:
            found = date(year, *first[1:]), date(last[0] or year + later, *last[1:])
        except ValueError:
            continue
        if found[1] >= (found[0] if first[0] else as_of):
            return found
    raise HoursError("a date that does not exist, or a range that ends before it begins")


class Schedule(msgspec.Struct):
    """Intervals by day of the week from monday, and by range of dates, which has none if it is closed.

    titles        a range and the first minute of an interval, or None of a closed range -> its title
    is_dated      whether a date had no year
    holidays      the intervals of holidays, None without a rule for them
    adds_to_week  whether these are more than those of the week
    """

    week: list[list[Interval]] = msgspec.field(default_factory=lambda: [[] for _ in WEEK])
    exceptions: dict[Dates, list[Interval]] = {}
    titles: dict[tuple[Dates, int | None], str] = {}
    is_dated: bool = False
    holidays: list[Interval] | None = None
    adds_to_week: bool = False

    def add_holidays(self, days: Sequence[date]) -> None:
        """Add an exception on each holiday that has none, if there are rules for holidays."""
        own = list(self.exceptions)
        for day in days if self.holidays is not None else ():
            if not any(first <= day <= last for first, last in own):
                week = self.week[day.weekday()] if self.adds_to_week else []
                self.exceptions[day, day] = [*week, *(self.holidays or ())]

    def extend_nights(self) -> None:
        """Let intervals of the week that begin on the date before an exception end when they end: the rule of OSM."""
        self._check_ranges()
        ends = {last for _, last in self.exceptions}
        for (first, last), intervals in list(self.exceptions.items()):
            before = first - _ONE_DAY
            night = [(0, closes - DAY) for _, closes in self.week[before.weekday()] if closes > DAY]
            if night and before not in ends:
                del self.exceptions[first, last]
                self.exceptions[first, first] = [*night, *intervals]
                if last > first:
                    self.exceptions[first + _ONE_DAY, last] = intervals

    def _check_ranges(self) -> None:
        for one, other in pairwise(sorted(self.exceptions)):
            if other[0] <= one[1]:
                raise HoursError("exceptions that overlap without being equal")

    def hours(self) -> tuple[DailyHour, ...]:
        """Return the week as it is served. Raises HoursError."""
        week = zip(DAYS, self.week, strict=True)
        return tuple(DailyHour(day, *_times(each)) for day, intervals in week for each in united(intervals))

    def exception_hours(self) -> tuple[ExceptionHour, ...]:
        """Return the exceptions as they are served. Raises HoursError."""
        self._check_ranges()
        found = [each for dates in sorted(self.exceptions) for each in self._exception(dates)]
        if len(found) > MOST_EXCEPTIONS:
            raise HoursError(f"more than {MOST_EXCEPTIONS} exceptions")
        return tuple(found)

    def _exception(self, dates: Dates) -> list[ExceptionHour]:
        first, last = (each.isoformat() for each in dates)
        if not (intervals := united(self.exceptions[dates])):
            return [ExceptionHour(first, last, title=self.titles.get((dates, None), UNSET))]
        titles = (self.titles.get((dates, opens), UNSET) for opens, _ in intervals)
        return [ExceptionHour(first, last, *_times(each), title) for each, title in zip(intervals, titles, strict=True)]


def _times(times: Interval) -> tuple[str, str]:
    opens, closes = (0, DAY - 1) if times == ALL_DAY else times
    return f"{opens // 60:02}:{opens % 60:02}", f"{closes // 60 % 24:02}:{closes % 60:02}"
