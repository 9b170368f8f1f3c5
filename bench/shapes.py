"""The shapes of requests to measure: each is thousands of distinct requests, a random sample with a seed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle, islice, product
from pathlib import Path
from random import Random
from typing import Final, Literal
from urllib.parse import quote, unquote, urlencode

import msgspec

KEY: Final = "bench"
COMPANY_PATH: Final = "/companies/"
STORES_PATH: Final = "/stores"
CLUSTERS_PATH: Final = "/clusters"
ACCEPT_ENCODING: Final = "Accept-Encoding"

_LOCATION_PARAMETERS: Final = frozenset({"near", "bbox", "q", "facets"})
# Fewer than the cache of responses holds, and more: what is repeated, and what hardly ever is.
REPEATED: Final = 500
UNREPEATED: Final = 64_000
_LARGE: Final = 1_000_000  # stores, of which some bounds are lower
_MAX_PAGES: Final = 4000
_ORDERS: Final = ("asc", "desc")
# Limits of about 50 and about 1,000: there are not enough pages of exactly so many for distinct requests.
_SHORT_PAGES: Final = (48, 49, 50)
_LONG_PAGES: Final = range(951, 1001)

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


class Bound(msgspec.Struct, frozen=True):
    """A bound on the median of a figure of a comparison."""

    figure: Literal["cpu_ratio", "rate_ratio", "cpu_microseconds"]
    limit: float
    is_upper: bool = False

    def allows(self, value: float) -> bool:
        """Return whether a value is within the bound."""
        return value <= self.limit if self.is_upper else value >= self.limit

    def __str__(self) -> str:
        limit = f"{self.limit:,g} µs" if self.figure == "cpu_microseconds" else f"{self.limit:.2f}"
        return f"{'at most' if self.is_upper else 'at least'} {limit}"


class Shape(msgspec.Struct, frozen=True):
    """Requests of one kind in random order, and their expected status.

    options      for the service
    bound        for the comparison with the bare handler
    is_repeated  whether the cache of responses holds all that answers them
    has_floors   whether it is measured on the floors, too
    """

    slug: str
    title: str
    requests: tuple[Request, ...]
    status: int = 200
    options: tuple[str, ...] = ()
    bound: Bound | None = None
    is_repeated: bool = True
    has_floors: bool = False

    @property
    def coding(self) -> str:
        """The content coding of Accept-Encoding, empty for none."""
        return dict(self.requests[0].fields).get(ACCEPT_ENCODING, "")

    @property
    def is_located(self) -> bool:
        """Whether it has places, words or facets, for which not all peers have indexes."""
        return any(name in _LOCATION_PARAMETERS for name, _ in self.requests[0].params)

    @property
    def is_plain(self) -> bool:
        """Whether peers are measured on it, too: it has no header fields or options."""
        return self.is_repeated and not self.options and not any(request.fields for request in self.requests)


class _Store(msgspec.Struct, frozen=True):
    city: str
    country: str
    company_id: str
    is_open: bool


class _Company(msgspec.Struct, frozen=True):
    company_id: str


def read_shapes(folder: Path, seed: int) -> tuple[Shape, ...]:
    """Return the shapes for the data set in `folder`, a `stores.json` and a `companies.json`: repeated, then not."""
    stores = msgspec.json.decode((folder / "stores.json").read_bytes(), type=list[_Store])
    companies = msgspec.json.decode((folder / "companies.json").read_bytes(), type=list[_Company])
    ids = [Request(COMPANY_PATH + quote(company.company_id, safe="")) for company in companies]
    every, is_large, random = _all_shapes(stores, ids), len(stores) >= _LARGE, Random(seed)
    bounds = {"company": ratio(1.0 if is_large else 1.1), "city": ratio(0.5 if is_large else 0.55)}
    others = [unrepeated(shape, random, bounds.get(shape.slug)) for shape in every]
    return (*draw(every, random), *others)


def draw(shapes: Iterable[Shape], random: Random) -> tuple[Shape, ...]:
    """Return shapes with a random sample of their requests, in random order, of which each is repeated."""
    return tuple(msgspec.structs.replace(shape, requests=_sample(shape, random, REPEATED)) for shape in shapes)


def unrepeated(shape: Shape, random: Random, bound: Bound | None = None) -> Shape:
    """Return a shape with so many distinct requests that hardly any answer is still cached when it is asked for again.

    If there are not enough queries, each request has a parameter of its own, which the service ignores.
    """
    requests = _sample(shape, random, UNREPEATED)
    queries, title = len(requests), f"{shape.title}, hardly ever repeated"
    if queries < UNREPEATED:
        title = f"{shape.title}, {queries:,} queries, each request with a parameter of its own"
        every = enumerate(islice(cycle(requests), UNREPEATED))
        requests = tuple(Request(each.path, (*each.params, ("_", str(number)))) for number, each in every)
    return Shape(f"{shape.slug}-unrepeated", title, requests, bound=bound, is_repeated=False)


def _sample(shape: Shape, random: Random, most: int) -> tuple[Request, ...]:
    return tuple(random.sample(shape.requests, min(most, len(shape.requests))))


def _all_shapes(stores: list[_Store], ids: list[Request]) -> list[Shape]:
    """Return the shapes, each with all possible requests."""
    cities = _cities(store.city for store in stores)
    open_cities = _cities((store.city for store in stores if store.is_open), ("is_open", "true"))
    dense = _dense(store.country for store in stores if store.is_open)
    scattered = _scattered(store.company_id for store in stores)
    return [
        Shape("company", "`/companies/{id}`", tuple(ids), bound=ratio(3.0), has_floors=True),
        Shape("city", "`city`, 50 a page", cities, bound=ratio(1.4), has_floors=True),
        Shape("city-open", "`city`, `is_open`, 50 a page", open_cities),
        Shape("page", "1,000 a page, default order", _long_pages(len(stores)), bound=ratio(1.35), has_floors=True),
        Shape("dense", "`country`, `is_open`, by `name`, 50 a page, pages 1 to 40", dense, bound=ratio(1.2)),
        Shape("scattered", "`company_id`, by `updated_at`, 1,000 a page", scattered, bound=ratio(0.65)),
    ]


def ratio(limit: float) -> Bound:
    """Return a lower bound for the CPU time of the bare handler over that of the service."""
    return Bound("cpu_ratio", limit)


def _pages(counts: Counter[str], *, size: int, last: int = _MAX_PAGES) -> Iterator[tuple[str, int]]:
    """Yield values with the numbers of their full pages, up to a page; without any, the commonest values, page 1."""
    if max(counts.values()) < size:
        yield from ((value, 1) for value, _ in counts.most_common(20))
    for value, count in counts.items():
        yield from ((value, page) for page in range(1, min(count // size, last) + 1))


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
        for country, page in _pages(Counter(countries), size=50, last=40)
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
