"""GeoJSON (RFC 7946) as a file of records: a feature collection, or one feature per line.

The columns are the members of `properties` by path, the feature id and its coordinates.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, ClassVar, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError

from service.reading.batch import Batch, Cell, WrongType
from service.reading.diagnostics import FileError, Issue
from service.reading.formats.geometry import LATITUDE, LONGITUDE, Location, centre, check_reference
from service.reading.formats.json_file import JsonFile, RecordDecoder, column, paths_of
from service.reading.formats.json_text import JsonValue, array_values, file_error
from service.spool import FileBytes

FEATURE_ID: Final = "feature.id"
_OWN: Final = (FEATURE_ID, LATITUDE, LONGITUDE)
_NULL: Final = Raw(b"null")
_EXPECTED: Final = "expected a GeoJSON feature collection"
_LINES_HINT: Final = "; a file with one feature per line is newline-delimited, and its name must end in .geojsonl"
_POINTS: Final = msgspec.json.Decoder(list[Raw])
_DEPTHS: Final = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}
_SHAPES: Final = (list[float], list[list[float]], list[list[list[float]]], list[list[list[list[float]]]])
_POSITIONS: Final = tuple(map(msgspec.json.Decoder[Any], _SHAPES))  # by depth
COLLECTION: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"FeatureCollection"')  # as nearly all begin
_DIGITS: Final = "-0123456789"  # how a number begins
_POINT: Final = re.compile(  # as nearly all are written, without the last brace
    rb'\{\s*"type"\s*:\s*"Point"\s*,\s*"coordinates"\s*:\s*\[\s*([0-9.eE+-]+)\s*,\s*([0-9.eE+-]+)\s*[,\]][^"{\[]*'
)
# As the Overpass API writes it, or the array of elements alone.
ELEMENTS: Final = re.compile(
    rb'\s*(?:\{[^\[]*"elements"\s*:\s*)?\[\s*\{\s*"type"\s*:\s*"(?:node|way|relation)"\s*,\s*"id"\s*:\s*[0-9]'
)
_TAGS: Final = "tags."
_TIMESTAMP: Final = "timestamp"
_IDENTIFIER: Final = ("type", "id")
_NODE: Final = ("lat", "lon")
_CENTRE: Final = ("center.lat", "center.lon")
_BOUNDS: Final = ("bounds.minlon", "bounds.minlat", "bounds.maxlon", "bounds.maxlat")
_MEMBERS: Final = (_TIMESTAMP, *_IDENTIFIER, *_NODE, *_CENTRE, *_BOUNDS)
_OWN_MEMBERS: Final = ("@id", f"@{_TIMESTAMP}", LATITUDE, LONGITUDE)
_PARTS: Final = frozenset({"nodes.0", "members.0.ref"})  # of ways, of relations


class _Feature(msgspec.Struct, gc=False):
    type: str = ""
    id: Raw = _NULL
    properties: Raw = _NULL
    geometry: Raw = _NULL


class _Geometry(msgspec.Struct, gc=False):
    type: str
    coordinates: Raw = _NULL
    geometries: list["_Geometry"] = []


class _Collection(msgspec.Struct):
    type: str = ""
    features: Raw = _NULL
    crs: Raw = _NULL


_FEATURES: Final = msgspec.json.Decoder(_Feature)
_GEOMETRIES: Final = msgspec.json.Decoder(_Geometry)


class FeatureDecoder(RecordDecoder):
    """Decodes features into columns; those of one line each, too, or of a GeoJSON text sequence (RFC 8142)."""

    expected: ClassVar = Issue("type", "expected a GeoJSON feature")

    @classmethod
    def names(cls, first: Iterable[JsonValue]) -> list[str]:
        """Return the paths of properties, and the names of the id and the coordinates."""
        return [*paths_of(_properties_of(first)), *_OWN]

    def __init__(self, columns: Sequence[str], also: Sequence[str]) -> None:
        self._own = {*columns, *also}.intersection(_OWN)
        super().__init__(*([name for name in names if name not in _OWN] for names in (columns, also)))

    def _build_decoder(self, *, is_complete: bool) -> None:
        super()._build_decoder(is_complete=is_complete)
        self._decode = self._decode_feature

    def _decode_feature(self, value: JsonValue) -> Any:
        feature = _FEATURES.decode(value)
        if feature.type != "Feature":
            raise ValidationError
        properties = Raw(b"{}") if bytes(feature.properties) == b"null" else feature.properties
        return feature, self._decode_members(properties)

    def _learn(self, values: Iterable[JsonValue]) -> None:
        super()._learn(_properties_of(values))

    def _columns(self, records: Sequence[Any]) -> dict[str, Sequence[Cell]]:
        features, cells = [feature for feature, _ in records], super()._columns([members for _, members in records])
        if FEATURE_ID in self._own:
            cells[FEATURE_ID] = column([feature.id for feature in features])
        if not {LATITUDE, LONGITUDE}.isdisjoint(self._own):
            cells[LATITUDE], cells[LONGITUDE] = _transposed(_location(bytes(feature.geometry)) for feature in features)
        return cells


def open_geojson(text: FileBytes) -> JsonFile:
    """Return the features of a feature collection. Raises FileError."""
    _check_collection(text)
    return JsonFile(array_values(text, "features"), FeatureDecoder)


def _properties_of(features: Iterable[JsonValue]) -> Iterator[Raw]:
    for value in features:
        with suppress(DecodeError, RecursionError):  # reported when the values are read
            yield _FEATURES.decode(value).properties


def _location(geometry: bytes) -> tuple[Cell, Cell]:
    """Return the latitude and longitude of a geometry, None for null; wrong types if it is not a geometry."""
    if geometry == b"null":
        return None, None
    if found := _POINT.fullmatch(geometry[:-1]):
        return found[2].decode(), found[1].decode()
    try:
        parts = list(_parts(_GEOMETRIES.decode(geometry)))
        if len(parts) == 1 and parts[0].type == "Point":
            return _point(_POINTS.decode(parts[0].coordinates)) or (None, None)
        return centre((x, y) for part in parts for x, y, *_ in _positions(part)) or (None, None)
    except (ValidationError, ValueError):
        wrong = WrongType(geometry.decode())
        return wrong, wrong


def _transposed(locations: Iterable[tuple[Cell, Cell]]) -> tuple[Sequence[Cell], Sequence[Cell]]:
    latitudes, longitudes = list(zip(*locations, strict=True)) or ((), ())
    return latitudes, longitudes


def _point(coordinates: Sequence[Raw]) -> Location | None:
    """Return where a point is, in the digits of its coordinates."""
    if not coordinates:
        return None
    longitude, latitude = (bytes(each).decode() for each in coordinates[:2])
    if longitude[0] not in _DIGITS or latitude[0] not in _DIGITS:
        raise ValueError
    return latitude, longitude


def _parts(geometry: _Geometry) -> Iterator[_Geometry]:
    """Yield the geometries of a collection, in any order; of another geometry itself."""
    rest = [geometry]
    while rest:
        part = rest.pop()
        if part.type == "GeometryCollection":
            rest.extend(part.geometries)
        elif part.type in _DEPTHS:
            yield part
        else:
            raise ValueError(part.type)


def _positions(geometry: _Geometry) -> Iterable[Sequence[float]]:
    """Yield the positions in the nested arrays of a geometry."""
    depth = _DEPTHS[geometry.type]
    found = [_POSITIONS[depth].decode(geometry.coordinates)]
    for _ in range(depth):
        found = list(chain.from_iterable(found))
    return filter(None, found)


def _check_collection(text: FileBytes) -> None:
    """Raise FileError unless a text is a feature collection with longitudes and latitudes."""
    try:
        collection = msgspec.json.decode(text, type=_Collection)
        reference = msgspec.json.decode(collection.crs)
    except ValidationError:
        raise FileError(_EXPECTED) from None
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error, "features", lines_hint=_LINES_HINT) from None
    if collection.type != "FeatureCollection":
        raise FileError(_EXPECTED)
    match reference:
        case None:
            pass
        case {"properties": {"name": str(name)}}:
            check_reference(name)
        case _:
            check_reference(None)


class OverpassFile(JsonFile):
    """The elements of Overpass JSON."""

    def __init__(self, text: FileBytes) -> None:
        super().__init__(array_values(text))
        names = frozenset(self.names)
        self.names = [*(name.removeprefix(_TAGS) for name in self.names if name.startswith(_TAGS)), *_OWN_MEMBERS]
        has_centres = _PARTS.isdisjoint(names) or not names.isdisjoint(_CENTRE + _BOUNDS)
        self.assumed = [] if has_centres else ["ways and relations have no location: query with `out center`"]

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all elements, with some columns. Raises FileError."""
        wanted = [*columns, *also]
        tags = {name: f"{_TAGS}{name}" for name in wanted if name not in _OWN_MEMBERS}
        for batch in super().batches([*tags.values(), *_MEMBERS]):
            found = {name: batch.columns[path] for name, path in tags.items()} | _own(batch.columns)
            yield msgspec.structs.replace(batch, columns={name: found[name] for name in wanted}, unused=())


def _own(members: Mapping[str, Sequence[Cell]]) -> dict[str, Sequence[Cell]]:
    identifiers = [
        f"{kind}/{number}" if isinstance(kind, str) and isinstance(number, str) else None
        for kind, number in zip(*(members[path] for path in _IDENTIFIER), strict=True)
    ]
    locations = map(_element_location, *(members[path] for path in (*_NODE, *_CENTRE, *_BOUNDS)))
    own = (identifiers, members[_TIMESTAMP], *_transposed(locations))
    return dict(zip(_OWN_MEMBERS, own, strict=True))


def _element_location(*cells: Cell) -> tuple[Cell, Cell]:
    """Return the latitude and longitude of an element, from the cells of a node, a centre and bounds."""
    for latitude, longitude in (cells[:2], cells[2:4]):
        if latitude is not None and longitude is not None:
            return latitude, longitude
    try:
        west, south, east, north = (float(cell) for cell in cells[4:] if isinstance(cell, str))
        return centre([(west, south), (east, north)]) or (None, None)
    except ValueError:  # there are none
        return None, None
