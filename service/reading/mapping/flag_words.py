"""Words for yes and no, open and closed, in several languages: what the values of a flag mean."""

from collections.abc import Iterable
from typing import Final

from service.model.kinds import FALSE, TRUE

_OPEN: Final = frozenset(
    {"open", "opened", "operational", "geöffnet", "offen", "ouvert", "ouverte", "abierto", "abierta", "aperto"}
    | {"aperta", "aberto", "aberta", "geopend", "otwarte", "öppen", "åben", "åpen", "avoinna", "otevřeno"}
)
_CLOSED: Final = frozenset(
    {"closed", "permanently closed", "permanently_closed", "temporarily closed", "temporarily_closed", "geschlossen"}
    | {"fermé", "fermée", "cerrado", "cerrada", "chiuso", "chiusa", "fechado", "fechada", "gesloten", "zamknięte"}
    | {"stängt", "lukket", "stengt", "suljettu", "zavřeno"}
)
_YES: Final = frozenset(
    {"ja", "j", "oui", "si", "sí", "sì", "sim", "tak", "ano", "kyllä", "wahr", "vrai", "verdadero", "vero", "waar"}
    | {"active", "aktiv", "actif", "activo", "attivo", "actief", "x"}
)
_NO: Final = frozenset(
    {"nein", "non", "não", "nie", "nee", "nej", "nei", "ei", "falsch", "faux", "falso", "onwaar"}
    | {"inactive", "inaktiv", "inactif", "inactivo", "inattivo", "inactief"}
)
_ABOUT_OPENING: Final = _OPEN | _CLOSED


def flag_of(text: str) -> bool | None:
    """Return what a word means, None if it is not known."""
    word = text.casefold()
    if word in TRUE or word in _YES or word in _OPEN:
        return True
    return False if word in FALSE or word in _NO or word in _CLOSED else None


def is_about_opening(texts: Iterable[str]) -> bool:
    """Return whether all of some words mean open or closed."""
    return all(text.casefold() in _ABOUT_OPENING for text in texts)
