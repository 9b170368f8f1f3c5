"""Texts of opening hours: rules of OpenStreetMap's `opening_hours` for days, dates and holidays, and their variants.

Words are names of days in six languages, months, what is closed or unknown, and what cannot be said.

A rule is days, then times. After `;` it replaces the intervals that begin on its days, after `,` it adds some. The
grammar is that of a text with a letter for each token.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from service.model.hours import MOST_EXCEPTIONS
from service.reading.hours.schedule import ALL_DAY, WEEK, HoursError, Interval, Schedule, dates, interval

# A sign, a word or `time`, and its value: a day's word, the number of a month or year, a `Clock`.
Token: TypeAlias = tuple[str, Any]
# Minutes since midnight; whether it is an hour without minutes or a unit, and which half of a day it names.
Clock: TypeAlias = tuple[int, bool, str]

_HALF_DAY: Final = 12
_SIGNS: Final = str.maketrans("àìéáèêíóú\u2010\u2011\u2012\u2013\u2014\u2212", "aieaeeiou------", "\u0300\u0301")
_TOKEN: Final = re.compile(
    r'(?P<always>24/7(?![0-9])|24[^\S\n]?(?:hours|hrs|stunden)\b)|"(?P<comment>[^"]*)"|(?P<year>[0-9]{4})(?![0-9:.h])'
    r"|(?P<hour>[0-9]{1,2})(?![0-9])(?:[:.h](?P<minute>[0-5][0-9])(?::00)?(?![0-9])|(?P<unit>[^\S\n]?h)(?![a-z]))?"
    r"(?:[^\S\n]?(?P<half>[ap])\.?[^\S\n]?m\b\.?)?"
    r"|(?P<word>[^\W\d_]+)\.?|(?P<sign>\|\||[-,;:+])|(?P<line>\n)|(?P<list>[/&])|(?P<other>\S)"
)
# Times without colons that are no years, nor numbers of telephones.
_FOUR_DIGITS: Final = re.compile(r"(?<![0-9:.-])(0[5-9]|1[0-8])([0-5][05]) ?- ?([0-2][0-9])([0-5][05])(?![0-9:.-])")
# By language, from monday.
_NAMES: Final = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunedi martedi mercoledi giovedi venerdi sabato domenica",
    "lunes martes miercoles jueves viernes sabado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
)
# Each name, its plural and its beginnings of two letters or more.
_LANGUAGES: Final = tuple(
    {f"{name}s"[:length]: day for day, name in enumerate(names.split()) for length in range(2, len(name) + 2)}
    for names in _NAMES
)
NAMES_OF_DAYS: Final = frozenset().union(*_LANGUAGES)
_MONTH_NAMES: Final = "january february march april may june july august september october november december"
_MONTHS: Final = {
    name[:length]: month for month, name in enumerate(_MONTH_NAMES.split(), 1) for length in range(3, len(name) + 1)
}
# The kind of token that a word is, "" of one that is left out.
_MEANINGS: Final = {
    **dict.fromkeys(NAMES_OF_DAYS, "day"),
    **dict.fromkeys(("off", "x", "closed", "geschlossen", "ferme", "fermee", "chiuso", "cerrado", "gesloten"), "off"),
    **dict.fromkeys(("to", "thru", "through", "bis", "a", "au", "tot"), "-"),
    **dict.fromkeys(("and", "und", "et", "e", "y", "en"), ","),
    **dict.fromkeys(("uhr", "uur", "hrs", "h", "daily", "täglich"), ""),
    **{word: word for word in ("ph", "open", "unknown", "by", "appointment")},
}
_INEXACT: Final = {
    **dict.fromkeys(_MONTHS, "months"),
    **dict.fromkeys(("sunrise", "sunset", "dawn", "dusk"), "the sun"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict(zip(("sh", "easter"), ("school holidays", "a date that moves"), strict=True)),
}
# The letters of tokens; signs are their own. A bare number, which may be the day of a month, is `t`, another time `T`.
_KINDS: Final = "day ph month year always off open unknown by appointment comment || end"
_LETTERS: Final = dict(zip(_KINDS.split(), "DHMYAONUBPC|.", strict=True))
_DAYS: Final = "D(?:-D)?|H|Y?Mt(?:-Y?M?t)?(?:,t(?:-Y?M?t)?)*"
_LIST: Final = rf";*((?:(?:{_DAYS})(?:,(?:{_DAYS}))*)?):?"
_TIMES: Final = "[tT]-[tT]"
_RULE: Final = re.compile(rf"{_LIST}(O|C|N?(?:A|U|BP|{_TIMES}(?:,{_TIMES})*U?)N?)C?(?:\|C;?)?")
_DATE: Final = re.compile("(Y)?(M)?(t)(?:-(Y)?(M)?(t))?")
_EACH_DAYS, _EACH_TIMES, _ANY_DAYS, _END = map(re.compile, (_DAYS, _TIMES, _LIST, r";*\."))
_UNKNOWN: Final = frozenset("CUP")
_OPEN_END: Final = re.compile(r"(?<![DH])\+|\+(?![DH])")  # a sign that is not between days
# Why a token is no rule's after days.
_REASONS: Final = {
    "-": "a range of days without an end",
    "Y": "years, or times without colons",
    **dict.fromkeys("tT", "a time without an end"),
    **dict.fromkeys("DHM", "weekdays within dates"),
}
_Date: TypeAlias = tuple[int, int, int]  # a year, 0 for none, a month and a day
_ByDays = dict[Any, list[Interval]]  # of a day of the week, a range of dates or holidays


class _Rule(msgspec.Struct):
    """The days of a rule, all if it has none; its intervals; whether they are more than those before."""

    is_more: bool
    days: list[tuple[str, str]] = []
    dates: list[tuple[_Date, _Date]] = []
    is_for_holidays: bool = False
    intervals: list[Interval] = []

    @property
    def is_for_all(self) -> bool:
        return not (self.days or self.dates or self.is_for_holidays)


def read_rules(text: str, as_of: date) -> Schedule | None:
    """Return what a text says, None if it says that the hours are unknown. Raises HoursError.

    Dates without a year are the first ones that are not over on a day.
    """
    rules = list(_rules(tokens(text)))
    return None if None in rules else _applied([rule for rule in rules if rule], as_of)


def read_times(text: str) -> list[Interval] | None:
    """Return the intervals in the cell of a day, None if it says that they are unknown. Raises HoursError."""
    found = [(kind.replace(";", ","), value) for kind, value in tokens(text)]
    if [kind for kind, _ in found] == ["-", "end"]:
        return []
    rules = list(_rules(found))
    if None in rules:
        return None
    if len(rules) == 1 and rules[0] and rules[0].is_for_all:
        return rules[0].intervals
    raise HoursError("days in the column of a day")


def _applied(rules: Sequence[_Rule], as_of: date) -> Schedule:
    if not rules:
        raise HoursError("no rules")
    numbers = days_of(name for rule in rules for days in rule.days for name in days)
    timed = set[object]()  # the days that have times
    week, exceptions, holidays, adds_to_week = _ByDays(), _ByDays(), _ByDays(), False
    for rule in rules:
        spans = ((numbers[first], (numbers[last] - numbers[first]) % len(WEEK)) for first, last in rule.days)
        of_rule = ((first + later) % len(WEEK) for first, length in spans for later in range(length + 1))
        days = frozenset(WEEK if rule.is_for_all else of_rule)
        ranges = [dates(first, last, as_of) for first, last in rule.dates]
        if rule.is_more and not exceptions.keys() >= set(ranges):
            raise HoursError("times that are added to those of weekdays")
        if rule.is_for_holidays:
            adds_to_week = rule.is_more and (adds_to_week or not holidays)
        for known, each in ((week, days), (exceptions, ranges), (holidays, ["ph"] * rule.is_for_holidays)):
            known |= {day: [*(known.get(day, ()) if rule.is_more else ()), *rule.intervals] for day in each}
        own = {days, *ranges, rule.is_for_holidays and "ph"} - {False, frozenset()} if rule.intervals else set()
        if not rule.is_more and own & timed:  # which may be meant as more intervals
            raise HoursError("the same days twice with times")
        timed |= own
    is_dated = any(not first[0] for rule in rules for first, _ in rule.dates)
    days_of_week, of_holidays = [week.get(day, []) for day in WEEK], holidays.get("ph")
    return Schedule(days_of_week, exceptions, is_dated=is_dated, holidays=of_holidays, adds_to_week=adds_to_week)


def _rules(found: Sequence[Token]) -> Iterator[_Rule | None]:
    """Yield the rules of tokens in order, None for one that says that hours are unknown. Raises HoursError."""
    kinds = "".join("tT"[not value[1]] if kind == "time" else _LETTERS.get(kind, kind) for kind, value in found)
    if _OPEN_END.search(kinds):
        raise HoursError("open ends")
    kinds, values, at, adds = kinds.replace("+", ","), [value for _, value in found], 0, False
    while at < len(kinds) and not _END.match(kinds, at):
        match = _RULE.match(kinds, at)
        if match is None or (match[1] and match[2] == "C"):
            other = _ANY_DAYS.match(kinds, at)
            raise HoursError(_REASONS.get(kinds[other.end()] if other else "", "days without times"))
        yield _rule(match, values, adds=adds) if _UNKNOWN.isdisjoint(match[2]) else None
        at = match.end() + 1
        if kinds[at - 1] not in ";,.":
            is_fallback = kinds[at - 1] == "|"
            why = "a fallback that is no comment" if is_fallback else f"{values[at - 1]!r} after the times of a rule"
            raise HoursError(why)
        adds = kinds[at - 1] == ","


def _rule(match: re.Match[str], values: Sequence[Any], *, adds: bool) -> _Rule:
    times = _EACH_TIMES.finditer(match.string, *match.span(2))
    found = [_interval(values[each.start()], values[each.end() - 1]) for each in times]
    intervals = [ALL_DAY] if "A" in match[2] else found
    rule = _Rule(adds and bool(intervals), intervals=intervals)
    for each in _EACH_DAYS.finditer(match.string, *match.span(1)):
        if each[0][0] == "D":
            rule.days.append((values[each.start()], values[each.end() - 1]))
        elif each[0] == "H":
            rule.is_for_holidays = True
        else:
            rule.dates += _ranges(each, values)
    if len(rule.dates) > MOST_EXCEPTIONS:
        raise HoursError(f"more than {MOST_EXCEPTIONS} dates")
    return rule


def _ranges(match: re.Match[str], values: Sequence[Any]) -> Iterator[tuple[_Date, _Date]]:
    """Yield the dates of a list, each as a range, of which all but the first may lack the year and the month."""
    year = month = 0
    for each in _DATE.finditer(match.string, *match.span()):
        parts: Iterator[Any] = (values[each.start(group)] if each[group] else None for group in range(1, 7))
        first_year, first_month, day, last_year, last_month, last_day = parts
        year, month = int(first_year or year), first_month or month
        first = last = year, month, day[0] // 60
        if last_day:
            last = int(last_year or year), last_month or month, last_day[0] // 60
        if last[0] != year == 0:
            raise HoursError("a year of the last date only")
        if last[0] == year and last < first:
            last = year and year + 1, *last[1:]
        yield first, last


def _interval(opens: Clock, closes: Clock) -> Interval:
    if bool(opens[2]) != bool(closes[2]):
        raise HoursError("am or pm on one side")
    if (opens[1] or closes[1]) and closes[0] <= opens[0]:
        raise HoursError("bare hours that end before they begin")
    return interval(opens[0], closes[0])


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, with an end. Raises HoursError at the first that has no meaning."""
    plain = _FOUR_DIGITS.sub(r"\1:\2-\3:\4", text.casefold().translate(_SIGNS))
    found = [*map(_token, _TOKEN.finditer(plain)), ("end", "the end")]
    return [token for pair in pairwise(found) if (token := _word(*pair))[0]] + found[-1:]


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or ""
    if match["hour"]:
        return "time", _clock(match)
    if kind in ("sign", "line", "list"):
        return {"line": ";", "list": ","}.get(kind, match[0]), match[0]
    if kind == "other":
        raise HoursError(f"{match[0]!r} has no meaning")
    return kind, match[kind]


def _clock(match: re.Match[str]) -> Clock:
    hour, half = int(match["hour"]), match["half"] or ""
    is_bare = not (match["minute"] or match["unit"] or half)
    if half and not 1 <= hour <= _HALF_DAY:
        raise HoursError("am or pm of an hour that is not 1 to 12")
    hour = hour % _HALF_DAY + _HALF_DAY * (half == "p") if half else hour
    return hour * 60 + int(match["minute"] or 0), is_bare, half


def _word(token: Token, following: Token) -> Token:
    """Return a word as what it means before another token: `mar` is a month before a day of it, else a Tuesday."""
    kind, word = token
    if kind != "word":
        return token
    if word in _MONTHS and following[0] == "time" and following[1][1]:
        return "month", _MONTHS[word]
    if word not in _MEANINGS:
        reason = _INEXACT.get(word, f"{word!r} has no meaning")
        raise HoursError(reason)
    return _MEANINGS[word], word


def days_of(names: Iterable[str]) -> Mapping[str, int]:
    """Return the days that names of one language mean. Raises HoursError if it is none, or two that differ."""
    distinct = set(names)
    readings = [{name: days[name] for name in distinct} for days in _LANGUAGES if distinct <= days.keys()]
    if not readings:
        raise HoursError("names of days of several languages")
    if any(each != readings[0] for each in readings):
        raise HoursError("names of days that two languages read differently")
    return readings[0]
