"""The bounds of coordinates, in degrees."""

from typing import Final

MAX_LATITUDE: Final = 90
MAX_LONGITUDE: Final = 180
