"""Random requests: filters with the values of stores, places, words, facets, maps, any order, any page."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import cos, radians
from random import Random
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from bench.shapes import CLUSTERS_PATH, STORES_PATH
from bench.worst.directory import Directory
from service.model.coordinates import MAX_ZOOM
from service.model.parameters import MAX_FACETS, MAX_LIMIT, SORT_ORDERS
from service.model.records import DISTANCE, STORES
from service.model.words import MAX_WORDS

FILTERS: Final = tuple(field.name for field in STORES.filters)
_SEARCHED: Final = tuple(field.name for field in STORES.searched)
_PAGES: Final = 50
_LIMITS: Final = (1, 10, 50, 100, 500, 999, 1000, 1000)
_FILTERED: Final = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 9)
_SEVERAL: Final = 30
_COMMONEST: Final = 3
# How often a request has each; a radius needs a point.
_NEAR, _RADIUS, _BBOX, _Q, _FACETS = 0.4, 0.5, 0.2, 0.3, 0.2
_AWAY: Final = 0.01  # degrees
# Powers of ten of metres: from a single store to beyond the antipode.
_REACH: Final = (0.0, 7.4)
_SIZES: Final = (0.001, 0.1, 1.0, 10.0, 90.0)  # of boxes, in degrees

_Draw = Callable[["Values", Random], str]
_WITH_WORDS: Final = 0.2  # of maps

Params = list[tuple[str, str]]


class Values(msgspec.Struct, frozen=True):
    """The filter values of some stores as written in a query, and all values of each filter, the commonest first.

    `texts` are the searched texts of each store, `words` all their words, the commonest first. `points` are latitudes
    and longitudes.
    """

    stores: list[dict[str, str]]
    ranked: dict[str, list[str]]
    texts: list[str]
    words: list[str]
    points: list[tuple[float, float]]


def draw_values(directory: Directory, random: Random) -> Values:
    """Return the values of some thousand random stores."""
    pages = max(len(directory) // MAX_LIMIT, 1)
    chosen = random.sample(range(1, pages + 1), min(_PAGES, pages))
    records = [record for number in chosen for record in directory.records(limit=MAX_LIMIT, page_num=number)]
    stores = [_written(record) for record in records]
    counts: Mapping[str, Counter[str]] = {name: Counter() for name in FILTERS}
    for store in stores:
        for name, value in store.items():
            counts[name][value] += 1
    texts = [" ".join(record[name] or "" for name in _SEARCHED) for record in records]
    return Values(
        stores,
        {name: [value for value, _ in counts[name].most_common()] for name in FILTERS},
        texts,
        [word for word, _ in Counter(word for text in texts for word in text.split()).most_common()],
        [(float(each["latitude"]), float(each["longitude"])) for each in records if each["latitude"] is not None],
    )


def _written(record: Mapping[str, Any]) -> dict[str, str]:
    values = {name: record[name] for name in FILTERS if record.get(name) is not None}
    return {name: value if isinstance(value, str) else str(value).lower() for name, value in values.items()}


def random_requests(directory: Directory, values: Values, random: Random) -> Iterator[str]:
    """Yield targets endlessly."""
    while True:
        params = [*_filters(values, random), *_location(values, random)]
        params += _order(_sort_keys(params), random)
        limit = random.choice(_LIMITS)
        pages = -(-directory.count(f"{STORES_PATH}?{urlencode(params)}") // limit)
        number = random.choice((1, 2, pages // 2, pages, pages + 1, random.randint(1, pages + 1)))
        page = urlencode([*params, ("limit", str(limit)), ("page_num", str(max(number, 1)))])
        yield f"{STORES_PATH}?{page}"


def _filters(values: Values, random: Random) -> Params:
    """Return filters, each with values chosen in one of several ways."""
    store = random.choice(values.stores)
    chosen = random.sample(FILTERS, random.choice(_FILTERED))
    ways: tuple[Callable[[str], list[str]], ...] = (
        lambda name: [store[name]] if name in store else [],
        lambda name: values.ranked[name][:1],
        lambda name: random.sample(values.ranked[name][:_COMMONEST], 1),
        lambda name: values.ranked[name][: random.randint(2, _SEVERAL)],
        lambda name: [
            each[name] for each in random.choices(values.stores, k=random.randint(1, _SEVERAL)) if name in each
        ],
        lambda name: ["false" if name == "is_open" else "nowhere"],
    )
    return [(name, value) for name in chosen for value in random.choice(ways)(name)]


def _order(keys: tuple[str, ...], random: Random) -> Params:
    return [("sort_by", random.choice(keys)), ("sort_order", random.choice(SORT_ORDERS))]


def _location(values: Values, random: Random) -> Params:
    """Return some of the parameters, with random values."""
    params: Params = []
    if random.random() < _NEAR:
        params.append(("near", "{},{}".format(*_point(values, random))))
        if random.random() < _RADIUS:
            params.append(("radius", f"{10 ** random.uniform(*_REACH):.1f}"))
    chances: tuple[tuple[str, float, _Draw], ...] = (
        ("bbox", _BBOX, _box),
        ("q", _Q, _words),
        ("facets", _FACETS, _counted),
    )
    return params + [(name, draw(values, random)) for name, share, draw in chances if random.random() < share]


def _sort_keys(params: Params) -> tuple[str, ...]:
    """Return what a request with some parameters may be sorted by."""
    return (*STORES.sort_keys, DISTANCE) if any(name == "near" for name, _ in params) else STORES.sort_keys


def _point(values: Values, random: Random) -> tuple[float, float]:
    """Return latitude and longitude: near a store, or anywhere."""
    latitude, longitude = random.choice(values.points)
    if random.random() < 1 / 4:
        return round(random.uniform(-90, 90), 4), round(random.uniform(-180, 180), 4)
    east = random.gauss(0, _AWAY) / cos(radians(latitude))
    return round(latitude + random.gauss(0, _AWAY), 5), round(longitude + east, 5)


def _box(values: Values, random: Random) -> str:
    """Return a box about a point, of any size: its edges stop at the poles and cross the antimeridian."""
    latitude, longitude = _point(values, random)
    high, wide = (random.choice(_SIZES) * random.random() for _ in range(2))
    edges = (longitude - wide, max(latitude - high, -90.0), longitude + wide, min(latitude + high, 90.0))
    west, south, east, north = edges
    return f"{_turned(west):.5f},{south:.5f},{_turned(east):.5f},{north:.5f}"


def _turned(longitude: float) -> float:
    return (longitude + 180.0) % 360.0 - 180.0


def _words(values: Values, random: Random) -> str:
    """Return words of one store, of any, or the commonest; the last may be cut short, or be whole."""
    ways: tuple[Callable[[int], list[str]], ...] = (
        lambda count: random.choice(values.texts).split()[:count],
        lambda count: random.choices(values.words, k=count),
        lambda count: random.sample(values.words[:MAX_WORDS], count),
    )
    words = random.choice(ways)(random.choice((1, 1, 2, 2, 3, 4)))
    last = words.pop() if words else ""
    return " ".join([*words, random.choice((last, last[:1], last[:3], f"{last} "))])


def _counted(_: Values, random: Random) -> str:
    return ",".join(random.sample(STORES.facets, random.randint(1, MAX_FACETS)))


def random_cluster_requests(values: Values, random: Random) -> Iterator[str]:
    """Yield targets endlessly."""
    while True:
        params = _filters(values, random)
        if random.random() < _WITH_WORDS:
            params.append(("q", _words(values, random)))
        yield clusters(_box(values, random), random.randint(0, MAX_ZOOM), params)


def clusters(box: str, zoom: int, params: Params) -> str:
    """Return the target of a map."""
    return f"{CLUSTERS_PATH}?{urlencode([('bbox', box), ('zoom', str(zoom)), *params])}"
