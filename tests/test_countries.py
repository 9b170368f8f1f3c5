"""The table of countries: how it is made from a map, and that the package has it."""

import sqlite3
import struct
from collections.abc import Iterable, Mapping
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.model.coordinates import Box
from service.reading.columns.countries import Country, countries_by_name
from tools import countries

Ring = list[tuple[float, float]]
BOXES = st.builds(
    lambda west, south, width, height: Box(west, south, west + width, south + height),
    *[st.integers(-20, 20)] * 2,
    *[st.integers(1, 6)] * 2,
)


def square(west: float, south: float, size: float = 1) -> Ring:
    east, north = west + size, south + size
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]


def geometry(*polygons: list[Ring], envelope: int = 1) -> bytes:
    """Return a multipolygon as a GeoPackage has it, each polygon a list of rings."""
    blob = b"GP\0" + bytes([envelope << 1 | 1]) + bytes(4 + (0, 32)[envelope])
    blob += struct.pack("<BII", 1, 6, len(polygons))
    for rings in polygons:
        blob += struct.pack("<BII", 1, 3, len(rings))
        for ring in rings:
            blob += struct.pack(f"<I{2 * len(ring)}d", len(ring), *(number for point in ring for number in point))
    return blob


def write_map(folder: Path, tables: Mapping[str, tuple[str, Iterable[tuple[object, ...]]]]) -> Path:
    """Write a map of tables, each with its columns and rows."""
    with closing(sqlite3.connect(folder / "map.gpkg")) as database, database:
        for table, (columns, rows) in tables.items():
            database.execute(f"CREATE TABLE {table} ({columns})")
            for row in rows:
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - our own
    database.close()
    return folder / "map.gpkg"


def made(folder: Path, states: Iterable[tuple[object, ...]]) -> dict[str, Country]:
    """Return the countries of a map with some states, by code."""
    tables = {
        "states_provinces": ("iso_a2, name, sov_a3, gu_a3, admin, geom", states),
        "countries": ("iso_a2, iso_a3, name", [("US", "USA", "U. States"), ("XK", "-99", "Kosovo")]),
    }
    found = list(countries.countries(*countries.read_map(write_map(folder, tables))))
    return {each.names[0]: each for each in msgspec.convert(found, list[Country])}


def test_overlapping_states_are_one_box_and_others_boxes_of_their_own(tmp_path: Path) -> None:
    texas = geometry([square(-100, 30), square(-99.6, 30.2, 0.5)], [square(-98.5, 30)])  # one with a hole
    alaska = geometry([square(-179.9, 60)], envelope=0)
    found = made(tmp_path, [
        ("US", "Texas", "US1", "USA", "United States of America", texas),
        ("US", "Alaska", "US1", "USA", "United States of America", alaska),
    ])  # fmt: skip
    assert found["US"].boxes == (Box(-100.5, 29.5, -97.0, 31.5), Box(-180, 59.5, -178.4, 61.5))
    assert found["US"].names[:3] == ("US", "USA", "United States of America")
    assert "U. States" not in found["US"].names


def test_territories_and_disputed_areas_belong_to_both_sides(tmp_path: Path) -> None:
    found = made(tmp_path, [
        ("FR", "Guyane", "FR1", "GUF", "France", geometry([square(-53, 4)])),
        ("XK", "Peć", "KOS", "KOS", "Kosovo", geometry([square(20, 42)])),
        ("RS", "Pinjski", "SRB", "SRS", "Republic of Serbia", geometry([square(30, 42)])),
        ("-1", None, "CYN", "CYN", "Northern Cyprus", geometry([square(33, 35)])),
    ])  # fmt: skip
    assert found.keys() == {"GF", "RS", "XK"}  # France has no part with a name here
    assert found["GF"].boxes == (Box(-53.5, 3.5, -51.5, 5.5),)
    assert set(found["RS"].boxes) == {Box(19.5, 41.5, 21.5, 43.5), Box(29.5, 41.5, 31.5, 43.5)}
    assert found["XK"].names == ("XK", "Kosovo", "XKX")


@given(st.lists(BOXES))
def test_merged_boxes_contain_all_boxes_and_do_not_overlap(boxes: list[Box]) -> None:
    merged = countries.merged(boxes)
    for box in boxes:
        holding = [
            m
            for m in merged
            if m.west <= box.west and m.south <= box.south and box.east <= m.east and box.north <= m.north
        ]
        assert len(holding) == 1
    assert countries.merged(merged) == merged


def test_the_file_in_the_package_is_small_and_names_its_source() -> None:
    content = (files("service.reading.columns") / "countries.json").read_bytes()
    assert len(content) < 40_000
    assert b'"source":"Natural Earth' in content
    assert content == countries.FILE.read_bytes()


def test_every_name_is_of_one_country_and_every_box_is_on_the_earth() -> None:
    known = set(countries_by_name().values())
    assert len(countries_by_name()) == len({name.casefold() for each in known for name in each.names})
    assert all(country.boxes for country in known)
    for box in (box for country in known for box in country.boxes):
        assert -180 <= box.west < box.east <= 180
        assert -90 <= box.south < box.north <= 90


@pytest.mark.parametrize(
    ("name", "code"),
    [("usa", "US"), ("uk", "GB"), ("türkiye", "TR"), ("deu", "DE"), ("na", "NA"), ("österreich", "AT"), ("日本", "JP")],
)
def test_countries_are_found_by_normalized_keys_of_codes_and_names(name: str, code: str) -> None:
    assert countries_by_name()[name.encode()].names[0] == code
