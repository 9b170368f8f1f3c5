"""Where a geometry is: the point, or the centre of the box around it."""

import re
from collections.abc import Iterable
from math import isfinite
from typing import Final, TypeAlias

from service.reading.diagnostics import FileError, truncate

Location: TypeAlias = tuple[str, str]  # latitude and longitude

LATITUDE: Final = "geometry.latitude"
LONGITUDE: Final = "geometry.longitude"
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

    A box wider than 180 degrees is one across the antimeridian. Raises ValueError for a position that is not finite.
    """
    longitudes, latitudes = zip(*positions, strict=True) if (positions := list(positions)) else ((), ())
    if not longitudes:
        return None
    if not all(map(isfinite, (*longitudes, *latitudes))):
        raise ValueError
    west, east = min(longitudes), max(longitudes)
    if east - west > 180:  # noqa: PLR2004
        west, east = min(each for each in longitudes if each >= 0), max(each for each in longitudes if each < 0) + 360
    longitude = (west + east) / 2
    if longitude > 180:  # noqa: PLR2004
        longitude -= 360
    return _text((min(latitudes) + max(latitudes)) / 2), _text(longitude)


def _text(degrees: float) -> str:
    return repr(round(degrees, _DIGITS) + 0.0)
