"""Reduce a geometry to one point: itself, or the centre of its bounding box."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from math import inf, isfinite
from typing import Final, TypeAlias

from service.model.degrees import MAX_LONGITUDE
from service.reading.batches.diagnostics import FileError
from service.texts import truncate

Location: TypeAlias = tuple[str, str]  # latitude and longitude

LATITUDE: Final = "geometry.latitude"
LONGITUDE: Final = "geometry.longitude"
_POSITIONS: Final = 4_096
_DIGITS: Final = 7  # of a centre: a centimetre
_EXPECTED: Final = "expected longitude and latitude of WGS 84, as `ogr2ogr -t_srs EPSG:4326` writes"
# WGS 84 with longitude first, and what programs write for it.
_WGS_84: Final = re.compile(r".*(?:CRS:?84|EPSG:{1,2}(?:[0-9.]+:)?4326|WGS ?84)|.*\(CRS84\)", re.IGNORECASE)


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
    rest = iter(positions)
    # Some at a time: millions of them would take memory for each.
    boxes = [_box(some) for some in iter(lambda: list(islice(rest, _POSITIONS)), [])]
    if not boxes:
        return None
    west, south, east_of_zero = map(min, list(zip(*boxes, strict=True))[:3])
    east, north, west_of_zero = map(max, list(zip(*boxes, strict=True))[3:])
    if east - west > MAX_LONGITUDE:
        west, east = east_of_zero, west_of_zero + 2 * MAX_LONGITUDE
        if not isfinite(east - west):  # no longitudes of WGS 84
            raise ValueError
    longitude = (west + east) / 2
    if longitude > MAX_LONGITUDE:
        longitude -= 2 * MAX_LONGITUDE
    return _text((south + north) / 2), _text(longitude)


def _box(positions: Sequence[tuple[float, float]]) -> tuple[float, float, float, float, float, float]:
    """Return the least longitude, latitude and longitude from 0, then the greatest, the last one below 0."""
    longitudes, latitudes = zip(*positions, strict=True)
    if not all(map(isfinite, (*longitudes, *latitudes))):
        raise ValueError
    east_of_zero = min((each for each in longitudes if each >= 0), default=inf)
    west_of_zero = max((each for each in longitudes if each < 0), default=-inf)
    return min(longitudes), min(latitudes), east_of_zero, max(longitudes), max(latitudes), west_of_zero


def _text(degrees: float) -> str:
    return repr(round(degrees, _DIGITS) + 0.0)
