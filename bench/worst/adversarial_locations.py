"""Adversarial locations and searches: poles, half the earth, the antimeridian, single letters, the most words."""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from random import Random
from string import ascii_lowercase
from typing import Final
from urllib.parse import urlencode

from bench.wire.shapes import STORES_PATH
from bench.worst.values import Params, Values
from service.model.parameters import MAX_FACETS, SORT_ORDERS
from service.model.records import STORES
from service.model.words import MAX_CHARACTERS, MAX_WORDS

# The poles, the antimeridian from both sides, the farthest from any land, where the equator meets the first meridian.
_POINTS: Final = ("90,0", "-90,180", "89.999,-120", "0,180", "-16.5,-180", "-48.8767,-123.3933", "0,0")
# Metres: of a store, a city, a country, a quarter of the earth's surface, half of it, all but a spot, more than all.
_RADII: Final = ("0.1", "20000", "1000000", "6671703", "10007557", "20000000", "1e300")
BOXES: Final = (
    *("-180,-90,180,90", "-180,-90,0,90", "-180,0,180,90", "-180,89,180,90", "0.0001,-90,0,90", "170,-90,-170,90"),
    *("-180,40,180,40.001", "-0.2,-90,0.2,90", "180,-90,-180,90", "-180,-90,-180,90", "-10,-50,150,60"),
)
_PAGES: Final = (("limit=1000", "page_num=1"), ("limit=1000", "page_num=480"), ("limit=50", "page_num=9000"))
_BY: Final = ("", "name")
_DENSE: Final = 2
_NEAREST: Final = 4


def adversarial_location_requests(values: Values, random: Random) -> Iterator[str]:
    """Yield targets."""
    choices, facets = [urlencode(filters) for filters in dense_filters(values)], _facets(values)
    places = (_near(values, choices, facets, random), _in_boxes(choices, facets))
    queries = chain(*places, _with_words(values, choices, facets, random))
    yield from (f"{STORES_PATH}?{query}" for query in queries)


def _facets(values: Values) -> str:
    """Return as many facets as there may be, of the fields with the most values."""
    names = sorted(STORES.facets, key=lambda name: len(values.ranked[name]))
    return f"facets={','.join(names[-MAX_FACETS:])}"


def dense_filters(values: Values) -> Iterator[Params]:
    """Yield filters: none, dense ones, one of a store, all of a store."""
    countries = [("country", country) for country in values.ranked["country"]]
    yield []
    yield [("is_open", "true")]
    yield [("is_open", "true"), *countries[:_DENSE]]
    yield countries
    yield [("is_open", "false"), countries[-1]]
    yield [("city", values.ranked["city"][-1])]


def _near(values: Values, choices: Sequence[str], facets: str, random: Random) -> Iterator[str]:
    stores = (f"{latitude},{longitude}" for latitude, longitude in random.sample(values.points, _NEAREST))
    reaches = ("", *(f"radius={radius}" for radius in _RADII))
    for point, reach, filters in product((*_POINTS, *stores), reaches, choices):
        place = _joined(f"near={point}", reach, filters)
        for by, (limit, page) in product(_BY, _PAGES):
            yield _joined(place, by and f"sort_by={by}", f"sort_order={random.choice(SORT_ORDERS)}", limit, page)
        yield _joined(place, facets)


def _in_boxes(choices: Sequence[str], facets: str) -> Iterator[str]:
    rest = ("", "near=90,0", "near=0,180&radius=10007557", facets)
    for box, filters, more, (limit, page) in product(BOXES, choices, rest, _PAGES):
        yield _joined(f"bbox={box}", filters, more, limit, page)


def _with_words(values: Values, choices: Sequence[str], facets: str, random: Random) -> Iterator[str]:
    rest = ("", "sort_by=name&sort_order=desc", "near=0,180", "near=0,0&radius=10007557", f"bbox={BOXES[1]}")
    for text, filters, more in product(texts(values, random), choices, (*rest, facets)):
        yield _joined(urlencode({"q": text}), filters, more)


def texts(values: Values, random: Random) -> Iterator[str]:
    """Yield searches: single letters, as many words as there may be, long ones, and of scripts without spaces."""
    common, rare = values.words[:MAX_WORDS], values.words[-MAX_WORDS:]
    yield from ascii_lowercase
    yield from (" ".join(letters) for letters in ("ab", "st", ascii_lowercase[:MAX_WORDS]))
    yield from common[: MAX_WORDS // 2]
    yield from (" ".join(words)[:MAX_CHARACTERS] for words in (common, rare, sorted(common, key=len), common[:2]))
    yield from (f"{random.choice(common)} {letter}" for letter in "aes")
    yield from ("店", "東京 店", "0", "1 2", "a" * MAX_CHARACTERS, "\ufdfa" * MAX_CHARACTERS, "a " * MAX_WORDS)
    yield "".join(chr(0x4E00 + number) for number in range(MAX_CHARACTERS))


def _joined(*parts: str) -> str:
    return "&".join(part for part in parts if part)
