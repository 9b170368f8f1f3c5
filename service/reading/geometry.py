"""Where a geometry is: the point, or the centre of the box around it."""

from collections.abc import Iterable
from math import isfinite
from typing import Final, TypeAlias

Location: TypeAlias = tuple[str, str]  # latitude and longitude

LATITUDE: Final = "geometry.latitude"
LONGITUDE: Final = "geometry.longitude"
_DIGITS: Final = 7  # of a centre: a centimetre


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
