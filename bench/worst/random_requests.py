"""Random requests: some filters with some values, places, words and facets, any order, any page."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final
from urllib.parse import urlencode

from bench.wire.shapes import STORES_PATH
from bench.worst.directory import Directory
from bench.worst.random_locations import random_location_params, sort_keys
from bench.worst.values import FILTERS, Params, Values
from service.model.parameters import SORT_ORDERS

_LIMITS: Final = (1, 10, 50, 100, 500, 999, 1000, 1000)
_FILTERED: Final = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 9)
_SEVERAL: Final = 30
_COMMONEST: Final = 3


def random_requests(directory: Directory, values: Values, random: Random) -> Iterator[str]:
    """Yield targets endlessly."""
    while True:
        params = [*random_filters(values, random), *random_location_params(values, random)]
        params += _order(sort_keys(params), random)
        limit = random.choice(_LIMITS)
        pages = -(-directory.count(f"{STORES_PATH}?{urlencode(params)}") // limit)
        number = random.choice((1, 2, pages // 2, pages, pages + 1, random.randint(1, pages + 1)))
        page = urlencode([*params, ("limit", str(limit)), ("page_num", str(max(number, 1)))])
        yield f"{STORES_PATH}?{page}"


def random_filters(values: Values, random: Random) -> Params:
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
