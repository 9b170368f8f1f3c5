"""The shapes of location and text searches: near a point, in a box, with words, facets, clusters of a map.

They are drawn like those in `shapes`. Points are near stores, so most are in large cities.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from math import cos, radians
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from bench.shapes import CLUSTERS_PATH, STORES_PATH, UNREPEATED, Bound, Params, Request, Shape, draw, ratio, unrepeated

_FULL: Final = 50
_FIRST: Final = (("limit", str(_FULL)), ("page_num", "1"))
_PREFIX: Final = 2  # characters of the last word, at least
_OPEN: Final = ("is_open", "true")
# How far points are from a store: the standard deviation, in degrees of latitude. About a kilometre.
_AWAY: Final = 0.01
_RADIUS: Final = "10000"  # metres
# Half the side of a box in degrees of latitude: 11 km a side, as a city of the data set has.
_HALF_SIDE: Final = 0.05
# In a city of so many stores, there is a full page around nearly any point.
_LARGE_CITY: Final = 2 * _FULL
# Pairs of words are counted in so many stores: more of them would not make more than enough.
_READ: Final = 100_000
_MAX_COUNTRIES: Final = 5
_ZOOMS: Final = range(1, 6)

_Point = tuple[float, float]


class _Store(msgspec.Struct, frozen=True):
    name: str | None
    city: str
    country: str
    latitude: str | None
    longitude: str | None

    @property
    def words(self) -> list[str]:
        """The distinct words of its name and its city."""
        words = f"{self.name or ''} {self.city}".lower().split()
        return [word for word in dict.fromkeys(words) if word.isalnum()]


def read_locator_shapes(folder: Path, seed: int) -> tuple[Shape, ...]:
    """Return the shapes for the data set in `folder`."""
    random = Random(seed)
    stores = msgspec.json.decode((folder / "stores.json").read_bytes(), type=list[_Store])
    located = [store for store in stores if store.latitude is not None]
    in_cities = _in_cities(located)
    dense = tuple(_dense(sorted({store.country for store in stores})))
    shapes = [
        _shape("radius", "`near`, `radius` 10 km, `is_open`, 50 a page", _around(in_cities, _circle, random), 0.40),
        _shape("nearest", "`near`, `is_open`, the first 50", _around(located, _nearest, random), 0.30),
        _shape("box", "`bbox` of a city, `is_open`, 50 a page", _around(in_cities, _box, random), 0.40),
        _shape("words", "`q` of two words, the last a prefix, `is_open`, 50 a page", _words(stores, random), 0.35),
        _shape("facets", "`facets=country,province` over dense filters, 50 a page", _facets(dense), 1500),
        _shape("clusters", "`/clusters` of the world", _clusters(((),), random), 2000),
        _shape("clusters-dense", "`/clusters` of the world, dense filters", _clusters(dense, random), 12000),
    ]
    return (*draw(shapes, random), *(unrepeated(shape, random) for shape in shapes))


def _shape(slug: str, title: str, requests: tuple[Request, ...], limit: float) -> Shape:
    """Return a shape; its limit is the least ratio to the bare handler or, above 1, the most microseconds of CPU."""
    bound = Bound("cpu_microseconds", limit, is_upper=True) if limit > 1 else ratio(limit)
    return Shape(slug, title, requests, bound=bound)


def _in_cities(stores: list[_Store]) -> list[_Store]:
    """Return the stores of cities with enough stores for a full page; all stores if no city has them."""
    counts = Counter((store.country, store.city) for store in stores)
    return [store for store in stores if counts[store.country, store.city] >= _LARGE_CITY] or stores


def _around(stores: list[_Store], place: Callable[[_Point], Params], random: Random) -> tuple[Request, ...]:
    """Return requests for places around random points, which are likelier where there are more stores."""
    points = (_point(store, random) for store in random.choices(stores, k=UNREPEATED))
    return tuple(Request(STORES_PATH, (*place(point), *_FIRST)) for point in points)


def _point(store: _Store, random: Random) -> _Point:
    latitude = float(store.latitude or 0) + random.gauss(0, _AWAY)
    return latitude, float(store.longitude or 0) + random.gauss(0, _AWAY) / cos(radians(latitude))


def _circle(point: _Point) -> Params:
    return (("near", _written(*point)), ("radius", _RADIUS), _OPEN)


def _nearest(point: _Point) -> Params:
    return (("near", _written(*point)), _OPEN)


def _box(point: _Point) -> Params:
    latitude, longitude = point
    width = _HALF_SIDE / cos(radians(latitude))
    edges = (longitude - width, latitude - _HALF_SIDE, longitude + width, latitude + _HALF_SIDE)
    return (("bbox", _written(*edges)), _OPEN)


def _written(*degrees: float) -> str:
    return ",".join(f"{each:.5f}" for each in degrees)


def _words(stores: list[_Store], random: Random) -> tuple[Request, ...]:
    """Return requests for two words that stores have together, in both orders, while the last one is being typed."""
    read = random.sample(stores, min(_READ, len(stores)))
    pairs = Counter(pair for store in read for pair in permutations(store.words, 2))
    common = [pair for pair, count in pairs.items() if count >= _FULL] or list(pairs)
    texts = {f"{first} {last[:end]}" for first, last in common for end in range(_PREFIX, len(last) + 1)}
    return tuple(Request(STORES_PATH, (("q", text), _OPEN, *_FIRST)) for text in sorted(texts))


def _dense(countries: list[str]) -> Iterator[Params]:
    """Yield filters that many stores match: each set of a few countries, all stores or those that are open."""
    for count in range(1, _MAX_COUNTRIES + 1):
        for chosen in combinations(countries, count):
            filters = tuple(("country", country) for country in chosen)
            yield filters
            yield (*filters, _OPEN)


def _facets(dense: tuple[Params, ...]) -> tuple[Request, ...]:
    return tuple(Request(STORES_PATH, (*filters, ("facets", "country,province"), *_FIRST)) for filters in dense)


def _clusters(choices: tuple[Params, ...], random: Random) -> tuple[Request, ...]:
    """Return requests for maps of the world, whose edges differ by some degrees."""
    return tuple(
        Request(CLUSTERS_PATH, (("bbox", _world(random)), ("zoom", str(random.choice(_ZOOMS))), *filters))
        for filters in random.choices(choices, k=UNREPEATED)
    )


def _world(random: Random) -> str:
    west, south = -180 + random.uniform(0, 5), -85 + random.uniform(0, 5)
    return _written(west, south, -west, -south)
