"""Proposed mappings: they load, they give the records that are meant, and ask what the records do not show."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from service.reading.batch import Batch, Cell, RecordFile
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import open_csv
from service.reading.mapping.mapping_file import PRESETS, load_mapping, parse_mapping
from service.reading.proposal.first_records import MAX_COLUMNS
from service.reading.proposal.proposal import propose_mapping
from service.reading.proposal.table_options import recognizes
from tests.reading.mapping.record_files import (
    RECORD,
    Records,
    compiled,
    features,
    geojson,
    nested,
    records,
    sample,
    table,
)

SAMPLES = Path(__file__).parent
GERMAN = """
Filial-Nr;Kette;Bezeichnung;Straße;Hausnr.;PLZ;Ort;Land;Breite;Länge;Telefon;Geöffnet;Eröffnet am;Geändert;Umsatz
1;Beet;Mitte;Torstr.;12;10119;Berlin;DE;52,5292;13,4011;k.A.;ja;14.03.2011;01.06.2024 08:30;12.345,67
2;Beet;Altona;Am Hang;7a;22767;Hamburg;DE;53,55;9,9416;040 1;Nein;02.09.2015;31.05.2024 18:00;-
3;Feld;;Markt;;1010;Wien;AT;;;;JA;;;5
"""
NOT_PROVEN = "if the order is the other one, 'lon lat'"


def semicolons(text: str) -> RecordFile:
    return open_csv(f"{text.strip()}\n".encode(), finds=recognizes)


def proposed(file: RecordFile, name: str = "filialen.csv") -> str:
    """Return a proposal, which must be a mapping that the file has the columns of."""
    text = propose_mapping(file, name)
    parse_mapping(text.encode())
    return text


def entries(text: str) -> dict[str, str]:
    """Return the lines of a proposal by key, comments among them."""
    return {key.lstrip("# "): value for key, _, value in (line.partition(" = ") for line in text.splitlines())}


def of_columns(**cells: str) -> str:
    """Return the proposal for records with the required fields, and columns with the cells in a text each, by name."""
    return proposed(records(**cells))


def test_a_german_spreadsheet_gets_the_mapping_that_it_needs() -> None:
    file = semicolons(GERMAN)
    text = proposed(file)
    assert (
        text
        == """\
# Proposed for "filialen.csv" from the names of its columns and its first 3 records.
# Check each line, and what `store-directory check` shows with it. All keys: `store-directory help mapping`.
# Assumed about the file: semicolons.

[stores]
decimal = ","
no_value = ["k.A."]
# time_zone = "Europe/Berlin"  # of dates and times without an offset; UTC if it is not declared

[stores.fields]
store_id = "Filial-Nr"
company_id = "Kette"
name = "Bezeichnung"
address_1 = { join = ["Straße", "Hausnr."] }
city = "Ort"
country = "Land"
postal_code = "PLZ"
phone_number = "Telefon"
is_open = { from = "Geöffnet", values = { "JA" = true, "Nein" = false } }
latitude = "Breite"
longitude = "Länge"
created_at = { from = "Eröffnet am", date = "dd.mm.yyyy" }
updated_at = { from = "Geändert", date = "dd.mm.yyyy hh:mm" }

[companies]
from = "stores"

[stores.attributes]
# The columns that are left: to serve one, delete the # of its line.
# umsatz = { from = "Umsatz", invalid = "null" }
"""
    )
    loaded = compiled(text, file)
    assert loaded.diagnostics == []
    by_id = {each["store_id"]: each for each in loaded.stores}
    assert {identifier: each["is_open"] for identifier, each in by_id.items()} == {"1": True, "2": False, "3": True}
    first = by_id["1"]
    assert (first["address_1"], first["phone_number"]) == ("Torstr. 12", None)
    assert (first["latitude"], first["longitude"]) == ("52.5292", "13.4011")
    assert (first["created_at"], first["updated_at"]) == ("2011-03-14T00:00:00Z", "2024-06-01T08:30:00Z")
    assert [each["company_id"] for each in loaded.companies] == ["Beet", "Feld"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_file_of_a_known_source_gets_its_preset(preset: str) -> None:
    file = sample(preset)
    text = proposed(file)
    assert f'\npreset = "{preset}"\n' in text
    loaded, expected = compiled(text, file), compiled(load_mapping(preset), file)
    assert loaded.diagnostics == expected.diagnostics
    by_id = {each["store_id"]: each for each in expected.stores}
    assert len(by_id) == len(loaded.stores) >= 2
    for store in loaded.stores:
        assert {(key, each) for key, each in by_id[store["store_id"]].items() if each is not None} <= store.items()


@pytest.mark.parametrize(
    ("preset", "properties"),
    [
        ("all-the-places", {"@spider": "a", "brand": "b"}),  # of a source without identifiers
        ("all-the-places", {"@spider": "a", "ref": "1", "shop": "yes", "addr:street": "c"}),
        ("openstreetmap", {"@id": "node/1", "amenity": "pharmacy", "addr:street": "c"}),
        ("openstreetmap", {"id": "node/1", "shop": "yes", "addr:street": "c"}),  # as osmtogeojson writes it
    ],
)
def test_a_preset_is_found_without_columns_that_some_files_lack(preset: str, properties: dict[str, str]) -> None:
    assert f'\npreset = "{preset}"\n' in propose_mapping(features(properties, id="node/1"), "export.geojson")


def test_required_fields_that_a_preset_does_not_find_are_asked_for() -> None:
    text = propose_mapping(sample("openstreetmap"), "export.geojson")
    for field in ("city", "country"):
        assert f"# {field} is required, but missing in 1 of the first 3 records. Leave them out with `serve" in text
    export = (SAMPLES / "openstreetmap.geojson").read_text("utf-8")
    without = geojson(export.replace("addr:country", "addr:xx"))
    text = propose_mapping(without, "export.geojson")
    assert '\ncountry = { constant = "" }  # required: fill in\n' in text
    why = r"^stores.fields.country.constant: empty, but the field is required: fill it in"
    with pytest.raises(FileError, match=why):
        parse_mapping(text.encode())
    assert {each["country"] for each in compiled(text.replace('""', '"DE"'), without).stores} == {"DE"}


def test_a_preset_without_records_has_no_questions() -> None:
    text = propose_mapping(table("Store code,Business name"), "x.csv", options={"encoding": "windows-1252"})
    assert text.endswith('\n\npreset = "google-business-profile"\n\n[stores]\nencoding = "windows-1252"\n')


def test_fields_are_found_at_the_ends_of_paths() -> None:
    record = {
        "company": {"id": "c1", "name": "Acme"},
        "address": {"street": "1 Elm St", "city": "Ada", "country": "CA"},
        "location": {"lat": 43.7, "lng": -79.4},
        "phones": ["1"],
        "labels": ["1"],
        "open": True,
        "tags": [],
    }
    file = nested([{"id": number, **record} for number in (1, 2)])
    text = proposed(file, "shops.json")
    paths = {"store_id": "id", "company_id": "company.id", "name": "company.name", "address_1": "address.street"}
    paths |= {"latitude": "location.lat", "longitude": "location.lng", "is_open": "open", "phone_number": "phones.0"}
    assert {field: f'"{path}"' for field, path in paths.items()}.items() <= entries(text).items()
    assert entries(text)["labels"] == '{ from = "labels", kind = "list", invalid = "null" }'
    assert [each["latitude"] for each in compiled(text, file).stores] == ["43.7", "43.7"]


@pytest.mark.parametrize(
    ("number", "entry"),
    [
        ({"addr:housenumber": "1"}, '{ join = ["tags.addr:street", "tags.addr:housenumber"] }'),
        ({"number": "1"}, '{ join = ["tags.addr:street", "tags.number"] }'),
        ({}, '"tags.addr:street"'),
    ],
)
def test_a_street_is_joined_with_the_number_of_its_house_in_the_same_object(number: dict[str, str], entry: str) -> None:
    tags = {"addr:street": "Elm St", **number, "addr:city": "Ada", "addr:country": "CA"}
    shops = [{"id": each, "owner": {"houseNumber": "9"}, "tags": tags, "company": "c1"} for each in (1, 2)]
    assert entries(proposed(nested(shops), "shops.json"))["address_1"] == entry


def test_the_text_of_an_object_is_named_by_it() -> None:
    places = [{"id": each, "displayName": {"text": f"A{each}", "languageCode": "en"}} for each in (1, 2)]
    assert entries(propose_mapping(nested(places), "places.json"))["name"] == '"displayName.text"'


def test_a_header_of_unknown_names_may_not_be_the_header() -> None:
    note = "# Few names of columns are known. They must be in the first row, without a title above them.\n"
    assert note in propose_mapping(table("Filialen 2024,,\nNr,Straße,Ort\n1,x,Ulm"), "filialen.csv")
    assert note not in propose_mapping(table("Nr,Straße,Ort\n1,x,Ulm"), "filialen.csv")


@pytest.mark.parametrize("own", [{}, {"lat": 1}])
def test_a_location_is_not_made_of_halves_of_two(own: dict[str, int]) -> None:
    point = {"type": "Point", "coordinates": [2.5, 1.5]}
    file = features({**RECORD, **own, "store_id": None}, id=7, geometry=point)
    found = entries(proposed(file, "a.geojson"))
    assert (found["latitude"], found["longitude"]) == ('"geometry.latitude"', '"geometry.longitude"')
    assert found["store_id"] == '"feature.id"'


@pytest.mark.parametrize(
    ("columns", "latitude", "longitude"),
    [
        ({"a": "43.6532", "b": "-79.3832"}, "a", "b"),
        ({"a": "-79.3832", "b": "43.6532"}, "a", "b"),  # a latitude may be -79
        ({"a": "-123.1207", "b": "49.2827"}, "b", "a"),
        ({"a": "43,6532|43,7", "b": "-79,3832|1,2345"}, "a", "b"),
        ({"Lat": "43.6532", "b": "-79.3832"}, "Lat", "b"),
        ({"b": "43.6532", "lng": "-79.3832"}, "b", "lng"),
        ({"b": "143.6532", "lng": "-79.3832"}, None, "lng"),
        *((columns, None, None) for columns in ({"a": "143.6532", "b": "-179.3832"}, {"a": "243.6532", "b": "1.2345"})),
        *((columns, None, None) for columns in ({"a": "43.6532"}, {"a": "43.6532", "b": "north"})),
        ({"a": "12.345", "b": "67.890"}, None, None),  # prices
    ],
)
def test_columns_with_decimal_degrees_are_coordinates(
    columns: dict[str, str], latitude: str | None, longitude: str | None
) -> None:
    text = of_columns(**columns)
    for field, column in (("latitude", latitude), ("longitude", longitude)):
        by_values = "" if column in ("Lat", "lng") else "  # found by its values"
        assert entries(text).get(field) == (column and f'"{column}"{by_values}')
    assert ('\ndecimal = ","\n' in text) == ("," in "".join(columns.values()))


@pytest.mark.parametrize(("province", "proposed_text"), [("NaN", True), ("Nan", False)])
def test_nan_is_no_value_if_it_is_a_coordinate_and_no_place(province: str, proposed_text: bool) -> None:  # noqa: FBT001
    text = of_columns(lat="43.7|NaN", lon="-79.4|NaN", province=f"ON|{province}")
    assert ('no_value = ["NaN"]' in text) is proposed_text
    assert "no_value" not in of_columns(lat="43.7", lon="-79.4", province="NaN")


@pytest.mark.parametrize(
    ("lat", "lon", "exchanged"),
    [
        ("151.2|-0.1|n/a", "-33.8|51.5|n/a", True),
        ("151.2|-0.1", "-33.8|151.5", False),
        ("51.2|-0.1", "-33.8|151.5", False),
        ("951.2|-0.1", "-33.8|51.5", False),
        ("|".join(["95.2", *(f"45.{number}" for number in range(20))]), "11.2", False),
        ("151.2|x", "x", False),
    ],
)
def test_columns_of_coordinates_with_exchanged_names_are_exchanged(lat: str, lon: str, exchanged: bool) -> None:  # noqa: FBT001
    found = entries(of_columns(lat=lat, lon=lon))
    note = "  # the names of the two columns are exchanged: values beyond 90 degrees are longitudes" * exchanged
    names = ['"lon"', '"lat"'] if exchanged else ['"lat"', '"lon"']
    for field, name in zip(("latitude", "longitude"), names, strict=True):
        assert found[field].startswith(name + note)


@pytest.mark.parametrize(
    ("column", "texts", "notation", "comment"),
    [
        ("Koordinaten", "43.65, -79.40|43.7,-79", "lat lon", NOT_PROVEN),
        ("location", "-79.40,43.65", "lat lon", NOT_PROVEN),  # a latitude may be -79
        ("location", "[-79.40, 43.65]", "lon lat", "if the order is the other one, 'lat lon'"),
        ("LatLng", "[43.65,-79.40]", "lat lon", ""),
        ("location", "-123.12,49.28|9.1,49.1", "lon lat", ""),
        ("Position", "49.28;-123.12", "lat lon", ""),
        ("lat/lng", "43.65 -79.40", "lat lon", ""),
        ("Longitude, Latitude", "-79.40  43.65", "lon lat", ""),
        ("Longitude, Latitude", "49.28, -123.12", "lat lon", ""),  # the values know better
        ("GPS", "52,5292, 13,4011|52,5, 13,4", "lat lon", NOT_PROVEN),
        ("GPS", "52,5292 / 13,4011", "lat lon", NOT_PROVEN),
        ("GPS", "52,5292, 13,4011|52,5, 13,4|52.5, 13.4", "lat lon", NOT_PROVEN),
        ("GPS", "43.65, -79.40|43.65; -79.40", "lat lon", NOT_PROVEN),
        ("the_geom", "POINT (10.75 59.91)|SRID=4326;POINT(10 59)|POINT EMPTY", "lon lat", ""),
        ("json", '{"type": "Point", "coordinates": [10.75, 59.91]}', "lon lat", ""),
        ("xyz", '{"lng": 10.75, "lat": 59.91}', "lat lon", ""),
        ("xyz", "N 52\xb0 22.1', E 4\xb0 53.7'|52\xb022'13\"N 4\xb053'42\"E", "lat lon", ""),
        ("xyz", "52,37\xb0N 4,89\xb0E", "lat lon", ""),
        ("xyz", "43.6532, -79.3832|43.7, -79.4", "lat lon", f"found by its values; {NOT_PROVEN}"),
        ("xyz", "-123.1207, 49.2827", "lon lat", "found by its values"),
        ("xyz", "43.6532|43.7,-79.4", None, ""),
        ("xyz", "43.6532, -79.3832|43.7, -79.3831|43.7, -79.3833", None, ""),
        *(("GPS", each, None, "") for each in ("43.65, -79.40|north", "123.65, -97.40", "43.65, -197.40", "43, 79")),
        *(("Maße", "43.65 / 79.40", None, ""), ("location", "12 Main St, Floor 3.5", None, "")),
        *(("geom", "LINESTRING (10.75 59.91, 10.76 59.92)", None, ""), ("geohash", "drm3btev3e86", None, "")),
    ],
)
def test_a_column_with_both_coordinates_is_a_point(column: str, texts: str, notation: str | None, comment: str) -> None:
    text = of_columns(**{column: texts})
    found = entries(text)
    if notation is None:
        assert found.keys().isdisjoint({"latitude", "longitude"})
        return
    expected = f'{{ from = "{column}", point = "{notation}" }}'
    assert found["latitude"] == expected + (f"  # {comment}" if comment else "")
    assert found["longitude"] == expected
    cells = [{**RECORD, "store_id": str(number), column: each} for number, each in enumerate(texts.split("|"))]
    assert compiled(text, Records([*RECORD, column], cells)).diagnostics == []


@pytest.mark.parametrize(
    ("latitude", "longitude", "expected"),
    [
        ("52.370216N", "13.404954E", ("52.370216", "13.404954")),
        ("52\xb030'S", "13\xb030'W|13\xb0W", ("-52.5", "-13.5")),
        ("52,5\xb0", "13,25", ("52.5", "13.25")),
    ],
)
def test_coordinates_in_another_notation_are_read(latitude: str, longitude: str, expected: tuple[str, str]) -> None:
    for names in (("latitude", "longitude"), ("breite", "Länge")):
        text = of_columns(**dict(zip(names, (latitude, longitude), strict=True)))
        record = {**RECORD, names[0]: latitude, names[1]: longitude.split("|", maxsplit=1)[0]}
        (store,) = compiled(text, Records(list(record), [record])).stores
        assert (store["latitude"], store["longitude"]) == expected


@pytest.mark.parametrize("names", [("a", "b"), ("N", "E")])
def test_columns_whose_texts_have_letters_of_hemispheres_are_coordinates(names: tuple[str, str]) -> None:
    found = entries(of_columns(**dict(zip(names, ("13.404954E", "52.370216N"), strict=True))))
    assert found["latitude"] == f'{{ from = "{names[1]}", point = "degrees" }}  # found by its values'
    assert found["longitude"] == f'{{ from = "{names[0]}", point = "degrees" }}  # found by its values'


@pytest.mark.parametrize(
    ("location", "entry"),
    [
        ({"type": "Point", "coordinates": [10.75, 59.91]}, ("location.coordinates", "lon lat")),
        ([10.75, 59.91], ("location", "lon lat")),
        ([59.91, 110.75], ("location", "lat lon")),
        ("59.91,10.75", ("location", "lat lon")),
        ("POINT (10.75 59.91)", ("location", "lon lat")),
    ],
)
def test_points_of_databases_are_read_from_json(location: object, entry: tuple[str, str]) -> None:
    file = nested([{**RECORD, "location": location, "sizes": [1, 2]}, {**RECORD, "store_id": "s2"}])
    text = proposed(file, "x.json")
    column, notation = entry
    assert entries(text)["longitude"] == f'{{ from = "{column}", point = "{notation}" }}'
    first, second = compiled(text, file).stores
    assert (first["latitude"], first["longitude"][-5:], second["latitude"]) == ("59.91", "10.75", None)
    assert entries(text)["sizes"] == '{ from = "sizes", kind = "list", invalid = "null" }'


def test_identifiers_and_dates_of_mongodb_are_known_by_their_members() -> None:
    record = {**RECORD, "_id": {"$oid": "66f"}, "createdAt": {"$date": "2024-05-31T10:00:00Z"}}
    del record["store_id"]
    file = nested([record])
    (store,) = compiled(proposed(file, "x.json"), file).stores
    assert (store["store_id"], store["created_at"]) == ("66f", "2024-05-31T10:00:00Z")


@pytest.mark.parametrize(
    ("column", "text", "field", "expected"),
    [
        ("created", "1717149600", "created_at", "2024-05-31T10:00:00Z"),
        ("updated_at", "1717149600000", "updated_at", "2024-05-31T10:00:00Z"),
        ("closed_at", "1117149600", "is_open", False),
        ("closed_at", "3917149600", "is_open", True),
    ],
)
def test_times_since_1970_are_proposed_for_times(column: str, text: str, field: str, expected: object) -> None:
    (store,) = compiled(of_columns(**{column: text}), Records([*RECORD, column], [{**RECORD, column: text}])).stores
    assert store[field] == expected


@pytest.mark.parametrize(
    ("cells", "repairs"),
    [
        ({"zip": "'02108"}, ["apostrophe"]),
        ({"note": "'02108"}, ["apostrophe"]),
        ({"name": "'76"}, []),
        ({"zip": "Route d'66"}, []),
        ({"name": "A &amp; B", "phone": "\u2019030 1", "note": "a\u200b"}, ["entities", "invisible", "apostrophe"]),
    ],
)
def test_repairs_are_proposed_where_the_records_need_them(cells: dict[str, str], repairs: list[str]) -> None:
    found = entries(of_columns(**cells)).get("repair", "[]").partition("  #")[0]
    assert json.loads(found) == repairs


YES_AND_NO = '{{ from = "{}", values = {{ "{}" = true, "{}" = false }} }}'.format
# A promise -> the cells of columns, and the entries of fields that they get.
OF_COLUMNS: dict[str, tuple[dict[str, str], dict[str, str | None]]] = {
    "a column with both coordinates is not used if other columns have them": (
        {"lat": "43.65", "lng": "-79.40", "Position": "43.65, -79.40"},
        {"latitude": '"lat"', "longitude": '"lng"'},
    ),
    "a column with both may be called like one": (
        {"latitude": "43.65, -79.40"},
        {"longitude": '{ from = "latitude", point = "lat lon" }'},
    ),
    "the first column with both is used": (
        {"Standort": "43.65, -79.40", "GPS": "43.65, -79.40"},
        {"longitude": '{ from = "Standort", point = "lat lon" }'},
    ),
    "a city with numbers is not split if another column has the postal code": (
        {"city": "10119 Berlin", "PLZ": "10119"},
        {"postal_code": '"PLZ"', "city": '"city"'},
    ),
    "remarks in names of columns do not matter": (
        {"Geöffnet (Ja/Nein)": "Ja|Nein"},
        {"is_open": YES_AND_NO("Geöffnet (Ja/Nein)", "Ja", "Nein")},
    ),
    "words of the data format for yes and no need no table": ({"is_open": "yes|no|1"}, {"is_open": '"is_open"'}),
    "words for yes and no get a table": ({"is_open": "ja|Nein|ja"}, {"is_open": YES_AND_NO("is_open", "ja", "Nein")}),
    "each spelling is in the table": ({"is_open": "Oui|non"}, {"is_open": YES_AND_NO("is_open", "Oui", "non")}),
    "a word beside a known one is the opposite": (
        {"is_open": "geöffnet|zu"},
        {"is_open": YES_AND_NO("is_open", "geöffnet", "zu") + '  # "zu" seems to be the opposite'},
    ),
    "texts for no value are no flags": ({"is_open": "k.A.|-|"}, {"is_open": None}),
    "a column that says what is open is found by its values": (
        {"Parking": "yes|no", "Zustand": "offen|geschlossen", "Later": "open"},
        {"is_open": YES_AND_NO("Zustand", "offen", "geschlossen") + "  # found by its values"},
    ),
    "codes of states are provinces": ({"St": "NY|CA"}, {"province": '"St"  # found by its values'}),
    "a number in a table is that of no house": ({"Number": "5"}, {"address_1": '"address_1"'}),
    "not all of these are codes of states": ({"ST": "NY|zu"}, {"province": None}),
    "a column named for provinces is preferred": ({"ST": "NY|CA", "State": "x|y"}, {"province": '"State"'}),
    "yes and no alone do not say what is open": ({"Parking": "yes|no"}, {"is_open": None}),
    "months are their first days": (
        {"created_at": "05-2024|12-2023"},
        {"created_at": '{ from = "created_at", date = "mm-yyyy" }  # the first day of the month or year'},
    ),
    "numbers like times since 1970 are dates in columns named like times only": (
        {"timestamp": "1717149600", "visits": "1717149600"},
        {
            "timestamp": '{ from = "timestamp", kind = "date", date = "unix", invalid = "null" }',
            "visits": '{ from = "visits", kind = "number", invalid = "null" }',
        },
    ),
    "the decimal separator is that of most numbers": (
        {"latitude": "43,6532|43.7|43.8", "longitude": "-79,3832|1,2345|1"},
        {"decimal": '","  # record 2 has "43.7"'},
    ),
    "decimal commas among as many points are a comment": (
        {"latitude": "43.7|43,6532|43.8", "longitude": "1|2,5|1"},
        {"decimal": '","  # record 2 has "43,6532"', "latitude": '"latitude"'},
    ),
    "dates of the data format need no declaration": (
        {"created_at": "2024-05-31|2024-05-31T10:00:00Z"},
        {"created_at": '"created_at"'},
    ),
}


@pytest.mark.parametrize(("cells", "expected"), OF_COLUMNS.values(), ids=OF_COLUMNS)
def test_columns_get_the_entries_of_their_fields(cells: dict[str, str], expected: dict[str, str | None]) -> None:
    found = entries(of_columns(**cells))
    assert {field: found.get(field) for field in expected} == expected


@pytest.mark.parametrize(
    ("column", "texts", "separator"),
    [
        ("Ort", "10119 Berlin|61348 Bad Homburg", " "),
        ("PLZ Ort", "D-10119 Berlin", " "),
        ("Code postal / Ville", "75002, Paris", ","),
        ("PLZ", "1012AB Amsterdam", " "),
        ("Town", "1012 AB Amsterdam", None),
        ("Ort", "Berlin", None),
        ("Ort", "10119 Berlin|Ulm", None),
        ("Straat", "1012 Elm", None),
        ("PLZ Name", "10119 Berlin", None),
    ],
)
def test_a_column_with_postal_code_and_city_is_split(column: str, texts: str, separator: str | None) -> None:
    record = {key: value for key, value in RECORD.items() if key != "city"}
    cells: list[dict[str, Cell]] = [{**record, column: each} for each in texts.split("|")]
    found = entries(propose_mapping(Records([*record, column], cells), "a.csv"))
    expected = f'{{ from = "{column}", split = "{separator}", part = '
    assert (found.get("postal_code") == f"{expected}1 }}") == (separator is not None)
    assert (found["city"] == f"{expected}2 }}") == (separator is not None)


def test_what_values_of_a_flag_mean_is_asked_if_it_is_not_known() -> None:
    text = of_columns(is_open="A|B|A")
    assert (
        '# Which value of "is_open" means yes? Keep one of these lines:\n'
        '# is_open = { from = "is_open", values = { "A" = true, "B" = false } }\n'
        '# is_open = { from = "is_open", values = { "A" = false, "B" = true } }\n'
    ) in text
    text = of_columns(Open="9-17|10-18|9-12")
    assert '# "Open" looks like is_open, but its values (such as "9-17") are not yes or no.\n' in text


@pytest.mark.parametrize(
    ("texts", "entry"),
    [
        ("x||x", '{ from = "is_open", values = { "x" = true }, default = false }'),
        ("yes||", '{ from = "is_open", default = false }'),
        ("yes|no|", None),
        ("geschlossen||", None),
        ("x|x|x", None),
    ],
)
def test_records_without_a_word_may_be_closed_if_only_yes_is_written(texts: str, entry: str | None) -> None:
    text = of_columns(is_open=texts)
    assert ("If they are closed, use this line instead:\n" in text) == (entry is not None)
    if entry is not None:
        blank = texts.split("|").count("")
        assert f'# "is_open" has no value in {blank} of the first 3 records, and never says no. These' in text
        assert f"\n# is_open = {entry}\nis_open = " in text
        parse_mapping(text.replace("\nis_open = ", "\n# ").replace("# is_open = ", "is_open = ").encode())


@pytest.mark.parametrize(
    ("texts", "formats"),
    [
        ("31.05.2024|05.06.2024", '"dd.mm.yyyy"'),
        ("31.5.2024|5.12.2024", '"d.m.yyyy"'),
        ("31. 5. 2024", '"dd. m. yyyy"'),
        ("31/05/2024", '"dd/mm/yyyy"'),
        ("05/31/2024|01/02/2024", '"mm/dd/yyyy"'),
        ("31-05-99", '"dd-mm-yy"'),
        ("2024/05/31", '"yyyy/mm/dd"'),
        ("5/31/2024 1:05 PM|12/1/2024 12:59 am", '"m/d/yyyy h:mm am/pm"'),
        ("05/31/2024 01:05:59PM", '"mm/dd/yyyy hh:mm:ssam/pm"'),
        ("31.05.2024, 23:59", '"dd.mm.yyyy, hh:mm"'),
        ("31.05.2024|01.06.2024 08:30", '["dd.mm.yyyy", "dd.mm.yyyy hh:mm"]'),
        ("31.05.2024|2024-06-01T08:30:00Z", '["dd.mm.yyyy", "rfc3339"]'),
    ],
)
def test_a_format_of_dates_is_proposed_if_the_records_prove_it(texts: str, formats: str) -> None:
    text = of_columns(created_at=texts)
    assert entries(text)["created_at"] == f'{{ from = "created_at", date = {formats} }}'
    assert '# time_zone = "UTC"' in text
    assert [each.code for each in compiled(text, records(created_at=texts)).diagnostics if each.code == "date"] == []


@pytest.mark.parametrize(
    ("texts", "formats"),
    [
        ("05.06.2024", ["dd.mm.yyyy", "mm.dd.yyyy"]),
        ("05/06/2024|12/12/2024", ["dd/mm/yyyy", "mm/dd/yyyy"]),
        ("31.05.24", ["dd.mm.yy", "yy.mm.dd"]),
        ("05.06.24", ["dd.mm.yy", "mm.dd.yy", "yy.mm.dd"]),
    ],
)
def test_ambiguous_dates_are_asked_for(texts: str, formats: list[str]) -> None:
    text = of_columns(created_at=texts)
    lines = [f'# created_at = {{ from = "created_at", date = "{each}" }}' for each in formats]
    first = texts.partition("|")[0]
    question = f'# Which format is "{first}" in? The first records do not show it.'
    assert "\n".join([f"{question} Keep one of these lines:", *lines, ""]) in text
    assert "time_zone" not in text


SEVERAL_FORMATS = '["dd.mm.yyyy", "dd.mm.yyyy, hh:mm", "rfc3339"]'


@pytest.mark.parametrize(
    ("texts", "other", "formats"),
    [
        ("05.06.2024", "31.12.2023", '"dd.mm.yyyy"'),
        ("05/06/2024 10:30", "12/31/2023|01/02/2023", '"mm/dd/yyyy hh:mm"'),
        ("05.06.2024|2024-01-01|05.06.2024, 10:00", "31.12.2023 23:00", SEVERAL_FORMATS),
        ("05.06.2024", "31/12/2023", None),
        ("05.06.2024", "31.12.23", None),
        ("05.06.2024", "31. 12. 2023", None),
        ("05.06.2024", "05.07.2024", None),
        ("05.06.2024", "31.12.2023|soon", None),
        ("05.06.2024|soon", "31.12.2023", '"dd.mm.yyyy"'),
    ],
)
def test_the_format_that_another_column_proves_decides(texts: str, other: str, formats: str | None) -> None:
    text = of_columns(created_at=texts, Inventory=other)
    proven = formats and f'{{ from = "created_at", date = {formats} }}  # as "Inventory" proves'
    assert entries(text)["created_at"] == proven or formats is None
    assert ("Which format is" in text) == (formats is None)
    assert ('"soon" in "created_at" matches no date format' in text) == ("soon" in texts)


def test_columns_that_prove_different_formats_decide_nothing() -> None:
    text = of_columns(created_at="05.06.2024", updated_at="31.12.2023", Inventory="12.31.2023")
    assert 'Which format is "05.06.2024" in?' in text
    assert entries(text)["updated_at"] == '{ from = "updated_at", date = "dd.mm.yyyy" }'


@pytest.mark.parametrize(
    "text", ["31.02.2024", "31.05.2024 24:00", "1.2.345", "2024.05.31.1", "soon", "41000", "13-2024"]
)
@pytest.mark.parametrize(
    ("others", "value"),
    [("", None), ("31.12.2024|", '{ from = "created_at", date = "dd.mm.yyyy" }'), ("2024-12-31|", '"created_at"')],
)
def test_texts_in_no_format_of_dates_are_reported(others: str, text: str, value: str | None) -> None:
    found = of_columns(created_at=others + text)
    hint = "; if it means that there is no value, add it to no_value" if others else ""
    assert f'# "{text}" in "created_at" matches no date format{hint}.\n' in found
    assert entries(found).get("created_at") == value


def test_dates_that_contradict_each_other_are_reported() -> None:
    text = of_columns(created_at="31.05.2024|05/31/2024|05.31.2024")
    assert '# The dates in "created_at" have several formats, which contradict each other.\n' in text
    assert "\ncreated_at = " not in text


def test_missing_required_fields_are_to_be_filled_in() -> None:
    file = table("Ort,Straße,Code A,Code B,Land\nUlm,x,1,2,DE\nUlm,y,3,2,DE")
    text = propose_mapping(file, "läden.2024.csv.gz")
    assert text.endswith(
        """\
[stores.fields]
store_id = "Straße"  # no column is named like an identifier of stores; this is distinct in all records
company_id = { constant = "läden" }  # no column names the company: fill in its name
address_1 = "Straße"
city = "Ort"
country = "Land"

[companies]
from = "stores"

[stores.attributes]
# The columns that are left: to serve one, delete the # of its line.
# code_a = { from = "Code A", invalid = "null" }
# code_b = { from = "Code B", invalid = "null" }
"""
    )
    loaded = compiled(text, file)
    assert [(each["store_id"], each["company_id"]) for each in loaded.stores] == [("x", "läden"), ("y", "läden")]


def test_records_without_a_required_value_are_counted() -> None:
    file = Records(list(RECORD), [RECORD, {**RECORD, "city": " "}, {**RECORD, "city": None}])
    assert (
        "# city is required, but missing in 2 of the first 3 records."
        " Leave them out with `serve --invalid skip`, or use this line and fill in a default:\n"
        '# city = { from = "city", default = "" }\n'
        'city = "city"\n'
    ) in proposed(file)
    file = Records(list(RECORD), [RECORD, {**RECORD, "store_id": None}])
    assert (
        "# store_id is required, but missing in 1 of the first 2 records."
        ' Complete them, or leave them out with `serve --invalid skip`.\nstore_id = "store_id"\n'
    ) in proposed(file)


def completed(text: str, values: Mapping[str, str]) -> str:
    """Return a proposal with the lines in use that give records without a value a default."""
    lines = text.splitlines()
    for field, value in values.items():
        (line,) = (each for each in lines if each.startswith(f"# {field} = ") and each.endswith('default = "" }'))
        lines = [each for each in lines if not each.startswith(f"{field} = ")]
        lines[lines.index(line)] = line.removeprefix("# ").replace('""', f'"{value}"')
    return "\n".join(lines)


def test_the_line_with_a_default_is_right_once_it_is_filled_in() -> None:
    shop = {"@id": "node/1", "shop": "x", "name": "Ei", "addr:housenumber": "1", "addr:street": "A"}
    place = {"@id": "node/2", "shop": "x", "brand": "Ei", "addr:city": "Ulm", "addr:country": "DE"}
    file = features(shop, place)
    text = proposed(file)
    assert '\n# address_1 = { join = ["addr:housenumber", "addr:street"], default = "" }\n' in text
    loaded = compiled(completed(text, {"address_1": "?", "city": "Bonn", "country": "AT"}), file)
    assert loaded.diagnostics == []
    found = [(each["address_1"], each["city"], each["country"]) for each in loaded.stores]
    assert found == [("1 A", "Bonn", "AT"), ("?", "Ulm", "DE")]


def test_a_preset_gets_the_options_that_the_file_needs() -> None:
    header = "Store code;Business name;Address line 1;Address line 2;Locality;Country / Region;Latitude;Longitude"
    rows = ["1;Lark;Am Hang 1;-;Ulm;DE;48,3984;9,9916", "2;Lark;Am Hang 2;Hof;Ulm;DE;48,4;10"]
    file = semicolons("\n".join([header, *rows]))
    text = proposed(file, "locations.csv")
    assert text.endswith('\npreset = "google-business-profile"\n\n[stores]\ndecimal = ","\nno_value = ["-"]\n')
    loaded = compiled(text, file)
    assert loaded.diagnostics == []
    assert [(each["latitude"], each["address_2"]) for each in loaded.stores] == [("48.3984", None), ("48.4", "Hof")]


def test_a_preset_gets_the_format_of_other_dates() -> None:
    shop = {"@id": "node/1", "shop": "x", "name": "Ei", "addr:full": "A", "addr:city": "Ulm", "addr:country": "DE"}
    file = features({**shop, "@timestamp": "2024/05/31 10:00:00"})
    text = proposed(file)
    assert '\nupdated_at = { from = "@timestamp", date = "yyyy/mm/dd hh:mm:ss" }\n' in text
    assert "\n# time_zone = " in text
    assert [each["updated_at"] for each in compiled(text, file).stores] == ["2024-05-31T10:00:00Z"]


def test_companies_of_their_own_file_are_not_derived() -> None:
    names = [name for name in RECORD if name != "company_id"]
    text = propose_mapping(Records(names, [RECORD]), "stores.csv", derives_companies=False)
    assert "[companies]" not in text
    assert entries(text)["company_id"] == '{ constant = "" }  # required: fill in'


def test_another_column_names_the_companies() -> None:
    text = of_columns(company_name="Acme", other="x")
    assert '[companies]\nfrom = "stores"\n\n[companies.fields]\nname = "company_name"\n\n[stores.attributes]' in text
    assert "company_name" not in text.partition("[stores.attributes]")[2]
    file = Records([*RECORD, "company_name"], [{**RECORD, "company_name": "Acme"}])
    assert [(each["company_id"], each["name"]) for each in compiled(text, file).companies] == [("c1", "Acme")]


def test_a_header_without_records_is_mapped_by_its_names() -> None:
    text = propose_mapping(semicolons("Filial-Nr;Straße;Ort;Land;Eröffnet"), "a.csv")
    found = entries(text)
    assert "its first 0 records" in text
    assert (found["store_id"], found["created_at"]) == ('"Filial-Nr"', '"Eröffnet"')


def test_nothing_at_all_is_still_a_proposal() -> None:
    text = propose_mapping(nested([]), "...json")
    assert 'company_id = { constant = "company" }' in text
    assert text.count('constant = ""') == 4


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "\x7f", "\u202e", "\x1b[2J", "ä", "#", "a = b"])
def test_any_name_and_value_is_written_as_toml_that_is_printable(name: str) -> None:
    record = {**RECORD, f"city{name}": "x", "is_open": f"zu{name}"}
    del record["city"]
    file = Records(list(record), [record, {**record, "is_open": "yes"}])
    text = propose_mapping(file, f"{name}.csv").replace('constant = ""', 'constant = "x"')
    assert all(line.isprintable() for line in text.splitlines())
    parse_mapping(text.encode())


def test_a_file_name_that_is_not_utf_8_is_replaced() -> None:
    text = propose_mapping(Records(["a"], [{"a": "x"}]), "\udcff.csv")
    assert '{ constant = "?" }' in text


class Asked(Records):
    """Records that remember of which columns they were read."""

    asked: Sequence[str] = ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        self.asked = columns
        return super().batches(columns, also)


def test_the_work_for_a_wide_header_is_bounded() -> None:
    names = [f"column {number}" for number in range(MAX_COLUMNS + 10)]
    file = Asked(["x" * 300, *names, "city"], [dict.fromkeys(names, "y")])
    text = propose_mapping(file, "wide.csv")
    assert file.asked == names[:MAX_COLUMNS]
    assert text.endswith(f"\n# Only the first {MAX_COLUMNS:,} columns were read.\n")
    assert text.count('"column ') == MAX_COLUMNS
