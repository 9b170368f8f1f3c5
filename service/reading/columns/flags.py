"""Open and closed stores: the words, dates and column names that say whether a store is open."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import islice
from typing import Final

from service.model.kinds import FALSE, FLAG, TRUE, parse_flag
from service.model.records import STORES
from service.reading.batch import Cell, RecordFile
from service.reading.columns.dates import RFC_3339, cached_converter, day_parser, possible_formats
from service.reading.columns.field_names import MAX_UNUSED, end_of_path, words
from service.reading.diagnostics import FileError

IS_OPEN: Final = next(field for field in STORES.fields if field.kind is FLAG)
_WORD: Final = re.compile(r"[^\W_]+")
# Days of the week and holidays: "sonntags geschlossen", "fermé le lundi".
DAY: Final = re.compile(
    r"(?:day|tag|dag)(?:e?s|en?)?\b|\w{3}d[iì]\b|dimanche|sabato|domenica|domingo|s[áa]bado|lunes|martes|mi[ée]rcoles"
    r"|jueves|viernes|mittwoch|weekend|wochenende|heute|aujourd|hoy\b|oggi"
)
_HOUR: Final = r"[0-9]{1,2}(?:[:.h][0-9]{2})? ?(?:[ap]\.?m\.?|h|uhr)?"
_HOURS: Final = re.compile(rf"{_HOUR} ?(?:-|–|to|bis|à) ?{_HOUR}")  # noqa: RUF001 - a dash
_YEAR: Final = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")  # any date has one: "May 2020"
_MAX_WORDS: Final = 8  # of a text that says no more than that a store is closed
_CAMEL_CASE: Final = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_STATUS: Final = ("status", "statut", "zustand", "estado", "stato")
MAX_TEXTS: Final = 100  # distinct ones: a column with more is free text
_MAX_NAMES: Final = 1_000  # that are compared; a header may have millions
_MAX_WATCHED: Final = 20
_OPEN: Final = words(
    "open opened operational geöffnet offen ouvert ouverte abierto abierta aperto aperta aberto aberta geopend "
    "otwarte öppen åben åpen avoinna otevřeno"
)
CLOSED: Final = words(
    "closed closure shut defunct geschlossen schließung schliessung stillgelegt aufgegeben fermé fermée fermés "
    "fermées ferme fermee fermeture cerrado cerrada cierre chiuso chiusa chiusura gesloten dicht sluiting "
    "opgeheven fechado fechada zamknięte stängt lukket stengt suljettu zavřeno"
)
# Words that leave the meaning of a word for closed as it is: "vorübergehend geschlossen", "closed permanently".
QUALIFIERS: Final = words(
    "temporary temporarily permanent permanently definitively indefinitely currently now is down store shop "
    "branch location business vorübergehend voruebergehend dauerhaft dauernd endgültig endgueltig temporär "
    "zeitweise zurzeit derzeit aktuell momentan vorübergehende dauerhafte endgültige ist filiale geschäft laden "
    "markt temporairement provisoirement définitivement definitivement temporaire définitive actuellement est "
    "magasin temporalmente permanentemente definitivamente temporal actualmente está tienda temporaneamente "
    "provvisoriamente attualmente temporanea definitiva negozio è tijdelijk tijdelijke definitief definitieve "
    "permanente momenteel winkel"
)
_YES: Final = words(
    "ja j oui si sí sì sim tak ano kyllä wahr vrai verdadero vero waar active aktiv actif activo attivo actief x"
)
_NO: Final = words(
    "nein non não nie nee nej nei ei falsch faux falso onwaar inactive inaktiv inactif inactivo inattivo inactief"
)
# With one of these words, a text does not say that a store is closed: "nie geschlossen", "offen, Café geschlossen",
# "Su,PH closed". Some days are missing, which are other words, too: "we closed", "closed since Mar 2025".
_NOT: Final = _OPEN | words(
    "not never no nicht nie pas jamais nunca non mai niet nooit mo tu th fr sa su ph sh mon tue wed thu fri sat sun"
)


def flag_of(text: str) -> bool | None:
    """Return what a word, or a phrase about closing, means; None if it is not known."""
    word = text.casefold()
    if word in TRUE or word in _YES or word in _OPEN:
        return True
    return False if word in FALSE or word in _NO or _is_phrase(words_of(text)) else None


def says_closed(text: str) -> bool:
    """Return whether a text says that a store is closed, such as "wegen Umbau geschlossen": not on which days."""
    found = words_of(text)
    if found.isdisjoint(CLOSED) or _is_phrase(found):
        return not found.isdisjoint(CLOSED)
    if found <= _CLOSED_DAYS or len(found) > _MAX_WORDS or not found.isdisjoint(_NOT) or DAY.search(text.casefold()):
        return False
    return _YEAR.search(text) is not None or not any(map(str.isdigit, text))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case: `permanently_closed` has two."""
    return frozenset(_WORD.findall(text.casefold()))


def _is_phrase(found: frozenset[str]) -> bool:
    return not found.isdisjoint(CLOSED) and found <= CLOSED | QUALIFIERS


_DATE: Final = words("date datum fecha data")
# Words that mean the end of a store only beside one for a date: a closing time is another thing.
_END: Final = words("close closing closure end fermeture cierre chiusura sluiting")
_CLOSING_DATE: Final = words(
    "closedate closeddate closingdate enddate closedon schließungsdatum schliessungsdatum schließdatum "
    "schliessdatum enddatum sluitingsdatum"
)
_KNOWN: Final = (CLOSED - _END) | _CLOSING_DATE
_PARTICLES: Final = words("of on at the since am seit ab zum de le la du depuis desde el del dal di il op sinds van")
_OTHERS: Final = QUALIFIERS | _END | _DATE | _PARTICLES
_DAYS: Final = words(
    "mon tue tues wed thu thur thurs fri sat sun mo tu we th fr sa su di mi do so lun mar mer jeu ven sam dim lu ma me "
    "je ve mié mie jue vie sáb sab dom gio zo wo vr za"
)
_CLOSED_DAYS: Final = CLOSED | (_DAYS - {"we"}) | {"und", "and", "et", "e", "y", "en"}  # "Di und Mi geschlossen"


def is_closed_name(name: str) -> bool:
    """Return whether a column says by its name that a store is closed: with a yes, or with a date."""
    found = words_of(_CAMEL_CASE.sub(" ", name))
    has_end = not found.isdisjoint(_KNOWN) or not (found.isdisjoint(_END) or found.isdisjoint(_DATE))
    return has_end and found <= _KNOWN | _OTHERS


def has_status_word(name: str) -> bool:
    """Return whether a name is that of a column of states."""
    return any(word.endswith(_STATUS) for word in words_of(_CAMEL_CASE.sub(" ", name)))


def utc_today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


def past_tester(formats: Sequence[str], as_of: date) -> Callable[[str], bool | None]:
    """Return the function that says whether a date in some formats is before a day; None for a text that is no date.

    A year or a month, which are dates unless other formats are declared, is past when its last day is.
    """
    is_standard = not formats or RFC_3339 in formats
    parse = day_parser((*formats, RFC_3339, "yyyy", "yyyy-mm") if is_standard else formats, ends=True)
    return lambda text: None if (day := parse(text)) is None else day < as_of


def status_columns(file: RecordFile, used: Iterable[str]) -> Sequence[str]:
    """Return the unused columns of a file that speak of open and closed: by their names, or in its first records."""
    known = set(used)
    unused = list(islice((name for name in file.names if name not in known), _MAX_NAMES))
    ends = {name: name if file.is_table else end_of_path(name) for name in unused}
    found = [name for name, end in ends.items() if has_status_word(end) or is_closed_name(end)]
    with suppress(FileError):  # reported when the records are read
        first = next(file.batches(unused[:MAX_UNUSED]), None) if unused and not file.is_costly else None
        cells = first.columns if first is not None else {}
        found += [name for name, each in cells.items() if name not in found and mentions_status(ends[name], each)]
    return found[:_MAX_WATCHED]


def mentions_status(name: str, cells: Sequence[Cell]) -> bool:
    """Return whether the cells of a column speak of open and closed stores, not of opening hours."""
    texts = {cell.strip() for cell in set(cells) if isinstance(cell, str)} - {""}
    folded, found = set(map(str.casefold, texts)), words_of(_CAMEL_CASE.sub(" ", name))
    is_day = any(map(DAY.search, found)) or (found <= _DAYS | {"hours", "open"} and not found.isdisjoint(_DAYS))
    if not 0 < len(texts) <= MAX_TEXTS or is_day or any(map(_HOURS.fullmatch, folded)):
        return False
    return all(text in _OPEN or _is_phrase(words_of(text)) for text in folded) or any(map(says_closed, texts))


def closed_tester(name: str, as_of: date) -> Callable[[Cell], bool]:
    """Return what says whether a cell of a column says that a store is closed as of a day: a flag if it is `Closed`."""
    is_closed, has_status = is_closed_name(name), has_status_word(name)

    def is_past(text: str) -> bool:
        """Return whether a date is past in each format that it may have, or a text has a year in another format."""
        found = [past_tester(formats, as_of)(text) for formats in possible_formats([text]) or [()]]
        return _YEAR.search(text) is not None if None in found else all(found)

    def closed(text: str) -> bool:
        flag = flag_of(text)
        if says_closed(text):
            return True
        if not is_closed:
            return has_status and flag is False and parse_flag(text) is None
        return is_past(text) if flag is None else flag

    convert = cached_converter(closed)
    return lambda cell: convert(cell) is True and (is_closed or isinstance(cell, str))
