"""Stores that an unused column says are closed are never served as open in silence, in any format."""

import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.dataset import ReadOptions
from service.loading.dataset import Loaded, load, notes
from service.reading.batch import BATCH_SIZE
from service.reading.columns.field_names import MAX_UNUSED
from tests.loading.data_files import (
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    load_companies,
    load_mapped,
    load_stores,
    store,
)

TODAY = date(2024, 6, 1)
FORMATS = ("csv", "json", "jsonl", "geojson", "geojsonl", "parquet")
MAPPING = '[stores.fields]\ncity = "Ort"\n'


def written(form: str, records: Sequence[Record]) -> bytes:
    names = list(dict.fromkeys(name for record in records for name in record))
    features = [{"type": "Feature", "properties": record, "geometry": None} for record in records]
    match form:
        case "csv":
            return as_csv(records, names)
        case "json":
            return as_json(records)
        case "geojson":
            return as_json({"type": "FeatureCollection", "features": features})
        case "parquet":
            file = io.BytesIO()
            pq.write_table(pa.table({name: [record.get(name) for record in records] for name in names}), file)
            return file.getvalue()
    return as_lines(features if form == "geojsonl" else records)


def loaded(folder: Path, records: Sequence[Record], form: str = "csv", mapping: str = "") -> Loaded:
    """Load a folder of some stores on 1 June 2024."""
    found = load_mapped(folder, mapping, written(form, records), f"stores.{form}", today=TODAY)
    assert found.report.errors == []
    return found


def closed(found: Loaded) -> list[tuple[str | None, int | None, str]]:
    """Return the column, the record and the reason of each warning of closed stores."""
    return [(each.field, each.record, each.why) for each in found.report.warnings if each.code == "closed"]


def stores(**cells: Sequence[object]) -> list[Record]:
    count = max(map(len, cells.values()))
    return [store(f"s{index}", **{name: each[index] for name, each in cells.items()}) for index in range(count)]


def says(count: str) -> str:
    are = "is" if count == "1 store" else "are"
    return f"{count} that this column marks as closed {are} served as open; map it to is_open"


@pytest.mark.process
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("mapped", [False, True])
def test_closed_stores_in_an_unused_column_are_reported(form: str, tmp_path: Path, *, mapped: bool) -> None:
    records = stores(Status=["offen", "geschlossen", "wegen Umbau geschlossen", None])
    if mapped:
        records = [{"Ort" if name == "city" else name: value for name, value in each.items()} for each in records]
    found = loaded(tmp_path, records, form, MAPPING if mapped else "")
    assert closed(found) == [("Status", 2, says("2 stores"))]
    unused = [each.field for each in found.report.warnings if each.code == "unused"]
    assert unused == ([] if mapped else ["Status"])


def test_the_warning_has_the_place_and_the_value_of_the_first(tmp_path: Path) -> None:
    found = loaded(tmp_path, stores(Status=["open", "open", "CLOSED"]))
    (warning,) = [each for each in found.report.warnings if each.code == "closed"]
    assert str(warning) == f"stores.csv:4: Status: {says('1 store')}: 'CLOSED'"
    assert f"closed: 1 warning, the first: {warning}" in list(notes(found))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_stores_that_are_served_as_closed_or_not_at_all_are_not_counted(form: str, tmp_path: Path) -> None:
    records = stores(Status=["closed", "closed", "open"], is_open=[False, True, True])
    assert closed(loaded(tmp_path, records, form)) == [("Status", 2, says("1 store"))]
    records = stores(Status=["closed", "open"], is_open=[False, True])
    assert closed(loaded(tmp_path, [*records, *records], form)) == []


def test_repeated_stores_are_counted_once(tmp_path: Path) -> None:
    records = stores(Status=["closed", "open", "closed"])
    assert closed(loaded(tmp_path, [*records, *records])) == [("Status", 1, says("2 stores"))]
    records[0]["Status"], later = "open", [dict(records[0])]
    assert closed(loaded(tmp_path, [records[0], *later])) == []


@pytest.mark.process
@pytest.mark.parametrize("form", FORMATS)
def test_closing_dates_that_are_past_are_reported(form: str, tmp_path: Path) -> None:
    records = stores(**{"Close Date": ["2024-05-31", "2024-06-01", None, "31.05.2024", "01.07.2024"]})
    # 01.07.2024 may be in January: it is not past for certain.
    assert closed(loaded(tmp_path, records, form)) == [("Close Date", 1, says("2 stores"))]


SPEAKING: dict[str, tuple[list[object], str]] = {
    "closed": ([True, False, None], "1 store"),
    "is_closed": (["yes", "no", "nein"], "1 store"),
    "Closed since": (["May 2020", "n/a", "18:00"], "1 store"),
    "end_date": (["30.02.2020", "closed", "31.12.9999"], "2 stores"),
    "Status": (["inaktiv", "aktiv", "0"], "1 store"),
    "hours": (["closed", "closed", None], "2 stores"),
    "Lobby": (["permanently closed 2020-05", "12-2020", None], "1 store"),
    "Remarks": (["permanently closed", "new", ""], "1 store"),
}


def test_columns_speak_of_closing_by_their_names_and_words(tmp_path: Path) -> None:
    found = loaded(tmp_path, stores(**{name: cells for name, (cells, _) in SPEAKING.items()}), "json")
    assert sorted(closed(found)) == sorted((name, 1, says(count)) for name, (_, count) in SPEAKING.items())


OTHERS: dict[str, list[object]] = {
    "Hours": ["Mo-Fr 9-17, Su closed", "closed on Sundays", "24/7"],
    "Status": ["open", "active", None],
    "Status of flags": [True, False, None],
    "Newsletter": ["inaktiv", "no", "0"],
    "Sunday": ["Closed", "closed", None],
    "openHoursSaturday": ["Closed", "closed", None],
    "So": ["geschlossen", "12-18", None],
    "hours_fri": ["closed", "closed", None],
    "dimanche": ["Fermé", None, None],
    "Holidays": ["closed", None, None],
    "Lobby": ["closed", "9:00 AM - 5:30 PM", None],
    "Winter": ["geschlossen", "10–16 Uhr", None],  # noqa: RUF001 - a dash, as people write it
}


def test_other_columns_are_not_reported(tmp_path: Path) -> None:
    assert closed(loaded(tmp_path, stores(**OTHERS), "json")) == []
    texts = [*(f"Text {index}" for index in range(200)), "closed"]
    assert closed(loaded(tmp_path, stores(Text=texts), "json")) == []


@pytest.mark.process
@pytest.mark.parametrize("form", FORMATS)
def test_a_column_of_states_is_read_to_its_end(form: str, tmp_path: Path) -> None:
    states = ["A"] * BATCH_SIZE + ["closed"]
    assert closed(loaded(tmp_path, stores(Status=states), form)) == [("Status", BATCH_SIZE + 1, says("1 store"))]


def test_nested_members_are_found_with_a_mapping(tmp_path: Path) -> None:
    records = stores(info=[{"town": "Ulm", "status": "closed"}, {"town": "Ulm", "status": "open"}])
    found = loaded(tmp_path, records, "json", '[stores.fields]\ncity = "info.town"\n')
    assert closed(found) == [("info.status", 1, says("1 store"))]


def test_columns_far_behind_are_found_by_their_names(tmp_path: Path) -> None:
    others = {f"x{index}": ["x"] for index in range(2 * MAX_UNUSED)}
    assert closed(loaded(tmp_path, stores(**others, Status=["closed"]))) == [("Status", 1, says("1 store"))]


def test_a_used_column_is_not_reported(tmp_path: Path) -> None:
    mapping = '[stores.fields]\nis_open = { from = "Status", values = { closed = true } }\n'
    assert closed(loaded(tmp_path, stores(Status=["closed"]), mapping=mapping)) == []
    mapping = '[stores.fields]\nis_open = { closing_date = "end_date" }\n'
    assert closed(loaded(tmp_path, stores(end_date=["2020-01-01"]), mapping=mapping)) == []


def test_companies_and_files_without_records_have_no_closed_stores(tmp_path: Path) -> None:
    assert closed(load_companies(tmp_path, as_json([company(Status="closed")]), "companies.json")) == []
    assert closed(load_stores(tmp_path, b"store_id,company_id,address_1,city,country,Status,x\n")) == []


def test_a_preset_without_flags_reports_the_states_of_its_source(tmp_path: Path) -> None:
    header = "Store code,Business name,Address line 1,Locality,Country / Region,Status"
    (tmp_path / "a.csv").write_text(f"{header}\n1,Lark,Am Hang 1,Ulm,DE,Permanently closed\n")
    found = load(tmp_path / "a.csv", options=ReadOptions(mapping="google-business-profile"))
    assert closed(found) == [("Status", 1, says("1 store"))]
