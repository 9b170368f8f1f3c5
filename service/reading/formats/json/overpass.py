"""Overpass JSON, the elements of OpenStreetMap, as a file of records: with the columns of their export as GeoJSON.

The columns are the tags, `@id`, `@timestamp`, and the location: of a way or relation its centre, or that of its bounds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from service.files.mapped_bytes import FileBytes
from service.reading.batches.batch import Batch, Cell
from service.reading.batches.record_file import RecordFile
from service.reading.formats.geometry import LATITUDE, LONGITUDE, centre
from service.reading.formats.json.json_file import JsonFile

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
_OWN: Final = ("@id", f"@{_TIMESTAMP}", LATITUDE, LONGITUDE)
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
        self.names = [*(name.removeprefix(_TAGS) for name in self._file.names if name.startswith(_TAGS)), *_OWN]
        has_centres = _PARTS.isdisjoint(names) or not names.isdisjoint(_CENTRE + _BOUNDS)
        self.assumed = [] if has_centres else [_NO_CENTRE]

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all elements, with some columns. Raises FileError."""
        wanted = [*columns, *also]
        tags = {name: f"{_TAGS}{name}" for name in wanted if name not in _OWN}
        for batch in self._file.batches([*tags.values(), *_MEMBERS]):
            found = {name: batch.columns[path] for name, path in tags.items()} | _own(batch.columns)
            yield msgspec.structs.replace(batch, columns={name: found[name] for name in wanted}, unused=())


def _own(members: Mapping[str, Sequence[Cell]]) -> dict[str, Sequence[Cell]]:
    identifiers = list(map(_identifier, *(members[path] for path in _IDENTIFIER)))
    locations = list(map(_location, *(members[path] for path in (*_NODE, *_CENTRE, *_BOUNDS))))
    latitudes, longitudes = zip(*locations, strict=True) if locations else ((), ())
    return dict(zip(_OWN, (identifiers, members[_TIMESTAMP], latitudes, longitudes), strict=True))


def _identifier(kind: Cell, number: Cell) -> Cell:
    return f"{kind}/{number}" if isinstance(kind, str) and isinstance(number, str) else None


def _location(*cells: Cell) -> tuple[Cell, Cell]:
    """Return the latitude and longitude of an element, from the cells of a node, a centre and bounds."""
    for latitude, longitude in (cells[:2], cells[2:4]):
        if latitude is not None and longitude is not None:
            return latitude, longitude
    try:
        west, south, east, north = (float(cell) for cell in cells[4:] if isinstance(cell, str))
        return centre([(west, south), (east, north)]) or (None, None)
    except ValueError:  # there are none
        return None, None
