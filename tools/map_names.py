"""Make the names on the explorer's map, `names.json` in `service/web/explorer/`.

    .venv/bin/python -m tools.map_names world_map.gpkg

A name is in the middle of the largest part of its area, and is shown from the zoom on at which that part is wide
enough. Countries are ISO 3166 codes, which the browser names in the language of its user; provinces have the name that
Natural Earth gives them. The file is that of `tools/base_map.py`.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from math import cos, log2, radians
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from tools.base_map import ANTARCTIC, FOLDER, SOURCE
from tools.geopackage import Ring, polygons

_PIXELS_OF_A_DEGREE: Final = 256 / 360  # at zoom 0
_PIXELS_OF_A_CHARACTER: Final = 7
_DIGITS: Final = 2  # of degrees
_HIGHEST: Final = 9
_CODE_LENGTH: Final = 2

# A text, longitude, latitude, and the zoom from which it is shown.
Name: TypeAlias = tuple[str, float, float, int]


class Names(msgspec.Struct):
    """The names of countries, as codes, and of provinces; those that are shown first are first."""

    source: str
    countries: list[Name]
    provinces: list[Name]


def area(ring: Ring) -> float:
    """Return the area of a ring in square degrees, as wide as they are at its latitude."""
    points = list(zip(ring[::2], ring[1::2], strict=True))
    twice = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise([*points, points[0]]))
    return abs(twice) / 2 * cos(radians(points[0][1]))


def middle(ring: Ring) -> tuple[float, float, float]:
    """Return the middle of the longest part of the line halfway up a ring that is inside of it, and its length."""
    points = list(zip(ring[::2], ring[1::2], strict=True))
    heights = [y for _, y in points]
    level = (min(heights) + max(heights)) / 2
    crossings = sorted(
        x1 + (level - y1) / (y2 - y1) * (x2 - x1)
        for (x1, y1), (x2, y2) in pairwise([*points, points[0]])
        if (y1 > level) != (y2 > level)
    )
    width, left = max((right - left, left) for left, right in zip(crossings[::2], crossings[1::2], strict=True))
    return left + width / 2, level, width


def placed(text: str, geometry: bytes, letters: int) -> Name:
    """Return where a name of so many letters is, and from which zoom on."""
    x, y, width = middle(max((rings[0] for rings in polygons(geometry)), key=area))
    zoom = log2(letters * _PIXELS_OF_A_CHARACTER / (width * _PIXELS_OF_A_DEGREE))
    return text, round(x, _DIGITS), round(y, _DIGITS), max(2, min(_HIGHEST + 1, round(zoom + 0.3)))


def names(file: Path) -> Names:
    """Return the names of the countries and provinces of a map; those of the smallest provinces are left out."""
    with closing(sqlite3.connect(file)) as database:
        countries = [
            placed(code, geometry, len(name or code))
            for code, name, geometry in database.execute("SELECT iso_a2, name, geom FROM countries")
            if code and len(code) == _CODE_LENGTH and code.isalpha()
        ]
        provinces = [
            placed(name, geometry, len(name))
            for name, geometry in database.execute("SELECT name, geom FROM states_provinces WHERE length(name) > 1")
        ]
    return Names(SOURCE, list(_sorted(countries)), [each for each in _sorted(provinces) if each[3] <= _HIGHEST])


def _sorted(found: list[Name]) -> Iterator[Name]:
    yield from sorted({name for name in found if name[2] > ANTARCTIC}, key=lambda name: (name[3], name))


def main(file: Path) -> None:
    """Write the names of a map."""
    (FOLDER / "names.json").write_bytes(msgspec.json.encode(names(file)) + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
