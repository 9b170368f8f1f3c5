"""Reduce a geometry to one point: itself, or the centre of its bounding box."""

import re
import struct
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import inf, isfinite
from typing import Final, TypeAlias

from service.model.kinds import MAX_LONGITUDE
from service.reading.diagnostics import FileError
from service.texts import truncate

Location: TypeAlias = tuple[str, str]  # latitude and longitude

LATITUDE: Final = "geometry.latitude"
LONGITUDE: Final = "geometry.longitude"
_DIGITS: Final = 7  # of a centre: a centimetre
_EXPECTED: Final = "expected longitude and latitude of WGS 84, as `ogr2ogr -t_srs EPSG:4326` writes"
# WGS 84 with longitude first, and what programs write for it.
_WGS_84: Final = re.compile(r".*(?:CRS:?84|EPSG:{1,2}(?:[0-9.]+:)?4326|WGS ?84)|.*\(CRS84\)", re.IGNORECASE)
_ORDERS: Final = {0: ">", 1: "<"}  # by the first byte
_POINT, _LINE, _POLYGON, *_COLLECTIONS = range(1, 8)
_DIMENSIONS: Final = (2, 3, 3, 4)  # by the thousands of a type: none, Z, M, both
_Z, _M, _SRID = 0x8000_0000, 0x4000_0000, 0x2000_0000  # flags of EWKB
_SRID_WGS_84: Final = (0, 4326)  # identifiers of reference systems; 0 is unknown
_SIMPLE_POINT: Final = struct.Struct("<BIdd")


def check_reference(name: str | None) -> None:
    """Raise FileError unless a coordinate reference system is that of longitudes and latitudes."""
    if name is None:
        raise FileError(f"the coordinate reference system is not known: {_EXPECTED}")
    if not _WGS_84.fullmatch(name):
        raise FileError(f"the coordinate reference system is {truncate(name)!r}: {_EXPECTED}")


def centre(positions: Iterable[tuple[float, float]]) -> Location | None:
    """Return the centre of the box around some positions, each longitude and latitude; None if there are none.

    A box wider than 180 degrees is one across the antimeridian. Raises ValueError for a position that is not finite,
    and for such a box on one side of the zero meridian.
    """
    numbers = array("d", chain.from_iterable(positions))  # millions of them take no more memory than in WKB
    if not numbers:
        return None
    longitudes, latitudes = numbers[::2], numbers[1::2]
    west, east = min(longitudes), max(longitudes)
    if east - west > MAX_LONGITUDE:
        west = min((each for each in longitudes if each >= 0), default=inf)
        east = max((each for each in longitudes if each < 0), default=-inf) + 2 * MAX_LONGITUDE
    if not all(map(isfinite, chain(numbers, (west, east)))):  # or no longitudes of WGS 84
        raise ValueError
    longitude = (west + east) / 2
    if longitude > MAX_LONGITUDE:
        longitude -= 2 * MAX_LONGITUDE
    return _text((min(latitudes) + max(latitudes)) / 2), _text(longitude)


def _text(degrees: float) -> str:
    return repr(round(degrees, _DIGITS) + 0.0)


def locate(wkb: bytes) -> Location | None:
    """Return where a point is, of another geometry the centre of the box around it; None if it is empty.

    Raises ValueError if it is not WKB.
    """
    if len(wkb) == _SIMPLE_POINT.size and wkb.startswith(b"\x01\x01\x00\x00\x00"):
        return _location(*_SIMPLE_POINT.unpack(wkb)[2:])
    reader = _Reader(wkb)
    positions = reader.positions()
    try:
        first = list(islice(positions, 2))
        if reader.kinds == [_POINT]:
            return _location(*first[0])
        # Not those of empty points.
        return centre((x, y) for x, y in chain(first, positions) if x == x and y == y)  # noqa: PLR0124
    except (struct.error, KeyError):
        raise ValueError("truncated, or not a byte order") from None


def _location(x: float, y: float) -> Location | None:
    """Return where a point is; an empty point is not a number."""
    return (repr(y), repr(x)) if x == x and y == y else None  # noqa: PLR0124


class _Reader:
    """Reads a geometry and the ones in it, whose kinds it collects."""

    def __init__(self, wkb: bytes) -> None:
        self._wkb, self._offset, self._order = wkb, 0, "<"
        self.kinds: list[int] = []

    def positions(self) -> Iterator[tuple[float, float]]:
        """Yield all positions. A collection announces how many geometries follow, so no stack is needed."""
        left = 1
        while left:
            left -= 1
            kind, size = self._header()
            self.kinds.append(kind)
            if kind in _COLLECTIONS:
                left += self._integer()
            elif kind == _POLYGON:
                for _ in range(self._integer()):
                    yield from self._sequence(self._integer(), size)
            else:
                yield from self._sequence(self._integer() if kind == _LINE else 1, size)
        if self._offset != len(self._wkb):
            raise ValueError("longer than its geometry")

    def _header(self) -> tuple[int, int]:
        """Return the kind of the next geometry, and how many numbers its positions have."""
        (order,) = struct.unpack_from("B", self._wkb, self._offset)
        self._order = _ORDERS[order]
        self._offset += 1
        code = self._integer()
        thousands, kind = divmod(code & ~(_Z | _M | _SRID), 1000)
        if not _POINT <= kind <= _COLLECTIONS[-1] or thousands >= len(_DIMENSIONS):
            raise ValueError("not a geometry of points, lines and polygons")
        if code & _SRID and self._integer() not in _SRID_WGS_84:
            raise ValueError("not WGS 84")
        return kind, _DIMENSIONS[thousands] + bool(code & _Z) + bool(code & _M)

    def _integer(self) -> int:
        self._offset += 4
        return int(struct.unpack_from(f"{self._order}I", self._wkb, self._offset - 4)[0])

    def _sequence(self, count: int, size: int) -> Iterator[tuple[float, float]]:
        start, position = self._offset, struct.Struct(f"{self._order}{size}d")
        self._offset += count * position.size
        if self._offset > len(self._wkb):
            raise ValueError("truncated")
        yield from (each[:2] for each in position.iter_unpack(self._wkb[start : self._offset]))
