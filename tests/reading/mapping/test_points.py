"""Latitudes and longitudes are taken from points in the notation that a mapping declares."""

import json
from pathlib import Path

import pytest

from service.reading.mapping.points import POINTS, coordinate
from tests.loading.data_files import DERIVED, as_csv, load_files, rows, store

TEXTS = [
    ("lon lat", "POINT (10.75 59.910)", ("59.910", "10.75")),
    ("lon lat", "SRID=4326;POINT Z(10.75 59.91 12)", ("59.91", "10.75")),
    ("lon lat", '{"type": "Point", "coordinates": [10.75, -59.91]}', ("-59.91", "10.75")),
    ("lat lon", "(59.91, 10.75)", ("59.91", "10.75")),
    ("lat lon", "59.91,-10.75", ("59.91", "-10.75")),
    ("lat lon", "59.91N 10.75W", ("59.91", "-10.75")),
    ("lat lon", "E 10.75, S 59.91", ("-59.91", "10.75")),
    ("lat lon", "59\xb054'36\"N 10\xb045'0\"E", ("59.91", "10.75")),
    ("lat lon", "+59.91-10.75/", ("59.91", "-10.75")),
    ("degrees", "52.370216N", ("52.370216", None)),
    ("degrees", "13\xb0 30\u2032 W", (None, "-13.5")),
    ("lat lon", "1 Main St\nOslo\n(59.91, 10.75)", ("59.91", "10.75")),
    ("lon lat", "MULTIPOINT ((10.75 59.91))", ("59.91", "10.75")),
    ("lat lon", "1 Main St\n(59.91, 10.75) x", (None, None)),
    ("lat lon", "nowhere", (None, None)),
    ("lat lon", "1 2 3 4", (None, None)),
    ("lat lon", "0120 045", (None, None)),
    ("lat lon", "1234.5 43.6", (None, None)),
    ("lat lon", f"59.{'1' * 21} 10.75", (None, None)),
    ("degrees", "4321", (None, None)),
]


@pytest.mark.parametrize(("notation", "text", "expected"), TEXTS)
def test_a_coordinate_is_taken_from_a_text(notation: str, text: str, expected: tuple[str | None, str | None]) -> None:
    assert tuple(coordinate(text, POINTS[notation], name) for name in ("latitude", "longitude")) == expected


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"lat": "59.91", "lon": "10.75"}, "'lat' and 'lon'"),
        ({"x1": "59.9123", "x2": "10.7512"}, "'x1' and 'x2'"),
        ({"place": "POINT (10.75 59.91)"}, "'place'"),
        ({"Breite": "N 59,91", "Länge": "E 10,75"}, "'Breite' and 'Länge'"),
        ({"x1": "59.9123", "x2": "7"}, None),
        ({"lat": "north", "lon": "east"}, None),
        ({"latitude": "59.91", "longitude": "10.75", "lat": "59.91", "lon": "10.75"}, None),
    ],
)
def test_a_file_without_any_location_names_the_columns_that_seem_to_have_them(
    tmp_path: Path, columns: dict[str, str], found: str | None
) -> None:
    records = [{**store(), **columns}, {**store("s2"), **dict.fromkeys(columns, "")}]
    for name, content in (("stores.csv", as_csv(records, list(records[0]))), ("stores.json", json.dumps(records))):
        text = content.encode() if isinstance(content, str) else content
        warnings = load_files(tmp_path / name, {name: text, "mapping.toml": DERIVED.encode()}).report.warnings
        located = [each.why for each in warnings if each.code == "locations"]
        assert [each.partition("to be in ")[2].partition(":")[0] for each in located] == [found] * (found is not None)


def test_a_mapping_declares_the_notation_of_a_column(tmp_path: Path) -> None:
    records = [{**store(), "the_geom": "POINT (10.75 59.91)"}, {**store("s2"), "the_geom": "?"}]
    fields = "".join(f'{name} = {{from = "the_geom", point = "lon lat"}}\n' for name in ("latitude", "longitude"))
    mapping = f"{DERIVED}[stores.fields]\n{fields}".encode()
    columns = list(records[0])
    files = {"stores.csv": as_csv(records, columns), "mapping.toml": mapping}
    loaded = load_files(tmp_path, files)
    assert [(each.code, each.line, each.value) for each in loaded.report.errors] == [("type", 3, "?")] * 2
    assert (
        b'"latitude":"59.91","longitude":"10.75"'
        in rows(load_files(tmp_path, {**files, "stores.csv": as_csv(records[:1], list(records[0]))}))[0]
    )
