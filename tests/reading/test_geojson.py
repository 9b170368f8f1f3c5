"""GeoJSON, Overpass JSON and well-known binary: features and elements become records, with where they are."""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from service.model.records import COMPANIES, STORES
from service.reading.batch import Cell, RecordFile, WrongType
from service.reading.diagnostics import FileError
from service.reading.files.records import format_of, open_file
from service.reading.formats.file_format import FORMATS
from service.reading.formats.geojson import OverpassFile, open_geojson
from service.reading.formats.geometry import locate
from service.reading.proposal.proposal import propose_mapping
from tests.loading.data_files import STORE_FIELDS, Record, as_csv, as_json, dataset, load_stores, refusal, rows, store

POINT = {"type": "Point", "coordinates": [-79.4, 43.7]}
POINTS = {"type": "GeometryCollection", "geometries": [POINT, POINT]}
COLUMNS = [name for name in STORE_FIELDS if name not in {"latitude", "longitude"}]
RECORDS = [
    store("s1", latitude="43.70", longitude="-79.40", name="Été", created_at="2024-05-31"),
    store("s2", is_open=False),
    store("s3", latitude="-0.0", longitude="1E1", postal_code="M5V"),
]


def feature(properties: object = None, geometry: object = None, **members: object) -> Record:
    return {"type": "Feature", "properties": properties, "geometry": geometry, **members}


def twin(record: Record) -> bytes:
    """Return a store as a feature, its coordinates in their digits."""
    properties = {name: value for name, value in record.items() if name in COLUMNS}
    place = b"null"
    if "latitude" in record:
        position = f"[{record['longitude']}, {record['latitude']}, 12.5]"
        place = b'{"type": "Point", "coordinates": %b}' % position.encode()
    return as_json(feature(properties)).replace(b'"geometry": null', b'"geometry": ' + place)


def collection(features: Sequence[bytes], more: bytes = b"") -> bytes:
    return b'{"type": "FeatureCollection",%b "features": [\n%b\n]}\n' % (more, b",\n".join(features))


def opened(*features: object) -> RecordFile:
    return open_geojson(collection([as_json(each) for each in features]))


def cells(geometry: object) -> tuple[object, object]:
    (batch,) = opened(feature({}, geometry)).batches(["geometry.latitude", "geometry.longitude"])
    ((latitude,), (longitude,)) = (batch.columns[f"geometry.{name}"] for name in ("latitude", "longitude"))
    return latitude, longitude


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("stores.geojson", collection([twin(each) for each in RECORDS])),
        ("stores.geojson", collection([twin(each) for each in RECORDS], b' "crs": null,').replace(b"\n", b" ")),
        ("stores.geojson", b"\xef\xbb\xbf" + collection([twin(each).replace(b": ", b":\n") for each in RECORDS])),
        ("stores.json", b"\xef\xbb\xbf\r\n" + collection([twin(each) for each in RECORDS]).replace(b"{", b"{\n ")),
        ("stores.geojsonl", b"".join(twin(each) + b"\n" for each in RECORDS)),
        ("stores.ndgeojson", b"".join(twin(each) + b"\r\n\n" for each in RECORDS)),
        ("stores.geojsons", b"".join(b"\x1e" + twin(each).replace(b", ", b",\n") + b"\n" for each in RECORDS)),
    ],
)
def test_geojson_gives_the_rows_of_its_twin_in_csv(tmp_path: Path, name: str, content: bytes) -> None:
    expected = load_stores(tmp_path, as_csv(RECORDS))
    loaded = load_stores(tmp_path, content, name)
    assert (loaded.report.errors, loaded.report.warnings) == ([], [])
    assert rows(loaded) == rows(expected)
    assert dataset(loaded).version == dataset(expected).version


def test_the_columns_are_properties_by_path_then_the_identifier_and_the_place() -> None:
    properties = {"a": 1, "b": {"c": None, "d": {}}, "e": [{"f": 1}, {"g": 1}], "h.i": 0, "x": []}
    assert opened(feature(properties), feature({"z": 1}), feature(), feature(None)).names == [
        *("a", "b.c", "b.d", "e.0.f", "h.i", "x", "z"),
        *("feature.id", "geometry.latitude", "geometry.longitude"),
    ]


def test_cells_are_as_they_are_written() -> None:
    properties = {"n": 1, "t": "\u00e9\n", "f": False, "o": {"a": [1, 2]}, "no": None}
    text = collection([as_json(feature(properties, id=7)).replace(b"1", b"1.50e0", 1)])
    columns = ["n", "t", "f", "o", "no", "o.a.1", "o.a.2", "o.a", "n.a", "none", "feature.id"]
    (batch,) = open_geojson(text).batches(columns)
    wrong = WrongType('{"a": [1, 2]}'), WrongType("[1, 2]")
    expected = ["1.50e0", "\u00e9\n", False, wrong[0], None, "2", None, wrong[1], None, None, "7"]
    assert [batch.columns[name][0] for name in columns] == expected


@pytest.mark.parametrize(
    ("geometry", "latitude", "longitude"),
    [
        (None, None, None),
        (POINT, "43.7", "-79.4"),
        ({"coordinates": [-79.4, 43.7, 100, 5], "type": "Point"}, "43.7", "-79.4"),
        ({"type": "Point", "coordinates": []}, None, None),
        ({"type": "Point", "bbox": [0, 0, 0, 0], "coordinates": [1, 2]}, "2", "1"),
        ({"type": "MultiPoint", "coordinates": [[1, 2], [3, 8], [2, 3, 9]]}, "5.0", "2.0"),
        ({"type": "MultiPoint", "coordinates": []}, None, None),
        ({"type": "LineString", "coordinates": [[0.1, 0.2], [0.2, 0.4]]}, "0.3", "0.15"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 2], [0, 0]], [[1, 1], [2, 1]]]}, "1.0", "2.0"),
        ({"type": "MultiLineString", "coordinates": [[[0, 0]], [[2, 2]]]}, "1.0", "1.0"),
        ({"type": "MultiPolygon", "coordinates": [[[[0, 0]]], [[[2, 2]]]]}, "1.0", "1.0"),
        ({"type": "GeometryCollection", "geometries": [POINT]}, "43.7", "-79.4"),
        ({"type": "GeometryCollection", "geometries": []}, None, None),
        ({"type": "GeometryCollection", "geometries": [POINTS, POINTS]}, "43.7", "-79.4"),
    ],
)
def test_a_geometry_is_at_the_centre_of_its_box(geometry: object, latitude: str | None, longitude: str | None) -> None:
    assert cells(geometry) == (latitude, longitude)


@pytest.mark.parametrize(
    ("longitudes", "centre"),
    [([179, -179], "180.0"), ([178, 180, -180, -179], "179.5"), ([179, -177], "-179.0"), ([-90, 90], "0.0")],
)
def test_a_box_wider_than_half_the_earth_is_across_the_antimeridian(longitudes: list[int], centre: str) -> None:
    shapes = [[[[longitude, 1], [longitude, 3]]] for longitude in longitudes]
    assert cells({"type": "MultiPolygon", "coordinates": shapes}) == ("2.0", centre)


@pytest.mark.parametrize(
    "geometry",
    [
        *(5, {}, {"type": "Point"}, {"type": "Circle", "coordinates": [1, 2]}),
        *({"type": "Point", "coordinates": each} for each in ([1], ["1", "2"], [[1, 2]], {"x": 1})),
        {"type": "Polygon", "coordinates": [[1, 2]]},
        *({"type": "MultiPoint", "coordinates": each} for each in ([[1]], [[200, 1], [0, 1]])),
        {"type": "GeometryCollection", "geometries": [POINT, {"type": "Point", "coordinates": "x"}]},
    ],
)
def test_wrong_coordinates_are_a_wrong_type_as_written(geometry: object) -> None:
    wrong = WrongType(json.dumps(geometry))
    assert cells(geometry) == (wrong, wrong)


def test_wrong_coordinates_and_flags_are_reported_with_line_and_record(tmp_path: Path) -> None:
    wrong = as_json(feature(store("s2"), {"type": "Point"}))
    features = [twin(store(city=True)), wrong, twin(store("s3", is_open=True))]
    errors = load_stores(tmp_path, collection(features), "stores.geojson").report.errors
    why = 'expected a string or a number: {"type": "Point"}'
    assert list(map(str, errors)) == [
        "stores.geojson:2: record 1: city: expected a string: true",
        *(f"stores.geojson:3: record 2: {name}: {why}" for name in ("latitude", "longitude")),
    ]


def test_a_value_that_is_no_feature_is_an_invalid_record(tmp_path: Path) -> None:
    values: list[object] = [5, None, [], {}, {"type": "feature"}, POINT, {"type": "Feature", "properties": 5}]
    lines = [as_json(feature(store("s1"))), *map(as_json, values), as_json(feature(store("s3")))]
    for name, content in [("stores.geojson", collection(lines)), ("stores.geojsonl", b"\n".join([*lines, b""]))]:
        loaded = load_stores(tmp_path, content, name)
        why = [(number, "expected a GeoJSON feature") for number in range(2, 2 + len(values))]
        assert [(each.record, each.why) for each in loaded.report.errors] == why
        assert len(rows(loaded)) == 2


def test_properties_that_are_no_fields_are_warned_about_with_their_first_line(tmp_path: Path) -> None:
    features = [as_json(feature(store("s1"))), as_json(feature(store("s2", zip="1", tags={"a": 1, "b": 2}), id=5))]
    loaded = load_stores(tmp_path, collection(features), "stores.geojson")
    ignored = "not a field, so it is ignored (1 record)"
    found = [(each.line, each.field, each.why) for each in loaded.report.warnings]
    assert found == [(3, "zip", f"{ignored}; did you mean postal_code?"), (3, "tags", ignored)]


@pytest.mark.parametrize(
    ("crs", "known"),
    [
        *(({"properties": {"name": f"urn:ogc:def:crs:{name}"}}, "") for name in ("OGC:1.3:CRS84", "EPSG::4326")),
        *(({"properties": {"name": name}}, "") for name in ("EPSG:4326", "urn:ogc:def:crs:OGC::CRS84")),
        *(({"properties": {"name": name}}, repr(name)) for name in ("EPSG:3857", "EPSG:43260")),
        ({"type": "link", "properties": {"href": "x"}}, "not known"),
    ],
)
def test_a_reference_system_other_than_longitude_and_latitude_of_wgs_84_is_refused(crs: object, known: str) -> None:
    text = collection([], b' "crs": %b,' % as_json(crs))
    if not known:
        assert open_geojson(text).names == ["feature.id", "geometry.latitude", "geometry.longitude"]
        return
    with pytest.raises(FileError) as refused:
        open_geojson(text)
    expected = "expected longitude and latitude of WGS 84, as `ogr2ogr -t_srs EPSG:4326` writes"
    assert refused.value.why == f"the coordinate reference system is {known}: {expected}"


NESTED = b'{"type": "GeometryCollection", "geometries": [' * 5000


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[]", "expected a GeoJSON feature collection"),
        (b"{}", "expected a GeoJSON feature collection"),
        (as_json(feature()), "expected a GeoJSON feature collection"),
        (b'{"type": "FeatureCollection"}', 'the object has no array under "features"'),
        (b'{"type": "FeatureCollection", "features": [', "not valid JSON: truncated, or a lone surrogate"),
        (b'{"type": "FeatureCollection", "features": [{"a": 1}, {"b": tru}]}', "in record 2, at 'b'"),
        (as_json(feature()) + b"\n" + as_json(feature()), "newline-delimited, and its name must end in .geojsonl"),
        (b'{"type": "FeatureCollection", "features": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply"),
        (b'{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": ' + NESTED, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_feature_collection_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    assert why in refusal(load_stores(tmp_path, content, "stores.geojson")).why


def test_a_line_that_is_not_json_is_refused_with_its_number(tmp_path: Path) -> None:
    for mark in (b"", b"\x1e"):
        content = mark + as_json(feature(store())) + b"\n" + mark + b'{"type": "Feature", "properties": {"a": }}\n'
        found = refusal(load_stores(tmp_path, content, "stores.geojsonl"))
        assert found.line == 2
        assert found.why.endswith(", at 'properties'")
        found = refusal(load_stores(tmp_path, mark + b'\n{"type": "Feature", "properties"', "stores.geojsonl"))
        assert (found.line, found.why[:14]) == (1 if mark else 2, "not valid JSON")


def test_the_lines_of_a_text_sequence_are_opened_once_for_all_columns() -> None:
    text = b"\x1e{}\n\x1e\n\x1e" + as_json(feature({"a": 1})) + b"\n"
    file = open_file(text, FORMATS["geojsonl"])
    for _ in range(2):
        (batch,) = file.batches(["a"])
        assert (batch.columns["a"], batch.numbers, batch.lines()) == (["1"], [2], [3])


TAGS = {"shop": "kiosk", "name": "Ei", "addr:full": "A 1", "addr:city": "Ulm", "addr:country": "DE"}
WAY = {"type": "way", "id": 7, "nodes": [1, 2], "tags": TAGS}
CENTRE = {"center": {"lat": 48.50, "lon": 9.5}}
OWN = ["@id", "@timestamp", "geometry.latitude", "geometry.longitude"]


def overpass(*elements: object) -> bytes:
    return as_json({"version": 0.6, "osm3s": {"copyright": "x"}, "elements": elements})


def element_cells(element: object) -> Mapping[str, Cell]:
    """Return the element_cells of an element behind a node, which has the line of the second one."""
    file = OverpassFile(overpass({"type": "node", "id": 1}, element).replace(b"}, {", b"},\n{"))
    columns = [*file.names, "absent"]
    (batch,) = file.batches(columns)
    assert (batch.lines()[-1], list(batch.columns), batch.unused) == (len(batch.lines()), columns, ())
    return {name: column[-1] for name, column in batch.columns.items()}


def test_an_element_has_its_tags_identifier_and_time() -> None:
    tags, time = {"type": "x", "a.b": "y"}, "2024-03-09T11:20:00Z"
    found = element_cells({"type": "relation", "id": 12, "timestamp": time, "tags": tags})
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
def test_an_element_is_at_its_point_or_its_centre(members: dict[str, Any], latitude: Cell, longitude: Cell) -> None:
    found = element_cells({"type": "way", "id": 7, **members})
    assert (found["geometry.latitude"], found["geometry.longitude"]) == (latitude, longitude)


def test_an_element_without_an_identifier_has_none() -> None:
    for element in ({}, {"type": "way"}, {"id": 1}, {"type": 5, "id": [1]}):
        assert element_cells(element)["@id"] is None


def test_ways_without_a_location_are_reported_with_what_to_query() -> None:
    why = ["ways and relations have no location: query with `out center`"]
    node = {"type": "node", "id": 1, "lat": 48.5, "lon": 9.5, "tags": TAGS}
    relation = {"type": "relation", "id": 1, "members": [{"type": "way", "ref": 7}]}
    for elements, assumed in (([node], []), ([node, WAY], why), ([relation], why), ([node, WAY | CENTRE], [])):
        assert OverpassFile(overpass(*elements)).assumed == assumed


def test_a_file_of_elements_is_proposed_as_openstreetmap() -> None:
    text = overpass(WAY | CENTRE, {"type": "node", "id": 8, "lat": 48.5, "lon": 9.5, "tags": TAGS | {"name": "Zwei"}})
    opened = open_file(text, format_of(text, FORMATS["json"], STORES))
    assert 'preset = "openstreetmap"\n' in propose_mapping(opened, "export.json")


def test_only_json_may_be_overpass_json_and_other_json_is_none() -> None:
    own_array = {"stores": [], "elements": [{"type": "node", "id": 1}]}
    values: list[object] = [{"elements": [{"store_id": "s1"}]}, {"elements": []}, [{"type": "shop"}], own_array]
    for value in values:
        assert format_of(as_json(value), FORMATS["json"], STORES) is FORMATS["json"]
    assert format_of(collection([]).replace(b"{", b'{"stores": [],', 1), FORMATS["json"], STORES) is FORMATS["json"]
    text = overpass(WAY)
    assert format_of(text, FORMATS["csv"], STORES) is FORMATS["csv"]
    assert format_of(text, FORMATS["json"], COMPANIES) is not FORMATS["json"]


NAN = float("nan")


def shape(kind: int, *numbers: float, count: int | None = None, order: str = "<", srid: int | None = None) -> bytes:
    """Return a geometry: its type, its count if it has one, its coordinates."""
    header = struct.pack(f"{order}I", kind) + (b"" if srid is None else struct.pack(f"{order}I", srid))
    sized = b"" if count is None else struct.pack(f"{order}I", count)
    return bytes([order == "<"]) + header + sized + struct.pack(f"{order}{len(numbers)}d", *numbers)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("kind", "more"),
    [(1, ()), (1001, (5,)), (2001, (5,)), (3001, (1, 2)), (0x80000001, (5,)), (0x40000001, (5,)), (0xC0000001, (5, 6))],
)
def test_a_point_is_where_its_doubles_say_in_both_byte_orders_and_with_more_dimensions(
    kind: int, more: tuple[float, ...], order: str
) -> None:
    assert locate(shape(kind, -79.4, 43.7, *more, order=order)) == ("43.7", "-79.4")
    assert locate(shape(kind, 0.1 + 0.2, -0.0, *more, order=order)) == ("-0.0", "0.30000000000000004")
    assert locate(shape(kind, NAN, NAN, *more, order=order)) is None


def test_a_point_may_name_its_reference_system() -> None:
    for srid in (0, 4326):
        assert locate(shape(0x20000001, 1, 2, srid=srid)) == ("2.0", "1.0")
        assert locate(shape(0xA0000001, 1, 2, 3, srid=srid)) == ("2.0", "1.0")


LINE = shape(2, 0, 0, 4, 2, count=2)
RINGS = shape(3, count=2) + struct.pack("<I4d", 2, 0, 0, 4, 2) + struct.pack("<I2d", 1, 1, 1)
MULTIPOINT = shape(4, count=2) + shape(1, 1, 2) + shape(1001, 3, 8, 1, order=">")


@pytest.mark.parametrize(
    ("wkb", "location"),
    [
        (LINE, ("1.0", "2.0")),
        (shape(2, count=0), None),
        (RINGS, ("1.0", "2.0")),
        (shape(3, count=0), None),
        (MULTIPOINT, ("5.0", "2.0")),
        (shape(4, count=2) + shape(1, NAN, NAN) + shape(1, 3, 4), ("4.0", "3.0")),
        (shape(5, count=1) + LINE, ("1.0", "2.0")),
        (shape(6, count=2) + RINGS + RINGS, ("1.0", "2.0")),
        (shape(7, count=2) + shape(7, count=0) + MULTIPOINT, ("5.0", "2.0")),
        (shape(7, count=1) * 100_000 + shape(7, count=0), None),
    ],
)
def test_another_geometry_is_at_the_centre_of_its_box(wkb: bytes, location: object) -> None:
    assert locate(wkb) == location


def test_a_truncated_geometry_or_one_with_more_bytes_is_refused() -> None:
    for whole in (shape(1, 1, 2), LINE, RINGS, MULTIPOINT, shape(0x20000001, 1, 2, srid=0)):
        for size in range(len(whole)):
            with pytest.raises(ValueError, match="truncated"):
                locate(whole[:size])
        with pytest.raises(ValueError, match="longer"):
            locate(whole + b"\0")


@pytest.mark.parametrize(
    "wkb",
    [
        *(shape(kind, 1, 2) for kind in (0, 8, 4001)),
        shape(0x20000001, 1, 2, srid=3857),
        *(shape(kind, *more, count=0xFFFFFFFF) for kind, more in ((2, (1, 2)), (3, ()), (7, ()))),
        shape(2, 1, float("inf"), count=1),
        *(b"\x02" + shape(1, 1, 2)[1:], b"POINT (1 2)"),
    ],
)
def test_what_is_no_geometry_is_refused(wkb: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        locate(wkb)
