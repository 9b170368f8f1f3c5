"""The presets, on records of the shapes that their sources have."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.model.records import STORES
from service.reading.batch import RecordFile
from service.reading.diagnostics import FileError
from service.reading.files.records import format_of, open_file
from service.reading.formats.file_format import FORMATS
from service.reading.mapping.mapping_file import PRESETS, load_mapping
from tests.reading.mapping.record_files import Compiled, compiled, features, sample, table

SAMPLES = Path(__file__).parent
EXPECTED: dict[str, dict[str, dict[str, object]]] = {
    "all-the-places": {
        "k3Jx0w2mZ1pT9qLrV8sYcBnD4eA=": {
            "company_id": "Blue Heron Coffee", "name": "Pearl Street", "address_1": "812 Pearl Street",
            "city": "Boulder", "province": "CO", "country": "US", "postal_code": "80302",
            "phone_number": "+1 303-555-0147", "is_open": True, "latitude": "40.0181", "longitude": "-105.2797",
        },
        "Zq7Hs5uKf2oW6xNbE1tRjM9yGvC=": {
            "company_id": "Blue Heron Coffee", "name": "Blue Heron Coffee Golden", "address_1": "77 Ford Street",
            "city": "Golden", "country": "US", "is_open": False,
        },
        "aP4dC8iVx3lG7hSwU0kFzT6mQnB=": {
            "company_id": "Sorrel Books", "name": "Sorrel Books", "address_1": "Rynek 4, 50-106 Wrocław",
            "city": "Wrocław", "country": "PL", "is_open": True, "latitude": "51.1097", "longitude": "17.0326",
        },
    },
    "google-business-profile": {
        "LARK-01": {
            "company_id": "Larkspur Cycles", "name": "Larkspur Cycles", "address_1": "18 Mill Lane",
            "address_2": "Unit 3, Riverside Yard", "city": "Norwich", "province": "Norfolk", "country": "GB",
            "postal_code": "NR3 1AB", "phone_number": "01603 555017", "is_open": True,
            "latitude": "52.6343", "longitude": "1.2959",
        },
        "LARK-02": {
            "company_id": "Larkspur Cycles", "name": "Larkspur Cycles", "address_1": "2 High Street",
            "city": "Diss", "country": "GB", "is_open": True,
        },
    },
    "openstreetmap": {
        "node/4419023001": {
            "company_id": "Kornblume", "name": "Kornblume", "address_1": "12a Lange Gasse",
            "city": "Freiburg im Breisgau", "country": "DE", "postal_code": "79098",
            "phone_number": "+49 761 5550123", "is_open": True, "latitude": "47.9951", "longitude": "7.8522",
        },
        "way/221907345": {
            "company_id": "Marktplatz 3 GmbH", "name": "Marktplatz 3 GmbH", "address_1": "3 Weiler",
            "city": "Weiler", "country": "DE", "is_open": False, "latitude": "47.9012", "longitude": "7.8101",
            "updated_at": "2024-03-09T11:20:00Z",
        },
    },
    "overture": {
        "08f2a1072c8a35080391f7f1e4a9c0d2": {
            "company_id": "Tall Pine Outfitters", "name": "Tall Pine Outfitters Portland",
            "address_1": "1420 NW Lovejoy St", "city": "Portland", "province": "OR", "country": "US",
            "postal_code": "97209-2533", "phone_number": "+15035550188", "is_open": True,
            "latitude": "45.5299", "longitude": "-122.6861", "updated_at": "2024-08-02T00:00:00Z",
        },
        "08f1f8a4d2b1c9290345b6c7d8e9f0a1": {
            "company_id": "Café Ondine", "name": "Café Ondine", "address_1": "9 Quai des Brumes", "city": "Gent",
            "country": "BE", "is_open": False, "latitude": "51.0543", "longitude": "3.7174",
            "updated_at": "2023-11-30T08:15:00Z",
        },
    },
}  # fmt: skip
# The third feature of the sample of OpenStreetMap is no valid store.
MISSING = [("missing", "city"), ("missing", "country")]
INVALID = {"openstreetmap": {"Kiosk am See"}}


def load(preset: str, file: RecordFile) -> Compiled:
    return compiled(load_mapping(preset), file)


def reported(loaded: Compiled) -> list[tuple[str, str | None]]:
    return [(each.code, each.field) for each in loaded.diagnostics]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_gives_the_stores_and_the_companies_of_its_source(preset: str) -> None:
    loaded = load(preset, sample(preset))
    assert reported(loaded) == (MISSING if preset == "openstreetmap" else [])
    known = [{name: value for name, value in store.items() if value is not None} for store in loaded.stores]
    assert {store.pop("store_id"): store for store in known} == EXPECTED[preset]
    companies = {store["company_id"] for store in EXPECTED[preset].values()} | INVALID.get(preset, set())
    assert {each["company_id"]: each["name"] for each in loaded.companies} == {each: each for each in companies}


def test_features_of_all_the_places_without_identifiers_have_that_of_the_spider() -> None:
    address = {"addr:full": "Rynek 4", "addr:city": "Wrocław", "addr:country": "PL"}
    shops = [{**address, "@spider": spider, "ref": "7", "brand": "Sorrel"} for spider in ("sorrel_pl", "sorrel_cz")]
    loaded = load("all-the-places", features(*shops))
    assert loaded.diagnostics == []
    assert sorted(each["store_id"] for each in loaded.stores) == ["sorrel_cz/7", "sorrel_pl/7"]


def as_overpass(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return features as the elements that they were exported from: nodes, and ways with their centre."""
    elements = []
    for feature in features:
        properties = feature["properties"]
        kind, _, number = properties["@id"].partition("/")
        longitude, latitude = feature["geometry"]["coordinates"]
        point = {"lat": latitude, "lon": longitude}
        location = point if kind == "node" else {"center": point, "nodes": [1, 2]}
        timestamp = {"timestamp": properties["@timestamp"]} if "@timestamp" in properties else {}
        tags = {name: value for name, value in properties.items() if not name.startswith("@")}
        elements.append({"type": kind, "id": int(number), **location, **timestamp, "tags": tags})
    return elements


@pytest.mark.parametrize("indent", [None, 1])
def test_openstreetmap_as_overpass_returns_it_gives_the_stores_of_its_geojson(indent: int | None) -> None:
    elements = as_overpass(json.loads((SAMPLES / "openstreetmap.geojson").read_text("utf-8"))["features"])
    for value in (elements, {"version": 0.6, "osm3s": {"copyright": "x"}, "elements": elements}):
        text = json.dumps(value, indent=indent).encode()
        loaded = load("openstreetmap", open_file(text, format_of(text, FORMATS["json"], STORES)))
        assert loaded.version == load("openstreetmap", sample("openstreetmap")).version
        assert reported(loaded) == MISSING


def test_openstreetmap_as_osmtogeojson_writes_it() -> None:
    shop = {"shop": "kiosk", "name": "Ei", "addr:full": "A 1", "addr:city": "Ulm", "addr:country": "DE"}
    square = {"type": "Polygon", "coordinates": [[[9, 48], [10, 48], [10, 49], [9, 48]]]}
    properties = {"timestamp": "2024-03-09T11:20:00Z", **shop, "id": "way/7"}
    loaded = load("openstreetmap", features(properties, geometry=square))
    assert loaded.diagnostics == []
    (found,) = loaded.stores
    assert (found["store_id"], found["updated_at"]) == ("way/7", "2024-03-09T11:20:00Z")
    assert (found["latitude"], found["longitude"]) == ("48.5", "9.5")


def test_fields_that_a_preset_does_not_find_are_added_by_a_mapping_that_starts_from_it() -> None:
    own = 'preset = "openstreetmap"\n[stores.fields]\ncountry = { constant = "DE" }\n'
    own += 'city = { from = "addr:city", default = "Freiburg" }'
    loaded = compiled(own, sample("openstreetmap"))
    assert loaded.diagnostics == []
    assert {each["city"] for each in loaded.stores} == {"Freiburg im Breisgau", "Freiburg"}


def test_a_preset_accepts_a_file_without_some_of_its_columns_but_not_without_those_of_required_fields() -> None:
    header = "Store code,Business name,Address line 1,Locality,Country"
    loaded = load("google-business-profile", table(f"{header}\nx,Larkspur,1 Elm St,Ada,CA"))
    assert loaded.diagnostics == []
    without = "Business name,Address line 1,Locality,Country\nLarkspur,1 Elm St,Ada,CA"
    with pytest.raises(FileError, match=r"missing columns: store_id \(expected 'Store code'\)"):
        load("google-business-profile", table(without))
