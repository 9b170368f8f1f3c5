"""Texts of opening hours: rules of OpenStreetMap's `opening_hours` for days, dates and holidays, and their variants.

A rule is days, then times. After `;` it replaces the intervals that begin on its days, after `,` it adds some.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

import msgspec

from service.model.hours import MOST_EXCEPTIONS
from service.reading.hours.schedule import ALL_DAY, WEEK, Dates, HoursError, Interval, Schedule, dates, interval
from service.reading.hours.words import Clock, days_of, tokens

_DAYS: Final = ("day", "ph", "month", "year")  # what the days of a rule begin with
_HYPHEN: Final = ["-", "end"]
_ByDays = dict[Any, list[Interval]]  # of a day of the week, a range of dates or holidays


class _Rule(msgspec.Struct):
    """The days of a rule, all if it has none; its intervals; whether it adds them to others."""

    days: list[tuple[str, str]]
    dates: list[Dates]
    is_for_holidays: bool
    adds: bool
    intervals: list[Interval] = []

    @property
    def is_more(self) -> bool:
        return self.adds and bool(self.intervals)

    @property
    def is_for_all(self) -> bool:
        return not (self.days or self.dates or self.is_for_holidays)


class Rules(msgspec.Struct):
    """What a text says: a week, exceptions, and on holidays, if it has rules for them, intervals, which may be more."""

    schedule: Schedule
    holidays: list[Interval] | None = None
    adds_to_week: bool = False


class _Unknown(Exception):
    """A rule says that hours are unknown."""


def read_rules(text: str, as_of: date) -> Rules | None:
    """Return what a text says, None if it says that the hours are unknown. Raises HoursError.

    Dates without a year are the first ones that are not over on a day.
    """
    parser = _Parser(text, as_of)
    try:
        return _applied(list(parser.rules()), parser)
    except _Unknown:
        return None


def read_times(text: str, as_of: date) -> list[Interval] | None:
    """Return the intervals in the cell of a day, None if it says that they are unknown. Raises HoursError."""
    parser = _Parser(text, as_of, {";": ","})
    if parser.kinds == _HYPHEN:
        return []
    try:
        rules = list(parser.rules())
    except _Unknown:
        return None
    if len(rules) != 1 or not rules[0].is_for_all:
        raise HoursError("days in the column of a day")
    return rules[0].intervals


def _applied(rules: Sequence[_Rule], parser: "_Parser") -> Rules:
    """Return what rules say together, in their order."""
    if not rules:
        raise HoursError("no rules")
    numbers, timed = days_of(parser.names), set[object]()  # the days that have times
    week, exceptions, holidays, adds_to_week = _ByDays(), _ByDays(), _ByDays(), False
    for rule in rules:
        of_rule = (day for first, last in rule.days for day in _between(numbers[first], numbers[last]))
        days = frozenset(WEEK if rule.is_for_all else of_rule)
        for day in days:
            _replace(week, day, rule)
        for each in rule.dates:
            if rule.is_more and each not in exceptions:
                raise HoursError("times that are added to those of weekdays")
            _replace(exceptions, each, rule)
        if rule.is_for_holidays:
            adds_to_week = rule.is_more and (adds_to_week or not holidays)
            _replace(holidays, "ph", rule)
        _check_times(rule, {days, *rule.dates, rule.is_for_holidays and "ph"}, timed)
    schedule = Schedule([week.get(day, []) for day in WEEK], exceptions, is_dated=parser.is_dated)
    return Rules(schedule, holidays.get("ph"), adds_to_week)


def _between(first: int, last: int) -> Iterator[int]:
    return (each % len(WEEK) for each in range(first, (last if last >= first else last + len(WEEK)) + 1))


def _replace(known: _ByDays, days: object, rule: _Rule) -> None:
    """Replace the intervals of days, or add some to them."""
    known[days] = [*(known.get(days, ()) if rule.is_more else ()), *rule.intervals]


def _check_times(rule: _Rule, days: set[object], timed: set[object]) -> None:
    """Raise HoursError if days have times twice, which may be meant as more intervals; `timed` had some before."""
    days -= {False, frozenset()}
    if rule.intervals and not rule.adds and days & timed:
        raise HoursError("the same days twice with times")
    timed |= days if rule.intervals else set()


class _Parser:
    """Parses the tokens of a text, from left to right."""

    def __init__(self, text: str, as_of: date, instead: Mapping[str, str] = {}) -> None:
        self._tokens = [(instead.get(kind, kind), value) for kind, value in tokens(text)]
        self.kinds = [kind for kind, _ in self._tokens]
        self.names = {value for kind, value in self._tokens if kind == "day"}
        self._as_of, self._at, self.is_dated = as_of, 0, False

    def rules(self) -> Iterator[_Rule]:
        """Yield the rules in order."""
        separator = ";"
        while separator != "end":
            while self._take(";"):
                pass
            if self._kind == "end":
                return
            yield self._rule(adds=separator == ",")
            if self._take("||"):
                self._expect("comment", "a fallback that is no comment")
                self._take(";")
            separator = self._kind
            if separator not in (";", ",", "end"):
                raise HoursError(f"{self._tokens[self._at][1]!r} after the times of a rule")
            self._at += 1

    @property
    def _kind(self) -> str:
        return self.kinds[self._at]

    def _take(self, kind: str) -> Any:
        """Return the next token's value if it is of a kind, and go on; else None."""
        if self.kinds[self._at] != kind:
            return None
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _expect(self, kind: str, otherwise: str) -> Any:
        value = self._take(kind)
        if value is None:
            raise HoursError(otherwise)
        return value

    def _rule(self, *, adds: bool) -> _Rule:
        rule = _Rule([], [], is_for_holidays=False, adds=adds)
        while self._kind in _DAYS:
            self._select(rule)
            if self._kind in _DAYS:
                raise HoursError("weekdays within dates")
            if self._kind == "," and self.kinds[self._at + 1] in _DAYS:
                self._at += 1
        if len(rule.dates) > MOST_EXCEPTIONS:
            raise HoursError(f"more than {MOST_EXCEPTIONS} dates")
        self._take(":")
        rule.intervals = self._times(rule)
        self._take("comment")
        return rule

    def _select(self, rule: _Rule) -> None:
        """Read one of the days of a rule, or one range of them."""
        if self._take("ph"):
            rule.is_for_holidays = True
        elif (first := self._take("day")) is not None:
            last = self._expect("day", "a range of days without an end") if self._take("-") else first
            rule.days.append((first, last))
        else:
            year = self._year()
            month = self._expect("month", "years")
            rule.dates.append(self._dates(year, month))
            while self._is_day_of_month(1) and self._take(","):
                rule.dates.append(self._dates(year, month))

    def _year(self) -> int:
        return int(self._take("year") or 0)

    def _dates(self, year: int, month: int) -> Dates:
        first = last = (year, month, self._day_of_month())
        if self._take("-"):
            year = self._year() or year
            last = (year, self._take("month") or month, self._day_of_month())
            if year != first[0] == 0:
                raise HoursError("a year of the last date only")
            if year == first[0] and last < first:
                last = (year and year + 1, *last[1:])
        self.is_dated |= not first[0]
        return dates(first, last, self._as_of)

    def _is_day_of_month(self, ahead: int) -> bool:
        kind, value = self._tokens[min(self._at + ahead, len(self._tokens) - 1)]
        return kind == "time" and value[1]

    def _day_of_month(self) -> int:
        if not self._is_day_of_month(0):
            raise HoursError("months")
        return int(self._take("time")[0]) // 60

    def _times(self, rule: _Rule) -> list[Interval]:
        self._take("open")
        if self._take("off"):
            return []
        if self._take("always"):
            return [ALL_DAY]
        is_unknown = self._take("unknown") or (self._take("by") and self._take("appointment"))
        if is_unknown or (rule.is_for_all and self._take("comment") is not None):
            raise _Unknown
        found = [self._interval()]
        while self._kind == "," and self.kinds[self._at + 1] == "time":
            self._at += 1
            found.append(self._interval())
        if self._take("unknown"):
            raise _Unknown
        self._take("open")
        return found

    def _interval(self) -> Interval:
        opens: Clock = self._expect("time", "days without times")
        self._expect("-", "a time without an end")
        closes: Clock = self._expect("time", "a time without an end")
        if bool(opens[2]) != bool(closes[2]):
            raise HoursError("am or pm on one side")
        if (opens[1] or closes[1]) and closes[0] <= opens[0]:
            raise HoursError("bare hours that end before they begin")
        return interval(opens[0], closes[0])
