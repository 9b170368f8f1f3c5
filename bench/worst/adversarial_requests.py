"""Adversarial requests: as much work as a request line can hold."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Final
from urllib.parse import quote_plus, urlencode

from bench.wire.shapes import STORES_PATH
from bench.worst.values import FILTERS, Values
from service.model.parameters import MAX_DIGITS, SORT_ORDERS
from service.model.records import STORES

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


def adversarial_requests(values: Values, random: Random) -> Iterator[str]:
    """Yield targets."""
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
