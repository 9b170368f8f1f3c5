"""Names of columns that speak of open and closed: `Status`, `Closed`, `Schließungsdatum`."""

import re
from typing import Final

from service.reading.values.flag_words import CLOSED, DAY, QUALIFIERS, words_of

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


def means_closed(name: str) -> bool:
    """Return whether a column says by its name that a store is closed: with a yes, or with a date."""
    words = words_of(_CAMEL_CASE.sub(" ", name))
    if not words <= _KNOWN | _OTHERS:
        return False
    return not words.isdisjoint(_KNOWN) or not (words.isdisjoint(_END) or words.isdisjoint(_DATE))


def is_day(name: str) -> bool:
    """Return whether a column has opening hours of a day: `Sunday`, `Fri hours`."""
    words = words_of(_CAMEL_CASE.sub(" ", name))
    return any(map(DAY.search, words)) or (words <= _DAYS | {"hours", "open"} and not words.isdisjoint(_DAYS))


def is_status(name: str) -> bool:
    """Return whether a name is that of a column of states."""
    return any(word.endswith(_STATUS) for word in words_of(_CAMEL_CASE.sub(" ", name)))
