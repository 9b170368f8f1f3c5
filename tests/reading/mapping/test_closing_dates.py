"""A store is closed once its closing date is past, as of the day of the data or of loading; words for closed."""

import asyncio
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from service.background import silent
from service.baking.baked_file import load_baked, write_baked
from service.dataset import ReadOptions
from service.loading.dataset import Loaded, load
from service.model.records import STORES
from service.publishing.local_source import BakedFileSource
from service.reading.batch import Cell, Invalid, WrongType
from service.reading.columns.flags import flag_of, has_status_word, is_closed_name, says_closed
from service.reading.diagnostics import FileError, Issue
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.mapping.mapping_file import parse_mapping
from tests.loading.data_files import DERIVED, as_json, dataset, load_files, served
from tests.reading.mapping.record_files import RECORD, Records, table

TODAY = date(2024, 6, 1)
CLOSES = 'closing_date = "Ends"'
COMPARED = "dates are compared with {}: stores with a closing date before it are closed".format


def is_open(entry: str, ends: Cell, status: Cell = None, *, options: str = "") -> Cell:
    """Return the cell of `is_open` of a record."""
    file = Records([*RECORD, "Ends", "Status"], [{**RECORD, "Ends": ends, "Status": status}])
    declared = parse_mapping(f"[stores]\n{options}\n[stores.fields]\nis_open = {{ {entry} }}".encode()).stores
    (batch,) = MappedRecords(file, declared, STORES, as_of=TODAY).batches()
    assert batch.as_of == (TODAY if isinstance(ends, bool | WrongType) or (ends and ends != "k.A.") else None)
    return batch.columns["is_open"][0]


BESIDE = f'from = "Status", values = {{ open = true, closed = false }}, {CLOSES}'
GERMAN = 'date = "dd.mm.yyyy"'
IN_WORDS = f"{CLOSES}, values = {{ yes = false, no = true }}"
# An entry, the closing date, the status, what the flag is.
FLAGS: list[tuple[str, Cell, Cell, Cell]] = [
    (CLOSES, "2024-05-31", None, False),
    (CLOSES, "2024-05-31T23:59:59-11:00", None, False),  # its own day counts
    (CLOSES, "2024-06-01", None, None),  # open on its last day
    (CLOSES, "2024-06-01T00:00:00+14:00", None, None),
    *((CLOSES, ends, None, False) for ends in (" 2020-01-01 ", "2023", "2024-05")),
    *((CLOSES, ends, None, None) for ends in ("9999-12-31", "2024", "2024-06", "", None)),
    # A past date closes whatever the status says.
    (BESIDE, "2024-05-31", "open", False),
    (BESIDE, "2024-06-01", "open", True),
    (BESIDE, "", "open", True),
    (BESIDE, "", "closed", False),
    (BESIDE, "2030-01-01", "closed", False),
    (BESIDE, "2030-01-01", "", ""),
    (BESIDE, "2020-01-01", "", False),
    # It may be beside a constant or a default.
    (f"constant = true, {CLOSES}", "2020-01-01", None, False),
    (f"constant = true, {CLOSES}", "", None, True),
    (f'join = ["Status"], default = false, {CLOSES}', None, None, False),
    # The format is that of the entry.
    (f"{CLOSES}, {GERMAN}", "31.05.2024", None, False),
    (f'{CLOSES}, date = ["dd.mm.yyyy", "rfc3339"]', "2023", None, False),
    # Texts that are no dates may have a meaning.
    (IN_WORDS, "YES", None, False),
    (IN_WORDS, "no", None, None),
    (IN_WORDS, "2020-01-01", None, False),
    (f"{CLOSES}, other = false", "soon", None, False),
    (f"{CLOSES}, values = {{ true = false }}", True, None, False),
    # Without a closing date, `other` needs no values.
    ('from = "Status", other = false, default = true', None, "May 2020", False),
    ('from = "Status", other = false, default = true', None, "", True),
    ('from = "Status", other = false, default = true', None, None, True),
]


@pytest.mark.parametrize(("entry", "ends", "status", "expected"), FLAGS)
def test_a_store_is_closed_after_its_closing_date(entry: str, ends: Cell, status: Cell, expected: Cell) -> None:
    assert is_open(entry, ends, status) == expected


def test_formats_and_texts_without_a_value_are_those_of_the_file_too() -> None:
    assert is_open(CLOSES, "01.06.2024", options='date = ["dd.mm.yyyy"]') is None
    assert is_open(CLOSES, "31.05.2024", options='date = ["dd.mm.yyyy"]') is False
    assert is_open(CLOSES, "k.A.", options='no_value = ["k.A."]') is None


@pytest.mark.parametrize(
    ("entry", "ends", "text", "expected"),
    [
        (CLOSES, "soon", "soon", "such as 2024-05-31"),
        (CLOSES, "2024-02-30", "2024-02-30", "such as 2024-05-31"),
        (CLOSES, True, "true", "such as 2024-05-31"),
        (CLOSES, WrongType("[1]"), "[1]", "such as 2024-05-31"),
        (f'{CLOSES}, date = "dd.mm.yyyy"', "2023", "2023", "as dd.mm.yyyy, as the mapping declares"),
        (f'from = "Status", other = false, {CLOSES}', "soon", "soon", "such as 2024-05-31"),
    ],
)
def test_what_is_no_date_is_an_error_of_the_record(entry: str, ends: Cell, text: str, expected: str) -> None:
    assert is_open(entry, ends) == Invalid(text, Issue("date", f"expected a closing date {expected}"))


def test_a_missing_column_is_an_error_unless_it_is_optional() -> None:
    file = table("store_id,company_id,address_1,city,country,Close Date\ns1,c1,1 Elm St,Ada,CA,2020-01-01")

    def mapped(entry: str) -> MappedRecords:
        return MappedRecords(file, parse_mapping(f"[stores.fields]\nis_open = {{ {entry} }}".encode()).stores, STORES)

    assert mapped('closing_date = "close_date"').columns[-1] == "Close Date"
    with pytest.raises(FileError, match=r"columns that the file does not have: 'Ends' \(of is_open\)"):
        mapped(CLOSES)
    (batch,) = mapped(f"{CLOSES}, optional = true").batches()
    assert batch.columns["is_open"] == [None]


def loaded(folder: Path, *, generated_at: str | None = None, ends: str = "2024-05-31") -> Loaded:
    """Load a folder of one store with a closing date, as on 1 June 2024."""
    stores = f"store_id,company_id,address_1,city,country,Ends\ns1,c1,x,Ulm,DE,{ends}\n".encode()
    files = {"stores.csv": stores, "mapping.toml": f"[stores.fields]\nis_open = {{ {CLOSES} }}\n{DERIVED}".encode()}
    if generated_at:
        listed = {"stores.csv": {"sha256": sha256(stores).hexdigest(), "records": 1}}
        files["manifest.json"] = as_json({"generated_at": generated_at, "files": listed})
    return load_files(folder, files, today=TODAY)


@pytest.mark.parametrize(
    ("generated_at", "as_of", "expected"),
    [
        (None, "2024-06-01", False),
        ("2024-05-31T10:00:00Z", "2024-05-31", True),
        ("2024-05-31T23:00:00-05:00", "2024-06-01", False),  # its day in UTC
    ],
)
def test_the_day_is_of_data_or_loading(tmp_path: Path, generated_at: str | None, as_of: str, expected: Cell) -> None:
    found = loaded(tmp_path, generated_at=generated_at)
    assert [each["is_open"] for each in served(found)] == [expected]
    assert dataset(found).as_of == date.fromisoformat(as_of)
    assert found.assumed[-1] == f"stores.csv: {COMPARED(as_of)}"


def test_stores_of_all_the_places_close_on_their_day(tmp_path: Path) -> None:
    place = {"@spider": "a", "brand": "b", "addr:full": "x", "addr:city": "y", "addr:country": "DE"}
    days = (None, "yes", "2024-05-31", "2024-06-01", "2023", "2025", "2024-05", "unclear")
    feature = {"type": "Feature", "geometry": None}
    features = [feature | {"id": day or "open", "properties": {**place, "end_date": day}} for day in days]
    (tmp_path / "a.geojson").write_bytes(as_json({"type": "FeatureCollection", "features": features}))
    found = load(tmp_path / "a.geojson", options=ReadOptions(mapping="all-the-places"), today=TODAY)
    assert found.report.errors == found.report.warnings == []
    assert {each["store_id"] for each in served(found) if each["is_open"]} == {"open", "2024-06-01", "2025"}
    assert len(served(found)) == len(days)


def test_a_baked_file_keeps_the_day_if_there_are_closing_dates(tmp_path: Path) -> None:
    for ends, days in (("2024-05-31", ["2024-06-01"]), ("", [])):
        found = dataset(loaded(tmp_path / "data", ends=ends))
        write_baked(found, tmp_path / "stores.baked")
        baked = load_baked(tmp_path / "stores.baked")
        assert (baked.as_of, baked.version) == (found.as_of, found.version)
        assert list(baked.assumed) == list(map(COMPARED, days))
        assert (b"as_of" in (tmp_path / "stores.baked").read_bytes()) == bool(days)


def test_the_day_of_a_baked_file_is_logged_when_it_is_fetched(tmp_path: Path) -> None:
    write_baked(dataset(loaded(tmp_path / "data")), tmp_path / "stores.baked")
    source = BakedFileSource(tmp_path / "stores.baked", tmp_path / "verified")
    fetched = asyncio.run(source.fetch(tmp_path / "copy", known="", check=lambda _: None, progress=silent))
    assert fetched is not None
    assert fetched.assumed == (COMPARED("2024-06-01"),)


# What a text means, whether it says that a store is closed -> texts.
PHRASES: dict[tuple[bool | None, bool], list[str]] = {
    (False, True): [
        "Closed", "permanently_closed", "temporarily closed", "closed - permanently", "Store closed", "closed down",
        "dauerhaft geschlossen", "Filiale geschlossen", "fermé définitivement", "FERMETURE TEMPORAIRE",
        "cerrado permanentemente", "chiuso definitivamente", "definitief gesloten", "Vorübergehende Schließung",
    ],
    (None, True): [  # its meaning is asked for
        "closed since Mar 2025", "we closed", "closed since 2020-01-01", "wegen Umbau geschlossen",
        "geschlossen ab 2025", "closed (moved)",
    ],
    (None, False): [  # opening hours, and negations
        "", "not closed", "nie geschlossen", "offen, Parkplatz geschlossen", "closed on Sundays",
        "Sonntags geschlossen", "fermé le lundi", "chiuso domenica", "Mo-Fr 9-17, So geschlossen", "closed 12-13",
        "today closed", "lunes cerrado", "Sa,Su,PH closed", "PH off; Mo-Fr 17:00; 2026 Dec 24 closed", "closed Mon+Tue",
        "So geschlossen", "Di und Mi geschlossen", "fermé dim", "lun chiuso",
        "The café next door closed in spring but the store itself remains",
    ],
    (False, False): ["no"],
    (True, False): ["open"],
}  # fmt: skip


@pytest.mark.parametrize(("meaning", "text"), [(each, text) for each, texts in PHRASES.items() for text in texts])
def test_phrases_for_closed_and_others_are_told_apart(meaning: tuple[bool | None, bool], text: str) -> None:
    assert (flag_of(text), says_closed(text)) == meaning


# Whether a column means closed, whether it has states -> names.
NAMES: dict[tuple[bool, bool], list[str]] = {
    (True, False): [
        "Closed", "is_closed", "isClosed", "permanentlyClosed", "Close Date", "closing_date", "closed_on", "ClosedAt",
        "end_date", "EndDate", "Closed since", "Schließungsdatum", "Schliessungsdatum", "geschlossen am",
        "Geschlossen seit", "Date de fermeture", "Fermé le", "Fecha de cierre", "Data di chiusura", "Sluitingsdatum",
        "Store Closing Date", "Gesloten op", "Closure date",
    ],
    (False, False): [
        "", "Closing", "closing_time", "Closes at", "Fermeture", "end", "contract end date", "Open/Closed", "date",
        "Opening date", "not closed", "closed_sundays", "close",
    ],
    (False, True): ["Status", "store_status", "Betriebsstatus", "businessStatus", "Zustand", "statut"],
}  # fmt: skip


@pytest.mark.parametrize(("meaning", "name"), [(each, name) for each, names in NAMES.items() for name in names])
def test_names_of_columns_that_mean_closed_or_states_are_known(meaning: tuple[bool, bool], name: str) -> None:
    assert (is_closed_name(name), has_status_word(name)) == meaning
