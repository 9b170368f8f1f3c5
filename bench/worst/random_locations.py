"""Random locations, words and facets, which random requests add to their filters."""

from collections.abc import Callable
from math import cos, radians
from random import Random
from typing import Final

from bench.worst.values import Params, Values
from service.model.parameters import MAX_FACETS
from service.model.records import DISTANCE, STORES
from service.model.words import MAX_WORDS

# How often a request has each; a radius needs a point.
_NEAR, _RADIUS, _BBOX, _Q, _FACETS = 0.4, 0.5, 0.2, 0.3, 0.2
_AWAY: Final = 0.01  # degrees
# Powers of ten of metres: from a single store to beyond the antipode.
_REACH: Final = (0.0, 7.4)
_SIZES: Final = (0.001, 0.1, 1.0, 10.0, 90.0)  # of boxes, in degrees

_Draw = Callable[[Values, Random], str]


def random_location_params(values: Values, random: Random) -> Params:
    """Return some of the parameters, with random values."""
    params: Params = []
    if random.random() < _NEAR:
        params.append(("near", "{},{}".format(*_point(values, random))))
        if random.random() < _RADIUS:
            params.append(("radius", f"{10 ** random.uniform(*_REACH):.1f}"))
    chances: tuple[tuple[str, float, _Draw], ...] = (
        ("bbox", _BBOX, random_box),
        ("q", _Q, random_words),
        ("facets", _FACETS, _counted),
    )
    return params + [(name, draw(values, random)) for name, share, draw in chances if random.random() < share]


def sort_keys(params: Params) -> tuple[str, ...]:
    """Return what a request with some parameters may be sorted by."""
    return (*STORES.sort_keys, DISTANCE) if any(name == "near" for name, _ in params) else STORES.sort_keys


def _point(values: Values, random: Random) -> tuple[float, float]:
    """Return latitude and longitude: near a store, or anywhere."""
    latitude, longitude = random.choice(values.points)
    if random.random() < 1 / 4:
        return round(random.uniform(-90, 90), 4), round(random.uniform(-180, 180), 4)
    east = random.gauss(0, _AWAY) / cos(radians(latitude))
    return round(latitude + random.gauss(0, _AWAY), 5), round(longitude + east, 5)


def random_box(values: Values, random: Random) -> str:
    """Return a box about a point, of any size: its edges stop at the poles and cross the antimeridian."""
    latitude, longitude = _point(values, random)
    high, wide = (random.choice(_SIZES) * random.random() for _ in range(2))
    edges = (longitude - wide, max(latitude - high, -90.0), longitude + wide, min(latitude + high, 90.0))
    west, south, east, north = edges
    return f"{_turned(west):.5f},{south:.5f},{_turned(east):.5f},{north:.5f}"


def _turned(longitude: float) -> float:
    return (longitude + 180.0) % 360.0 - 180.0


def random_words(values: Values, random: Random) -> str:
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
