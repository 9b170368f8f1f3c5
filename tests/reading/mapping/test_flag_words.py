"""Words and names for open and closed, as they are in real files."""

import pytest

from service.reading.columns.flags import flag_of, has_status_word, is_closed_name, says_closed


@pytest.mark.parametrize(
    "text",
    [
        "Closed", "permanently_closed", "temporarily closed", "closed - permanently", "Store closed", "closed down",
        "dauerhaft geschlossen", "Filiale geschlossen", "fermé définitivement", "FERMETURE TEMPORAIRE",
        "cerrado permanentemente", "chiuso definitivamente", "definitief gesloten", "Vorübergehende Schließung",
    ],
)  # fmt: skip
def test_phrases_for_closed_are_known(text: str) -> None:
    assert flag_of(text) is False
    assert says_closed(text)


@pytest.mark.parametrize(
    "text", ["closed since 2020-01-01", "wegen Umbau geschlossen", "geschlossen ab 2025", "closed (moved)"]
)
def test_other_texts_say_closed_but_their_meaning_is_asked_for(text: str) -> None:
    assert flag_of(text) is None
    assert says_closed(text)


@pytest.mark.parametrize(
    "text",
    [
        "open", "", "no", "not closed", "nie geschlossen", "offen, Parkplatz geschlossen", "closed on Sundays",
        "Sonntags geschlossen", "fermé le lundi", "chiuso domenica", "Mo-Fr 9-17, So geschlossen", "closed 12-13",
        "today closed", "lunes cerrado", "The café next door closed in spring but the store itself remains",
    ],
)  # fmt: skip
def test_opening_hours_and_negations_do_not_say_closed(text: str) -> None:
    assert not says_closed(text)


@pytest.mark.parametrize(
    "name",
    [
        "Closed", "is_closed", "isClosed", "permanentlyClosed", "Close Date", "closing_date", "closed_on", "ClosedAt",
        "end_date", "EndDate", "Closed since", "Schließungsdatum", "Schliessungsdatum", "geschlossen am",
        "Geschlossen seit", "Date de fermeture", "Fermé le", "Fecha de cierre", "Data di chiusura", "Sluitingsdatum",
        "Store Closing Date", "Gesloten op", "Closure date",
    ],
)  # fmt: skip
def test_names_of_columns_that_mean_closed(name: str) -> None:
    assert is_closed_name(name)
    assert not has_status_word(name)


@pytest.mark.parametrize(
    "name",
    [
        "", "Closing", "closing_time", "Closes at", "Fermeture", "end", "contract end date", "Open/Closed", "date",
        "Opening date", "not closed", "closed_sundays", "close",
    ],
)  # fmt: skip
def test_names_of_other_columns(name: str) -> None:
    assert not is_closed_name(name)


def test_names_of_states() -> None:
    states = ("Status", "store_status", "Betriebsstatus", "businessStatus", "Zustand", "statut")
    assert all(map(has_status_word, states))
