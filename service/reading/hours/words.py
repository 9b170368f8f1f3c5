"""The words of opening hours: days in six languages, months, what is closed or unknown, and what cannot be said."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

from service.reading.hours.schedule import HoursError

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
    r"|(?P<word>[^\W\d_]+)\.?|(?P<sign>\|\||[-,;:])|(?P<line>\n)|(?P<list>[/&])|(?P<other>\S)"
)
# By language, from monday.
_NAMES: Final = tuple(
    names.split()
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunedi martedi mercoledi giovedi venerdi sabato domenica",
        "lunes martes miercoles jueves viernes sabado domingo",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    )
)
# Each name, its plural and its beginnings of two letters or more.
_LANGUAGES: Final = tuple(
    {f"{name}s"[:length]: day for day, name in enumerate(names) for length in range(2, len(name) + 2)}
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
    **dict.fromkeys(("to", "bis", "a", "au", "tot"), "-"),
    **dict.fromkeys(("and", "und", "et", "e", "y", "en"), ","),
    **dict.fromkeys(("uhr", "uur", "hrs", "h"), ""),
    **{word: word for word in ("ph", "open", "unknown", "by", "appointment")},
}
_INEXACT: Final = {
    **dict.fromkeys(_MONTHS, "months"),
    **dict.fromkeys(("sunrise", "sunset", "dawn", "dusk"), "the sun"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict(zip(("sh", "easter"), ("school holidays", "a date that moves"), strict=True)),
}


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, with an end. Raises HoursError at the first that has no meaning."""
    found = [*map(_token, _TOKEN.finditer(text.casefold().translate(_SIGNS))), ("end", "the end")]
    return [token for pair in pairwise(found) if (token := _word(*pair))[0]] + found[-1:]


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or ""
    if match["hour"]:
        return "time", _clock(match)
    if kind in ("sign", "line", "list"):
        return {"line": ";", "list": ","}.get(kind, match[0]), match[0]
    if kind == "other":
        reason = "open ends" if match[0] == "+" else f"{match[0]!r} has no meaning"
        raise HoursError(reason)
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
    readings = [
        {name: days[name] for name in distinct} for days in _LANGUAGES if all(name in days for name in distinct)
    ]
    if not readings:
        raise HoursError("names of days of several languages")
    if any(each != readings[0] for each in readings):
        raise HoursError("names of days that two languages read differently")
    return readings[0]
