"""Overpass JSON: elements become records, with their tags and where they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from service.dataset import ReadOptions
from service.loading.dataset import load
from service.model.records import COMPANIES, STORES
from service.reading.batch import Cell, WrongType
from service.reading.files.records import format_of, open_file
from service.reading.formats.file_format import FORMATS
from service.reading.formats.geojson import OverpassFile
from service.reading.proposal.proposal import propose_mapping
from tests.loading.data_files import as_json, rows

TAGS = {"shop": "kiosk", "name": "Ei", "addr:full": "A 1", "addr:city": "Ulm", "addr:country": "DE"}
WAY = {"type": "way", "id": 7, "nodes": [1, 2], "tags": TAGS}
CENTRE = {"center": {"lat": 48.50, "lon": 9.5}}
OWN = ["@id", "@timestamp", "geometry.latitude", "geometry.longitude"]


def overpass(*elements: object) -> bytes:
    return as_json({"version": 0.6, "osm3s": {"copyright": "x"}, "elements": elements})


def cells(element: object) -> Mapping[str, Cell]:
    """Return the cells of an element behind a node, which has the line of the second one."""
    file = OverpassFile(overpass({"type": "node", "id": 1}, element).replace(b"}, {", b"},\n{"))
    columns = [*file.names, "absent"]
    (batch,) = file.batches(columns)
    assert (batch.lines()[-1], list(batch.columns), batch.unused) == (len(batch.lines()), columns, ())
    return {name: column[-1] for name, column in batch.columns.items()}


def test_an_element_has_its_tags_identifier_and_time() -> None:
    tags, time = {"type": "x", "a.b": "y"}, "2024-03-09T11:20:00Z"
    found = cells({"type": "relation", "id": 12, "timestamp": time, "tags": tags})
    assert found == {**dict.fromkeys([*OWN, "absent"]), **tags, "@id": "relation/12", "@timestamp": time}


@pytest.mark.parametrize(
    ("members", "latitude", "longitude"),
    [
        ({"lat": 48.5, "lon": 9.25}, "48.5", "9.25"),
        ({"center": {"lat": 48.5, "lon": 9.25}}, "48.5", "9.25"),
        ({"bounds": {"minlat": 48, "minlon": 9, "maxlat": 49, "maxlon": 10}}, "48.5", "9.5"),
        ({"bounds": {"minlat": 1, "minlon": -179, "maxlat": 2, "maxlon": 179}}, "1.5", "180.0"),
        ({"bounds": {"minlat": 48, "minlon": 9, "maxlat": 49}}, None, None),
        ({"bounds": {"minlat": "x", "minlon": 9, "maxlat": 49, "maxlon": 10}}, None, None),
        ({"lat": 48.5}, None, None),
        ({"lat": [1], "lon": 9}, WrongType("[1]"), "9"),
        ({}, None, None),
    ],
)
def test_an_element_is_at_its_point_its_centre_or_that_of_its_bounds(
    members: dict[str, Any], latitude: Cell, longitude: Cell
) -> None:
    found = cells({"type": "way", "id": 7, **members})
    assert (found["geometry.latitude"], found["geometry.longitude"]) == (latitude, longitude)


@pytest.mark.parametrize("element", [{}, {"type": "way"}, {"id": 1}, {"type": 5, "id": [1]}])
def test_an_element_without_an_identifier_has_none(element: object) -> None:
    assert cells(element)["@id"] is None


def test_ways_without_a_location_are_reported_with_what_to_query() -> None:
    why = ["ways and relations have no location: query with `out center`"]
    node = {"type": "node", "id": 1, "lat": 48.5, "lon": 9.5, "tags": TAGS}
    relation = {"type": "relation", "id": 1, "members": [{"type": "way", "ref": 7}]}
    for elements, assumed in (([node], []), ([node, WAY], why), ([relation], why), ([node, WAY | CENTRE], [])):
        assert OverpassFile(overpass(*elements)).assumed == assumed


def test_a_file_of_elements_is_checked_and_proposed_as_openstreetmap(tmp_path: Path) -> None:
    text = overpass(WAY | CENTRE, {"type": "node", "id": 8, "lat": 48.5, "lon": 9.5, "tags": TAGS | {"name": "Zwei"}})
    (tmp_path / "export.json").write_bytes(text)
    loaded = load(tmp_path / "export.json", options=ReadOptions(mapping="openstreetmap"))
    assert (loaded.report.errors, len(rows(loaded))) == ([], 2)
    opened = open_file(text, format_of(text, FORMATS["json"], STORES))
    assert 'preset = "openstreetmap"\n' in propose_mapping(opened, "export.json")


@pytest.mark.parametrize(
    "value",
    [
        {"elements": [{"store_id": "s1"}]},
        {"elements": []},
        [{"type": "shop", "id": 1}],
        {"stores": [], "elements": [{"type": "node", "id": 1}]},
    ],
)
def test_other_json_is_no_overpass_json(value: object) -> None:
    assert format_of(as_json(value), FORMATS["json"], STORES) is FORMATS["json"]


def test_only_json_may_be_overpass_json() -> None:
    text = overpass(WAY)
    assert format_of(text, FORMATS["csv"], STORES) is FORMATS["csv"]
    assert format_of(text, FORMATS["json"], COMPANIES) is not FORMATS["json"]
