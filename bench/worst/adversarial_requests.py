"""Adversarial requests: as much work as a request line can hold; poles, half the earth, the most words and cells."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from random import Random
from string import ascii_lowercase
from typing import Final
from urllib.parse import quote_plus, urlencode

from bench.shapes import STORES_PATH
from bench.worst.directory import Directory
from bench.worst.random_requests import FILTERS, Params, Values, clusters
from service.engine.geography.clusters import MAX_CELLS
from service.model.coordinates import MAX_ZOOM
from service.model.parameters import MAX_DIGITS, MAX_FACETS, SORT_ORDERS
from service.model.records import STORES
from service.model.words import MAX_CHARACTERS, MAX_WORDS

# What a request line of 8,190 bytes leaves for a query after `/stores?`; an order and a page take some of it.
_LONGEST: Final = 8190 - len("/stores?")
_ROOM: Final = _LONGEST - len("&sort_by=parent_company_id&sort_order=desc&page_num=100")
_BOUNDS: Final = (1, 2, 5, 20)
_DENSE: Final = ("is_open", "country", "province", "city", "parent_company_id", "company_id")
_DEEP: Final = 100
# Two marks in the wrong order, in which folding does not leave them (Unicode UAX 15, D108).
_ABOVE, _BELOW = "\u0315", "\u0316"
# Normalization turns it into 18 characters.
_EIGHTEEN: Final = "\ufdfa"
# The poles, the antimeridian from both sides, the farthest from any land, where the equator meets the first meridian.
_POINTS: Final = ("90,0", "-90,180", "89.999,-120", "0,180", "-16.5,-180", "-48.8767,-123.3933", "0,0")
# Metres: of a store, a city, a country, a quarter of the earth's surface, half of it, all but a spot, more than all.
_RADII: Final = ("0.1", "20000", "1000000", "6671703", "10007557", "20000000", "1e300")
_BOXES: Final = (
    *("-180,-90,180,90", "-180,-90,0,90", "-180,0,180,90", "-180,89,180,90", "0.0001,-90,0,90", "170,-90,-170,90"),
    *("-180,40,180,40.001", "-0.2,-90,0.2,90", "180,-90,-180,90", "-180,-90,-180,90", "-10,-50,150,60"),
)
_PAGES: Final = (("limit=1000", "page_num=1"), ("limit=1000", "page_num=480"), ("limit=50", "page_num=9000"))
_BY: Final = ("", "name")
_DENSE_COUNTRIES: Final = 2
_NEAREST: Final = 4
# Nearly the world: its edges cut cells.
_NEARLY: Final = ("-179.9,-84.9,179.9,84.9", "-180,-60,179.99,75", "0.1,-90,0,90")
_SCATTERED: Final = ("city", "company_id", "postal_code")
_TRIED: Final = 50
_WORD_ZOOMS: Final = (0, 4, 6, MAX_ZOOM)


def adversarial_requests(directory: Directory, values: Values, random: Random) -> Iterator[str]:
    """Yield targets of every kind."""
    yield from _stores(values, random)
    yield from _located(values, random)
    yield from _maps(directory, values, random)


def _stores(values: Values, random: Random) -> Iterator[str]:
    orders = product(STORES.sort_keys, SORT_ORDERS, (1, _DEEP))
    for filters, (by, order, page_num) in product(_filters(values, random), list(orders)):
        yield f"{STORES_PATH}?{filters}&sort_by={by}&sort_order={order}&page_num={page_num}"
    yield from (f"{STORES_PATH}?{text}" for text in _texts())


def _filters(values: Values, random: Random) -> Iterator[str]:
    """Yield filters of many values: the commonest, any, the shortest; of each field alone, with a dense one, of all."""
    ranked = values.ranked
    shuffled = {name: random.sample(ranked[name], len(ranked[name])) for name in FILTERS}
    shortest = {name: sorted(ranked[name], key=len) for name in FILTERS}
    for choice in (ranked, shuffled, shortest):
        yield _packed(choice)
        for name in FILTERS:
            yield _packed({name: choice[name]})
            yield _packed({"is_open": ["true", "false"], "country": choice["country"][:2], name: choice[name]})
    for most in _BOUNDS:
        yield _packed({name: ranked[name][:most] for name in FILTERS})
        yield from (_packed({name: ranked[name][:most] for name in _DENSE[:end]}) for end in range(1, len(_DENSE) + 1))
    yield from (_packed({name: [f"{number:x}" for number in range(_ROOM)]}) for name in FILTERS)


def _packed(choice: Mapping[str, Sequence[str]]) -> str:
    """Return the filters, round robin, with as many values as fit."""
    lists = {name: iter(given) for name, given in choice.items()}
    parts: list[str] = []
    room = _ROOM
    while lists:
        for name in list(lists):
            value = next(lists[name], None)
            part = "" if value is None else urlencode({name: value})
            if part and len(part) < room:
                parts.append(part)
                room -= len(part) + 1
            else:
                del lists[name]
    return "&".join(parts)


def _texts() -> Iterator[str]:
    """Yield queries that are long to read, percent-encoded: aiohttp's parser in C rejects bytes beyond ASCII."""
    for name in FILTERS:
        room = _LONGEST - len(f"{name}=")
        marks = room // len(quote_plus(_ABOVE))
        yield f"{name}={quote_plus(_ABOVE * (marks // 2) + _BELOW * (marks // 2))}"
        yield f"{name}={quote_plus(_EIGHTEEN) * (room // len(quote_plus(_EIGHTEEN)))}"
        yield f"{name}={'9' * room}"
        yield f"{name}={'.' + '0' * (room - 5) + '1e9'}"
        yield f"{name}={'+' * (room - 1)}x"
        yield f"{name}=&" * (_LONGEST // (len(name) + 2))
    yield "page_num=" + "9" * MAX_DIGITS
    yield "page_num=" + "0" * (_LONGEST - len("page_num=1")) + "1"
    yield "limit=" + "1_" * ((_LONGEST - len("limit=1")) // 2) + "1"
    yield "&" * _LONGEST
    yield "a&" * (_LONGEST // 2)
    yield "&".join(f"{number:x}" for number in range(_LONGEST // 5))


def _located(values: Values, random: Random) -> Iterator[str]:
    choices, facets = [urlencode(filters) for filters in _dense_filters(values)], _facets(values)
    places = (_near(values, choices, facets, random), _in_boxes(choices, facets))
    queries = chain(*places, _with_words(values, choices, facets, random))
    yield from (f"{STORES_PATH}?{query}" for query in queries)


def _facets(values: Values) -> str:
    """Return as many facets as there may be, of the fields with the most values."""
    names = sorted(STORES.facets, key=lambda name: len(values.ranked[name]))
    return f"facets={','.join(names[-MAX_FACETS:])}"


def _dense_filters(values: Values) -> Iterator[Params]:
    """Yield filters: none, dense ones, one of a store, all of a store."""
    countries = [("country", country) for country in values.ranked["country"]]
    yield []
    yield [("is_open", "true")]
    yield [("is_open", "true"), *countries[:_DENSE_COUNTRIES]]
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
    for box, filters, more, (limit, page) in product(_BOXES, choices, rest, _PAGES):
        yield _joined(f"bbox={box}", filters, more, limit, page)


def _with_words(values: Values, choices: Sequence[str], facets: str, random: Random) -> Iterator[str]:
    rest = ("", "sort_by=name&sort_order=desc", "near=0,180", "near=0,0&radius=10007557", f"bbox={_BOXES[1]}")
    for text, filters, more in product(_word_texts(values, random), choices, (*rest, facets)):
        yield _joined(urlencode({"q": text}), filters, more)


def _word_texts(values: Values, random: Random) -> Iterator[str]:
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


def _maps(directory: Directory, values: Values, random: Random) -> Iterator[str]:
    """Yield large boxes at every zoom, with filters of many stores or of many cells; and with words."""
    boxes = (*_BOXES, *_NEARLY)
    for box, filters, zoom in product(boxes, _dense_filters(values), range(MAX_ZOOM + 1)):
        yield clusters(box, zoom, filters)
    for filters, zoom in product(_many_cells(directory, values), range(MAX_ZOOM + 1)):
        yield clusters(_BOXES[0], zoom, filters)
    worded = list(_word_texts(values, random))
    for box, text, filters, zoom in product((_BOXES[0], _NEARLY[0]), worded, _dense_filters(values), _WORD_ZOOMS):
        yield clusters(box, zoom, [*filters, ("q", text)])


def _many_cells(directory: Directory, values: Values) -> Iterator[Params]:
    """Yield filters by values of one field that together match nearly as many stores as there may be cells."""
    for name in _SCATTERED:
        filters: Params = []
        for value in values.ranked[name][:_TRIED]:
            more = [*filters, (name, value)]
            if directory.count(f"{STORES_PATH}?{urlencode([*more, ('limit', '1')])}") <= MAX_CELLS:
                filters = more
        yield filters
