"""Open and closed stores: the words, dates and column names that say whether a store is open."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from service.model.kinds import FALSE, FLAG, TRUE, parse_flag, parse_instant
from service.model.records import STORES, Resource
from service.reading.batch import Cell
from service.reading.columns.dates import RFC_3339, ConvertedCells, instant_converter, possible_formats

IS_OPEN: Final = next(field for field in STORES.fields if field.kind is FLAG)
_WORD: Final = re.compile(r"[^\W_]+")
_OPEN: Final = frozenset(
    {"open", "opened", "operational", "geöffnet", "offen", "ouvert", "ouverte", "abierto", "abierta", "aperto"}
    | {"aperta", "aberto", "aberta", "geopend", "otwarte", "öppen", "åben", "åpen", "avoinna", "otevřeno"}
)
CLOSED: Final = frozenset(
    {"closed", "closure", "shut", "defunct", "geschlossen", "schließung", "schliessung", "stillgelegt", "aufgegeben"}
    | {"fermé", "fermée", "fermés", "fermées", "ferme", "fermee", "fermeture", "cerrado", "cerrada", "cierre", "chiuso"}
    | {"chiusa", "chiusura", "gesloten", "dicht", "sluiting", "opgeheven", "fechado", "fechada", "zamknięte", "stängt"}
    | {"lukket", "stengt", "suljettu", "zavřeno"}
)
# Words that leave the meaning of a word for closed as it is: "vorübergehend geschlossen", "closed permanently".
QUALIFIERS: Final = frozenset(
    {"temporary", "temporarily", "permanent", "permanently", "definitively", "indefinitely", "currently", "now", "is"}
    | {"down", "store", "shop", "branch", "location", "business", "vorübergehend", "voruebergehend", "dauerhaft"}
    | {"dauernd", "endgültig", "endgueltig", "temporär", "zeitweise", "zurzeit", "derzeit", "aktuell", "momentan"}
    | {"vorübergehende", "dauerhafte", "endgültige", "ist", "filiale", "geschäft", "laden", "markt", "temporairement"}
    | {"provisoirement", "définitivement", "definitivement", "temporaire", "définitive", "actuellement", "est"}
    | {"magasin", "temporalmente", "permanentemente", "definitivamente", "temporal", "actualmente", "está", "tienda"}
    | {"temporaneamente", "provvisoriamente", "attualmente", "temporanea", "definitiva", "negozio", "è", "tijdelijk"}
    | {"tijdelijke", "definitief", "definitieve", "permanente", "momenteel", "winkel"}
)
_YES: Final = frozenset(
    {"ja", "j", "oui", "si", "sí", "sì", "sim", "tak", "ano", "kyllä", "wahr", "vrai", "verdadero", "vero", "waar"}
    | {"active", "aktiv", "actif", "activo", "attivo", "actief", "x"}
)
_NO: Final = frozenset(
    {"nein", "non", "não", "nie", "nee", "nej", "nei", "ei", "falsch", "faux", "falso", "onwaar"}
    | {"inactive", "inaktiv", "inactif", "inactivo", "inattivo", "inactief"}
)
# With one of these words, a text does not say that a store is closed: "nie geschlossen", "offen, Café geschlossen".
_NOT: Final = _OPEN | {"not", "never", "no", "nicht", "nie", "pas", "jamais", "nunca", "non", "mai", "niet", "nooit"}
# Days of the week and holidays: "sonntags geschlossen", "fermé le lundi".
DAY: Final = re.compile(
    r"(?:day|tag|dag)(?:e?s|en?)?\b|\w{3}d[iì]\b|dimanche|sabato|domenica|domingo|s[áa]bado|lunes|martes|mi[ée]rcoles"
    r"|jueves|viernes|mittwoch|weekend|wochenende|heute|aujourd|hoy\b|oggi"
)
_HOUR: Final = r"[0-9]{1,2}(?:[:.h][0-9]{2})? ?(?:[ap]\.?m\.?|h|uhr)?"
_HOURS: Final = re.compile(rf"{_HOUR} ?(?:-|–|to|bis|à) ?{_HOUR}")  # noqa: RUF001 - a dash
_YEAR: Final = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_MAX_WORDS: Final = 8  # of a text that says no more than that a store is closed


def flag_of(text: str) -> bool | None:
    """Return what a word, or a phrase about closing, means; None if it is not known."""
    word = text.casefold()
    if word in TRUE or word in _YES or word in _OPEN:
        return True
    return False if word in FALSE or word in _NO or _is_phrase(words_of(text)) else None


def says_closed(text: str) -> bool:
    """Return whether a text says that a store is closed, such as "wegen Umbau geschlossen": not on which days."""
    words = words_of(text)
    if words.isdisjoint(CLOSED) or _is_phrase(words):
        return not words.isdisjoint(CLOSED)
    if len(words) > _MAX_WORDS or not words.isdisjoint(_NOT) or DAY.search(text.casefold()):
        return False
    return has_year(text) or not any(map(str.isdigit, text))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case: `permanently_closed` has two."""
    return frozenset(_WORD.findall(text.casefold()))


def has_year(text: str) -> bool:
    """Return whether a text has a year, as any date has: "May 2020"."""
    return _YEAR.search(text) is not None


def _is_phrase(words: frozenset[str]) -> bool:
    return not words.isdisjoint(CLOSED) and words <= CLOSED | QUALIFIERS


_CAMEL_CASE: Final = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_STATUS: Final = ("status", "statut", "zustand", "estado", "stato")
_DATE: Final = frozenset({"date", "datum", "fecha", "data"})
# Words that mean the end of a store only beside one for a date: a closing time is another thing.
_END: Final = frozenset({"close", "closing", "closure", "end", "fermeture", "cierre", "chiusura", "sluiting"})
_CLOSING_DATE: Final = frozenset(
    {"closedate", "closeddate", "closingdate", "enddate", "closedon", "schließungsdatum", "schliessungsdatum"}
    | {"schließdatum", "schliessdatum", "enddatum", "sluitingsdatum"}
)
_KNOWN: Final = (CLOSED - _END) | _CLOSING_DATE
_OTHERS: Final = (
    QUALIFIERS | _END | _DATE
    | {"of", "on", "at", "the", "since", "am", "seit", "ab", "zum", "de", "le", "la", "du", "depuis", "desde", "el"}
    | {"del", "dal", "di", "il", "op", "sinds", "van"}
)  # fmt: skip
_SHORT_DAYS: Final = (
    "mon tue tues wed thu thur thurs fri sat sun mo tu we th fr sa su di mi do so lun mar mer jeu ven sam dim lu ma me "
    "je ve mié mie jue vie sáb sab dom gio zo wo vr za"
)
_DAYS: Final = frozenset(_SHORT_DAYS.split())


def is_closed_name(name: str) -> bool:
    """Return whether a column says by its name that a store is closed: with a yes, or with a date."""
    words = words_of(_CAMEL_CASE.sub(" ", name))
    if not words <= _KNOWN | _OTHERS:
        return False
    return not words.isdisjoint(_KNOWN) or not (words.isdisjoint(_END) or words.isdisjoint(_DATE))


def is_day(name: str) -> bool:
    """Return whether a column has opening hours of a day: `Sunday`, `Fri hours`."""
    words = words_of(_CAMEL_CASE.sub(" ", name))
    return any(map(DAY.search, words)) or (words <= _DAYS | {"hours", "open"} and not words.isdisjoint(_DAYS))


def has_status_word(name: str) -> bool:
    """Return whether a name is that of a column of states."""
    return any(word.endswith(_STATUS) for word in words_of(_CAMEL_CASE.sub(" ", name)))


_YEAR_OR_MONTH: Final = re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?")  # ISO 8601


def utc_today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


class ClosingDay:
    """Parses closing dates in some formats: those of the data format, years and months too, if none are declared."""

    def __init__(self, formats: Sequence[str]) -> None:
        self._convert = instant_converter(formats, None)
        self._is_standard = not formats or RFC_3339 in formats

    def is_past(self, text: str, as_of: date) -> bool | None:
        """Return whether a date, as it is written, is before a day; None for a text that is no date.

        A year or a month is past when its last day is.
        """
        if self._is_standard and _YEAR_OR_MONTH.fullmatch(text):
            return text < as_of.isoformat()[: len(text)]
        converted = self._convert(text) if self._convert else text
        instant = parse_instant(converted) if isinstance(converted, str) else None
        return None if instant is None else instant.date() < as_of


MAX_TEXTS: Final = 100  # distinct ones: a column with more is free text


def has_flags(resource: Resource) -> bool:
    """Return whether the records of a resource may be closed."""
    return IS_OPEN in resource.fields


def is_status_name(name: str) -> bool:
    """Return whether a name may be that of a column that says whether a store is open."""
    return has_status_word(name) or is_closed_name(name)


def mentions_status(name: str, cells: Sequence[Cell]) -> bool:
    """Return whether the cells of a column speak of open and closed stores, not of opening hours."""
    texts = {cell.strip() for cell in set(cells) if isinstance(cell, str)} - {""}
    folded = set(map(str.casefold, texts))
    if not 0 < len(texts) <= MAX_TEXTS or is_day(name) or any(map(_HOURS.fullmatch, folded)):
        return False
    return all(text in _OPEN or _is_phrase(words_of(text)) for text in folded) or any(map(says_closed, texts))


class ClosedCells:
    """Recognizes the cells of one column that say that a store is closed as of a day."""

    def __init__(self, name: str, as_of: date) -> None:
        self._is_closed_name, self._has_status_word, self._as_of = is_closed_name(name), has_status_word(name), as_of
        self._converted = ConvertedCells(self._says_closed)

    def is_closed(self, cell: Cell) -> bool:
        """Return whether a cell says so. A flag does in a column such as `Closed`."""
        return self._converted[cell] is True and (self._is_closed_name or isinstance(cell, str))

    def _says_closed(self, text: str) -> bool:
        if not self._is_closed_name:
            return says_closed(text) or (self._has_status_word and flag_of(text) is False and parse_flag(text) is None)
        flag = flag_of(text)
        return says_closed(text) or (self._is_past(text) if flag is None else flag)

    def _is_past(self, text: str) -> bool:
        """Return whether a text is a date that is past in each format it may have, or has a year in another format."""
        found = [ClosingDay(formats).is_past(text, self._as_of) for formats in possible_formats([text]) or [()]]
        return has_year(text) if None in found else all(found)
