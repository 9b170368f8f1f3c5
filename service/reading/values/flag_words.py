"""Words for yes and no, open and closed, in several languages: what the values of a flag mean."""

import re
from collections.abc import Iterable
from typing import Final

from service.model.kinds import FALSE, TRUE

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


def is_about_opening(texts: Iterable[str]) -> bool:
    """Return whether all of some words mean open or closed."""
    return all(text.casefold() in _OPEN or _is_phrase(words_of(text)) for text in texts)


def are_hours(text: str) -> bool:
    """Return whether a text is that of opening hours: "9:00 - 17:30"."""
    return _HOURS.fullmatch(text.casefold()) is not None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case: `permanently_closed` has two."""
    return frozenset(_WORD.findall(text.casefold()))


def has_year(text: str) -> bool:
    """Return whether a text has a year, as any date has: "May 2020"."""
    return _YEAR.search(text) is not None


def _is_phrase(words: frozenset[str]) -> bool:
    return not words.isdisjoint(CLOSED) and words <= CLOSED | QUALIFIERS
