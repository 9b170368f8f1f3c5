"""A list of places gives its points to the stores' places, and adds others; what is no place is an error."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from service.dataset import ReadOptions
from service.loading.dataset import Loaded, load
from service.model.places import Place
from service.reading.files import places_file
from tests.directory import store, write_directory
from tests.loading.data_files import packed

HEADER = "name,kind,country,latitude,longitude,city,province"
TORONTO = ("CA", "M5V", "Toronto", "Ontario", "ON", "", "", "", "", "43.7", "-79.4", "6")
AACHEN = ("DE", "52062", "Aachen", "Nordrhein-Westfalen", "05", "", "", "", "", "50.776", "6.084", "4")


def loaded_with(folder: Path, content: bytes, *stores: dict[str, object], name: str = "list.csv") -> Loaded:
    """Load stores with a list."""
    write_directory(folder / "data", stores)
    (folder / name).write_bytes(content)
    return load(folder / "data", options=ReadOptions(places=str(folder / name)))


def places_of(loaded: Loaded) -> dict[tuple[str, str], Place]:
    """Return the places of a data set by kind and name."""
    assert loaded.dataset is not None, loaded.report.errors
    places, stores = loaded.dataset.places, loaded.dataset.stores
    found = places.places(places.ranks.argsort().astype("int32"), stores)
    return {(place.kind, place.name): place for place in found}


def csv_of(*rows: str) -> bytes:
    return "\n".join((HEADER, *rows, "")).encode()


def dump_of(*rows: Sequence[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def test_each_row_of_a_dump_is_a_postal_code_and_its_city(tmp_path: Path) -> None:
    assert places_of(loaded_with(tmp_path, dump_of(TORONTO, AACHEN))) == {
        ("city", "Aachen"): Place("Aachen", "city", "Aachen", "Nordrhein-Westfalen", "DE", 50.776, 6.084, 0),
        ("city", "Toronto"): Place("Toronto", "city", "Toronto", "ON", "CA", 43.7, -79.4, 0),
        ("postal_code", "52062"): Place("52062", "postal_code", "Aachen", AACHEN[3], "DE", 50.776, 6.084, 0),
        ("postal_code", "M5V"): Place("M5V", "postal_code", "Toronto", "ON", "CA", 43.7, -79.4, 0),
    }


@pytest.mark.parametrize("name", ["list.txt", "list.csv.gz", "list.CSV.zst"])
def test_a_compressed_list_is_the_same(tmp_path: Path, name: str) -> None:
    plain = csv_of("Ulm,city,DE,48.4,9.98,,", "89073,postal_code,DE,48.4,9.99,Ulm,")
    found = places_of(loaded_with(tmp_path, packed(plain, name.lower()), name=name))
    assert list(found) == [("postal_code", "89073"), ("city", "Ulm")]


def test_a_row_that_is_no_place_is_an_error_at_its_line_and_the_others_are_places(tmp_path: Path) -> None:
    rows = ["Ulm,city,DE,48.4,9.98,,", ",city,DE,1,1,,", "a,,DE,1,1,,", "a,town,DE,1,1,,", "a,city, ,1,1,,"]
    rows += ["a,city,DE,91,1,,", "a,city,DE,1,-180.5,,", "a,city,DE,1e,1,,", "a,city,DE,1,,,", "a,city"]
    rows.append("b,city,DE,1,1,,")
    loaded = loaded_with(tmp_path, csv_of(*rows))
    errors = [(error.code, Path(error.file).name, error.line, error.why) for error in loaded.report.errors]
    assert [line for *_, line, _ in errors] == [3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert {(code, file) for code, file, *_ in errors} == {("places", "list.csv")}
    assert [why for *_, why in errors][:5] == [
        "a place needs a name",
        "a place needs a kind",
        "the kind must be city or postal_code, not 'town'",
        "a place needs a country",
        "a place needs a latitude and a longitude in decimal degrees",
    ]
    assert list(places_of(loaded)) == [("city", "b"), ("city", "Ulm")]
    assert loaded.error_counts["places"] == 9
    assert loaded.report.totals.skipped == 0


def test_a_row_of_a_dump_is_one_error(tmp_path: Path) -> None:
    nowhere = (*TORONTO[:9], "", "", "6")
    loaded = loaded_with(tmp_path, dump_of(TORONTO, nowhere, ("CA", "", *TORONTO[2:]), TORONTO[:5]))
    assert [error.line for error in loaded.report.errors] == [2, 3, 4]


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"name,kind,latitude,longitude\na,city,1,1\n", "missing: country"), (b"\xff", "not UTF-8"), (b"", "is empty")],
)
def test_a_file_that_is_no_list_is_an_error_of_the_file(tmp_path: Path, content: bytes, why: str) -> None:
    loaded = loaded_with(tmp_path, content, store("s1"))
    assert loaded.dataset is None
    assert [error.code for error in loaded.report.errors] == ["file"]
    assert why in str(loaded.report.errors[0])


def test_a_list_that_is_missing_is_an_error_of_the_file(tmp_path: Path) -> None:
    write_directory(tmp_path / "data", [store("s1")])
    loaded = load(tmp_path / "data", options=ReadOptions(places=str(tmp_path / "none.csv")))
    assert loaded.dataset is None
    assert "none.csv: the file cannot be read" in str(loaded.report.errors[0])


@pytest.mark.parametrize("content", [csv_of(*["a,city,DE,1,1,,"] * 3), dump_of(*[AACHEN] * 3)], ids=["csv", "dump"])
def test_a_list_with_too_many_rows_is_rejected(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_file, "MAX_ROWS", 2)
    (error,) = loaded_with(tmp_path, content).report.errors
    assert error.why == "more than 2 rows"


def test_the_data_version_depends_on_the_bytes_of_the_list_and_without_one_on_none(tmp_path: Path) -> None:
    versions = []
    for content in (csv_of("Ulm,city,DE,48.4,9.98,,"), csv_of("Ulm,city,DE,48.40,9.98,,")):
        found = loaded_with(tmp_path, content, store("s1")).dataset
        versions.append(found and found.version)
    without = load(tmp_path / "data").dataset
    assert len({*versions, without and without.version}) == 3


def test_a_city_of_the_list_gives_its_point_and_the_stores_their_spelling(tmp_path: Path) -> None:
    stores = [
        store("s1", city="ULM", country="de", province="BW", latitude="48.0", longitude="10.0"),
        store("s2", city="Bonn", country="DE", province="NW"),
        store("s3", city="Rom", country="IT", province="RM", latitude="41.9", longitude="12.5"),
    ]
    rows = ["Ulm,city,DE,48.4,9.98,,", "Bonn,city,DE,50.7,7.1,,NW", "bonn,city,DE,1,1,,XX", "Rom,city,IT,45,7,,TO"]
    found = {
        (place.name, place.province): (place.latitude, place.stores)
        for place in _all(loaded_with(tmp_path, csv_of(*rows), *stores))
    }
    assert found == {
        ("ULM", "BW"): (48.4, 1),
        ("Bonn", "NW"): (50.7, 1),
        ("bonn", "XX"): (1.0, 0),
        ("Rom", "RM"): (41.9, 1),
        ("Rom", "TO"): (45.0, 0),
    }


def _all(loaded: Loaded) -> list[Place]:
    assert loaded.dataset is not None
    places = loaded.dataset.places
    return places.places(places.ranks.argsort().astype("int32"), loaded.dataset.stores)
