"""The shapes of requests to measure: each is thousands of distinct requests, a random sample with a seed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote, unquote, urlencode

import msgspec

KEY: Final = "bench"
COMPANY_PATH: Final = "/companies/"
STORES_PATH: Final = "/stores"
ACCEPT_ENCODING: Final = "Accept-Encoding"

_LOCATING: Final = frozenset({"near", "bbox", "q", "facets"})
_MOST_REQUESTS: Final = 4000
_ORDERS: Final = ("asc", "desc")
# Limits of about 50 and about 1,000: there are not enough pages of exactly so many for distinct requests.
_SHORT_PAGES: Final = (48, 49, 50)
_LONG_PAGES: Final = range(951, 1001)
_FAULTS: Final = (
    {"limit": "0"},
    {"limit": "1001"},
    {"limit": "many"},
    {"page_num": "0"},
    {"is_open": "maybe"},
    {"sort_by": "colour"},
    {"sort_order": "up", "limit": "0"},
)

Params = tuple[tuple[str, str], ...]


class Request(msgspec.Struct, frozen=True):
    """A GET request: its path, its decoded parameters, and its header fields except the key."""

    path: str
    params: Params = ()
    fields: Params = ()

    @property
    def target(self) -> str:
        """The request target."""
        return f"{self.path}?{urlencode(self.params)}" if self.params else self.path

    @property
    def company_id(self) -> str:
        """The company that the path names."""
        return unquote(self.path.removeprefix(COMPANY_PATH))


class Shape(msgspec.Struct, frozen=True):
    """Requests of one kind in random order, their key and their expected status.

    `options` are for the service. `least` is the lower bound for bare over service. `most` is the upper bound for the
    service with `options` over the service without; a shape that has it is compared with that alone. `most_cpu` is the
    upper bound for the CPU time of a request, in microseconds. `minor` is whether it is measured in as few rounds as
    with a peer, and without peers.
    """

    slug: str
    title: str
    requests: tuple[Request, ...]
    key: str = KEY
    status: int = 200
    options: tuple[str, ...] = ()
    least: float = 0
    most: float = 0
    most_cpu: float = 0
    minor: bool = False

    @property
    def coding(self) -> str:
        """The content coding of Accept-Encoding, empty for none."""
        return dict(self.requests[0].fields).get(ACCEPT_ENCODING, "")

    @property
    def locates(self) -> bool:
        """Whether it asks for places, words, or counts of values, of which not all peers have indexes."""
        return any(name in _LOCATING for name, _ in self.requests[0].params)

    @property
    def plain(self) -> bool:
        """Whether peers are measured on the shape, too: it has no header fields or options."""
        return not self.minor and not self.options and not any(request.fields for request in self.requests)


class _Store(msgspec.Struct, frozen=True):
    city: str
    country: str
    company_id: str
    is_open: bool


class _Company(msgspec.Struct, frozen=True):
    company_id: str


def read_shapes(folder: Path, seed: int) -> tuple[Shape, ...]:
    """Return the shapes for the data set in `folder`, a `stores.json` and a `companies.json`."""
    stores = msgspec.json.decode((folder / "stores.json").read_bytes(), type=list[_Store])
    companies = msgspec.json.decode((folder / "companies.json").read_bytes(), type=list[_Company])
    ids = [Request(COMPANY_PATH + quote(company.company_id, safe="")) for company in companies]
    return draw(_universes(stores, ids), Random(seed))


def draw(shapes: Iterable[Shape], random: Random, most: int = _MOST_REQUESTS) -> tuple[Shape, ...]:
    """Return shapes with a random sample of their requests, at most `most`, in random order."""

    def drawn(shape: Shape) -> Shape:
        count = min(most, len(shape.requests))
        return msgspec.structs.replace(shape, requests=tuple(random.sample(shape.requests, count)))

    return tuple(map(drawn, shapes))


def _universes(stores: list[_Store], ids: list[Request]) -> list[Shape]:
    """Return the shapes, each with all possible requests."""
    cities = _cities(store.city for store in stores)
    open_cities = _cities((store.city for store in stores if store.is_open), ("is_open", "true"))
    dense = _dense(store.country for store in stores if store.is_open)
    scattered = _scattered(store.company_id for store in stores)
    return [
        Shape("company", "`/companies/{id}`", tuple(ids), least=1.05),
        Shape("city", "`city`, 50 a page", cities, least=0.75),
        Shape("city-open", "`city`, `is_open`, 50 a page", open_cities),
        Shape("page", "1,000 a page, default order", _long_pages(len(stores)), least=1.15),
        Shape("dense", "`country`, `is_open`, by `name`, 50 a page, pages 1 to 40", dense, least=0.75),
        Shape("scattered", "`company_id`, by `updated_at`, 1,000 a page", scattered, least=0.5),
        Shape("fault", "422: a parameter at fault", _faults(cities), status=422),
        Shape("key", "401: an unknown key", cities, key="unknown", status=401),
    ]


def _pages(counts: Counter[str], *, size: int, most: int = _MOST_REQUESTS) -> Iterator[tuple[str, int]]:
    """Yield values with the numbers of their full pages, to page `most`; where there is none, the commonest, page 1."""
    if max(counts.values()) < size:
        yield from ((value, 1) for value, _ in counts.most_common(20))
    for value, count in counts.items():
        yield from ((value, page) for page in range(1, min(count // size, most) + 1))


def _cities(cities: Iterable[str], *more: tuple[str, str]) -> tuple[Request, ...]:
    return tuple(
        Request(STORES_PATH, (("city", city), *more, *_page(limit, page)))
        for city, page in _pages(Counter(cities), size=50)
        for limit in _SHORT_PAGES
    )


def _long_pages(stores: int) -> tuple[Request, ...]:
    pages = range(1, max(stores // 1000, 1) + 1)
    return tuple(Request(STORES_PATH, _page(limit, page)) for page, limit in product(pages, _LONG_PAGES))


def _dense(countries: Iterable[str]) -> tuple[Request, ...]:
    return tuple(
        Request(STORES_PATH, (("country", country), ("is_open", "true"), *_sort("name", order), *_page(limit, page)))
        for country, page in _pages(Counter(countries), size=50, most=40)
        for order, limit in product(_ORDERS, _SHORT_PAGES)
    )


def _scattered(companies: Iterable[str]) -> tuple[Request, ...]:
    return tuple(
        Request(STORES_PATH, (("company_id", company), *_sort("updated_at", order), *_page(limit, page)))
        for company, page in _pages(Counter(companies), size=1000)
        for order, limit in product(_ORDERS, _LONG_PAGES)
    )


def _sort(by: str, order: str) -> Params:
    return (("sort_by", by), ("sort_order", order))


def _page(limit: int, page: int) -> Params:
    return (("limit", str(limit)), ("page_num", str(page)))


def _faults(asked: Iterable[Request]) -> tuple[Request, ...]:
    """Return requests with one invalid parameter each, without duplicates."""
    made = (Request(each.path, tuple({**dict(each.params), **fault}.items())) for each in asked for fault in _FAULTS)
    return tuple(dict.fromkeys(made))
