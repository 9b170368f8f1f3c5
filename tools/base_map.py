"""Make the base map of the explorer, `countries.json` and `provinces.json` in `service/web/explorer/`.

    .venv/bin/python -m tools.base_map world_map.gpkg

The lines are those of Natural Earth (naturalearthdata.com, public domain), as in the file `world_map.gpkg` of QGIS,
which Debian has in `qgis-common`: neighbours share their points, and nothing crosses 180°. A segment of one state is a
coast, one of two states is a border. Lines are simplified in the projection of the map, then written as steps from
point to point, in the text of the "encoded polyline algorithm format". Antarctica is left out.
"""

import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, pairwise
from math import asinh, degrees, hypot, radians, tan
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from tools.geopackage import polygons

FOLDER: Final = Path(__file__).parents[1] / "service" / "web" / "explorer"
SOURCE: Final = "Natural Earth 1:10m v4.1.0, public domain, in world_map.gpkg of QGIS; tools/base_map.py"
_TILE_PIXELS: Final = 256
_HIGHEST_LATITUDE: Final = 85.0511  # the edge of the projection
ANTARCTIC: Final = -60  # what is farther south is not on the map
# Of an encoded polyline: five bits a character, the lowest first; one more says that others follow.
_BITS: Final = 5
_MORE: Final = 1 << _BITS
_FIRST_CHARACTER: Final = 63

Point: TypeAlias = tuple[float, float]
Line: TypeAlias = list[Point]
Segment: TypeAlias = tuple[Point, Point]


class Detail(msgspec.Struct, frozen=True):
    """How much of a line is kept.

    zoom      the zoom at which no point is moved by more than `pixels`
    steps     of a degree, to which points are rounded
    smallest  lines that are smaller in both directions, in pixels, are left out
    """

    zoom: int
    steps: int
    pixels: float
    smallest: float

    def project(self, point: Point) -> Point:
        """Return a point in pixels of the map (Web Mercator)."""
        longitude, latitude = point[0], max(-_HIGHEST_LATITUDE, min(_HIGHEST_LATITUDE, point[1]))
        scale = _TILE_PIXELS * 2**self.zoom / 360
        return longitude * scale, degrees(asinh(tan(radians(latitude)))) * scale


COARSE: Final = Detail(zoom=3, steps=12, pixels=1.6, smallest=5)
FINE: Final = Detail(zoom=5, steps=100, pixels=1.25, smallest=4)


class Lines(msgspec.Struct):
    """A base map: coasts as rings, borders as lines, all as encoded polylines; how many steps a degree has."""

    source: str
    steps: int
    land: list[str]
    countries: list[str]
    provinces: list[str]


def segments(geometries: Iterable[bytes]) -> Counter[Segment]:
    """Return how many rings each segment of them is in."""
    found = Counter[Segment]()
    for geometry in geometries:
        for ring in chain.from_iterable(polygons(geometry)):
            points = zip(ring[::2], ring[1::2], strict=True)
            found.update((min(pair), max(pair)) for pair in pairwise(points) if max(pair)[1] > ANTARCTIC)
    return found


def joined(parts: Iterable[Segment], *, closed: bool) -> Iterator[Line]:
    """Yield lines that have each segment once: rings, or lines from one meeting point of lines to the next."""
    ways = defaultdict[Point, set[Point]](set)
    for one, other in parts:
        ways[one].add(other)
        ways[other].add(one)
    ends = [] if closed else [point for point, others in ways.items() if len(others) != 2]  # noqa: PLR2004 - one in, one out
    stops = set(ends)
    for start in (*ends, *ways):
        while ways[start]:
            yield _walked(ways, start, stops)


def _walked(ways: dict[Point, set[Point]], start: Point, stops: set[Point]) -> Line:
    """Take a line out of the ways, from a start to the first stop, or back to the start."""
    line = [start]
    while ways[line[-1]] and (len(line) == 1 or (line[-1] not in stops and line[-1] != start)):
        here = line[-1]
        there = min(ways[here])
        ways[here].remove(there)
        ways[there].remove(here)
        line.append(there)
    return line


def simplified(line: Line, detail: Detail) -> Line:
    """Return the points of a line that no straight line can replace (Douglas and Peucker)."""
    flat = [detail.project(point) for point in line]
    kept, waiting = {0, len(line) - 1}, [(0, len(line) - 1)]
    while waiting:
        first, last = waiting.pop()
        farthest, distance = first, detail.pixels
        for each in range(first + 1, last):
            away = _distance(flat[each], flat[first], flat[last])
            if away > distance:
                farthest, distance = each, away
        if farthest != first:
            kept.add(farthest)
            waiting += [(first, farthest), (farthest, last)]
    return [line[each] for each in sorted(kept)]


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from a straight line between two others, which may be one."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = across * across + down * down
    share = ((point[0] - start[0]) * across + (point[1] - start[1]) * down) / length if length else 0.0
    share = max(0.0, min(1.0, share))
    return hypot(point[0] - start[0] - share * across, point[1] - start[1] - share * down)


def is_visible(line: Line, detail: Detail) -> bool:
    """Return whether a line is long enough to be seen."""
    flat = [detail.project(point) for point in line]
    return any(max(each) - min(each) >= detail.smallest for each in zip(*flat, strict=True))


def written(line: Line, steps: int) -> str:
    """Return a line as an encoded polyline: longitude before latitude, in steps."""
    text, before = list[str](), (0, 0)
    for x, y in line:
        point = round(x * steps), round(y * steps)
        if not text or point != before:
            text += [_character_code(point[0] - before[0]), _character_code(point[1] - before[1])]
        before = point
    return "".join(text)


def _character_code(number: int) -> str:
    rest, text = ~(number << 1) if number < 0 else number << 1, ""
    while rest >= _MORE:
        text += chr((_MORE | rest & (_MORE - 1)) + _FIRST_CHARACTER)
        rest >>= _BITS
    return text + chr(rest + _FIRST_CHARACTER)


def drawn(parts: Iterable[Segment], detail: Detail, *, closed: bool = False) -> list[str]:
    """Return the lines of segments, those that can be seen, the northernmost first."""
    least = 4 if closed else 2
    lines = [simplified(line, detail) for line in joined(sorted(parts), closed=closed) if is_visible(line, detail)]
    kept = sorted((line for line in lines if len(line) >= least), key=lambda line: -line[0][1])
    return [written(line, detail.steps) for line in kept]


def base_map(countries: Counter[Segment], states: Counter[Segment], detail: Detail, *, provinces: bool) -> Lines:
    """Return the base map of the segments of countries and of their states, with borders of the latter or without."""
    inner = [each for each, count in states.items() if count > 1 and each not in countries]
    return Lines(
        source=SOURCE,
        steps=detail.steps,
        land=drawn([each for each, count in countries.items() if count == 1], detail, closed=True),
        countries=drawn([each for each, count in countries.items() if count > 1], detail),
        provinces=drawn(inner, detail) if provinces else [],
    )


def read(file: Path) -> Sequence[Counter[Segment]]:
    """Return the segments of the countries and of the states of a map."""
    with closing(sqlite3.connect(file)) as database:
        return [
            segments(geometry for (geometry,) in database.execute(f"SELECT geom FROM {table}"))  # noqa: S608
            for table in ("countries", "states_provinces")
        ]


def main(file: Path) -> None:
    """Write the base map of a file, coarse and fine."""
    countries, states = read(file)
    for name, detail, provinces in (("countries", COARSE, False), ("provinces", FINE, True)):
        lines = base_map(countries, states, detail, provinces=provinces)
        (FOLDER / f"{name}.json").write_bytes(msgspec.json.encode(lines) + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
