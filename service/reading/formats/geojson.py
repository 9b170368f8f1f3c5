"""GeoJSON (RFC 7946) as a file of records: a feature collection, or one feature per line.

The columns are the members of `properties` by path, the feature id and its coordinates.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError

from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, WrongType
from service.reading.diagnostics import FileError, Issue
from service.reading.formats.geometry import LATITUDE, LONGITUDE, Location, centre, check_reference
from service.reading.formats.json_batches import BatchDecoder, Columns
from service.reading.formats.json_file import SAMPLE, JsonFile, PathMembers, column, paths_of, sample_texts
from service.reading.formats.json_text import BLANK, array_batches, elements, file_error, line_batches, numbered_lines
from service.spool import FileBytes, open_bytes

FEATURE_ID: Final = "feature.id"
_OWN: Final = (FEATURE_ID, LATITUDE, LONGITUDE)
_RECORD_SEPARATOR: Final = b"\x1e"  # before each feature of a GeoJSON text sequence (RFC 8142)
_NULL: Final = Raw(b"null")
_EMPTY: Final = Raw(b"{}")
_EXPECTED: Final = "expected a GeoJSON feature collection"
_LINES_HINT: Final = "; a file with one feature per line is newline-delimited, and its name must end in .geojsonl"


class _Feature(msgspec.Struct, gc=False):
    type: str = ""
    id: Raw = _NULL
    properties: Raw = _NULL
    geometry: Raw = _NULL


class _Geometry(msgspec.Struct, gc=False):
    type: str
    coordinates: Raw = _NULL
    geometries: list["_Geometry"] = []


class _Named(msgspec.Struct):
    name: str


class _Reference(msgspec.Struct):
    properties: _Named


class _Collection(msgspec.Struct):
    type: str = ""
    features: Raw = _NULL
    crs: Raw = _NULL


_FEATURES: Final = msgspec.json.Decoder(_Feature)
_GEOMETRIES: Final = msgspec.json.Decoder(_Geometry)
_POINTS: Final = msgspec.json.Decoder(list[Raw])
_COLLECTION: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"FeatureCollection"')  # as nearly all begin
_DIGITS: Final = "-0123456789"  # how a number begins
_POINT: Final = re.compile(  # as nearly all are written, without the last brace
    rb'\{\s*"type"\s*:\s*"Point"\s*,\s*"coordinates"\s*:\s*\[\s*([0-9.eE+-]+)\s*,\s*([0-9.eE+-]+)\s*[,\]][^"{\[]*'
)


def begins_like_collection(text: FileBytes) -> bool:
    """Return whether a JSON text begins like a feature collection."""
    return _COLLECTION.match(text) is not None


class GeoJsonFile(RecordFile):
    """The features of a feature collection."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError."""
        _check_collection(text)
        self._text, self._features = text, elements(text, "features")
        self.names, self.assumed = [*paths_of(_properties_of(self._features[:SAMPLE])), *_OWN], ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all features, with some columns. Raises FileError."""
        return array_batches(self._text, self._features, _FeatureDecoder(columns, also))


class GeoJsonLinesFile(RecordFile):
    """Features of one line each, or the features of a GeoJSON text sequence (RFC 8142)."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError if one of its first features is not JSON."""
        self._text = text
        self._is_sequence = text.startswith(_RECORD_SEPARATOR)
        features = _sequence(text) if self._is_sequence else numbered_lines(open_bytes(text))
        self.names, self.assumed = [*paths_of(_properties_of(sample_texts(features))), *_OWN], ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all features, with some columns. Raises FileError."""
        decoder = _FeatureDecoder(columns, also)
        return _sequence_batches(self._text, decoder) if self._is_sequence else line_batches(self._text, decoder)


class _FeatureDecoder(BatchDecoder):
    """Decodes features into columns."""

    expected: ClassVar = Issue("type", "expected a GeoJSON feature")

    def __init__(self, columns: Sequence[str], also: Sequence[str]) -> None:
        self._own = [name for name in (*columns, *also) if name in _OWN]
        self._properties = PathMembers(*([name for name in names if name not in _OWN] for names in (columns, also)))

    @property
    def _decode(self) -> Callable[[Raw | bytes], Any]:
        return self._decode_feature

    def _decode_feature(self, value: Raw | bytes) -> Any:
        feature = _FEATURES.decode(value)
        if feature.type != "Feature":
            raise ValidationError
        properties = _EMPTY if bytes(feature.properties) == b"null" else feature.properties
        return feature, self._properties.decode(properties)

    def _learn(self, values: Sequence[Raw | bytes]) -> None:
        self._properties.learn(_properties_of(values))

    def _columns(self, records: Sequence[Any], lines: Callable[[], Sequence[int]]) -> Columns:
        features, properties = [feature for feature, _ in records], [members for _, members in records]
        own: dict[str, Sequence[Cell]] = {}
        if FEATURE_ID in self._own:
            own[FEATURE_ID] = column([feature.id for feature in features])
        if not {LATITUDE, LONGITUDE}.isdisjoint(self._own):
            locations = [_location(bytes(feature.geometry)) for feature in features]
            own[LATITUDE], own[LONGITUDE] = zip(*locations, strict=True) if locations else ((), ())
        found = self._properties.columns(properties, lines)
        return Columns({**found.cells, **own}, found.unused)


def _properties_of(features: Iterable[Raw | bytes]) -> Iterator[Raw]:
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
        return _locate(geometry) or (None, None)
    except (ValidationError, ValueError):
        wrong = WrongType(geometry.decode())
        return wrong, wrong


def _locate(geometry: bytes) -> Location | None:
    parts = list(_parts(_GEOMETRIES.decode(geometry)))
    if len(parts) == 1 and parts[0].type == "Point":
        return _point(_POINTS.decode(parts[0].coordinates))
    return centre((x, y) for part in parts for x, y, *_ in _POSITIONS[part.type](part.coordinates))


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
        elif part.type in _POSITIONS:
            yield part
        else:
            raise ValueError(part.type)


def _positions(depth: int) -> Callable[[Raw], Iterable[Sequence[float]]]:
    """Return what yields the positions in nested arrays."""
    shape: Any = list[float]
    for _ in range(depth):
        shape = list[shape]
    decoder = msgspec.json.Decoder[Any](shape)

    def positions(coordinates: Raw) -> Iterable[Sequence[float]]:
        found = [decoder.decode(coordinates)]
        for _ in range(depth):
            found = list(chain.from_iterable(found))
        return filter(None, found)

    return positions


_POSITIONS: Final = {
    "Point": _positions(0),
    "MultiPoint": _positions(1),
    "LineString": _positions(1),
    "MultiLineString": _positions(2),
    "Polygon": _positions(2),
    "MultiPolygon": _positions(3),
}


def _check_collection(text: FileBytes) -> None:
    """Raise FileError unless a text is a feature collection with longitudes and latitudes."""
    try:
        collection = msgspec.json.decode(text, type=_Collection)
    except ValidationError:
        raise FileError(_EXPECTED) from None
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error, "features", lines_hint=_LINES_HINT) from None
    if collection.type != "FeatureCollection":
        raise FileError(_EXPECTED)
    try:
        reference = msgspec.json.decode(collection.crs, type=_Reference | None)
    except ValidationError:
        check_reference(None)
    else:
        if reference:
            check_reference(reference.properties.name)


def _sequence(text: FileBytes) -> Iterator[tuple[int, bytes]]:
    """Yield the texts of a sequence that are not empty, with the line on which each begins."""
    line = 1
    for value in text[:].split(_RECORD_SEPARATOR):
        if value.strip(BLANK):
            yield line, value
        line += value.count(b"\n")


def _sequence_batches(text: FileBytes, decoder: BatchDecoder) -> Iterator[Batch]:
    features = list(_sequence(text))
    for start in range(0, len(features), BATCH_SIZE):
        lines, values = zip(*features[start : start + BATCH_SIZE], strict=True)
        done = start + len(values)
        yield decoder.batch(values, partial(list, lines), first=start + 1, done=done, total=len(features))


# As the Overpass API writes it, or the array of elements alone.
_ELEMENTS: Final = re.compile(
    rb'\s*(?:\{[^\[]*"elements"\s*:\s*)?\[\s*\{\s*"type"\s*:\s*"(?:node|way|relation)"\s*,\s*"id"\s*:\s*[0-9]'
)
_LONGEST_BEGINNING: Final = 4_096  # bytes
_TAGS: Final = "tags."
_TIMESTAMP: Final = "timestamp"
_IDENTIFIER: Final = ("type", "id")
_NODE: Final = ("lat", "lon")
_CENTRE: Final = ("center.lat", "center.lon")
_BOUNDS: Final = ("bounds.minlon", "bounds.minlat", "bounds.maxlon", "bounds.maxlat")
_MEMBERS: Final = (_TIMESTAMP, *_IDENTIFIER, *_NODE, *_CENTRE, *_BOUNDS)
_OWN_MEMBERS: Final = ("@id", f"@{_TIMESTAMP}", LATITUDE, LONGITUDE)
_PARTS: Final = frozenset({"nodes.0", "members.0.ref"})  # of ways, of relations
_NO_CENTRE: Final = "ways and relations have no location: query with `out center`"


def begins_like_elements(text: FileBytes) -> bool:
    """Return whether a JSON text begins like Overpass JSON."""
    return _ELEMENTS.match(text[:_LONGEST_BEGINNING]) is not None


class OverpassFile(RecordFile):
    """The elements of Overpass JSON."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError."""
        self._file = JsonFile(text)
        names = frozenset(self._file.names)
        self.names = [*(name.removeprefix(_TAGS) for name in self._file.names if name.startswith(_TAGS)), *_OWN_MEMBERS]
        has_centres = _PARTS.isdisjoint(names) or not names.isdisjoint(_CENTRE + _BOUNDS)
        self.assumed = [] if has_centres else [_NO_CENTRE]

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all elements, with some columns. Raises FileError."""
        wanted = [*columns, *also]
        tags = {name: f"{_TAGS}{name}" for name in wanted if name not in _OWN_MEMBERS}
        for batch in self._file.batches([*tags.values(), *_MEMBERS]):
            found = {name: batch.columns[path] for name, path in tags.items()} | _own(batch.columns)
            yield msgspec.structs.replace(batch, columns={name: found[name] for name in wanted}, unused=())


def _own(members: Mapping[str, Sequence[Cell]]) -> dict[str, Sequence[Cell]]:
    identifiers = list(map(_identifier, *(members[path] for path in _IDENTIFIER)))
    locations = list(map(_element_location, *(members[path] for path in (*_NODE, *_CENTRE, *_BOUNDS))))
    latitudes, longitudes = zip(*locations, strict=True) if locations else ((), ())
    return dict(zip(_OWN_MEMBERS, (identifiers, members[_TIMESTAMP], latitudes, longitudes), strict=True))


def _identifier(kind: Cell, number: Cell) -> Cell:
    return f"{kind}/{number}" if isinstance(kind, str) and isinstance(number, str) else None


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
