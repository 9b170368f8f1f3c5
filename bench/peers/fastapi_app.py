"""The program of the FastAPI peer: `python -m bench.peers.fastapi_app PORT FILE`, in the peers' environment.

Its handlers are coroutines that call SQLite directly: the data is in memory, and a thread per request would cost more.
"""

import secrets
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from math import ceil, cos, degrees, radians
from typing import Annotated, Any, Final, Literal

import uvicorn  # type: ignore[import-not-found]
from fastapi import Depends, FastAPI, HTTPException, Query, Security
from fastapi.security import APIKeyHeader

from bench.peers.tables import COMPANY_FIELDS, STORE_FIELDS, Company, Store

_KEY: Final = "bench"
_EARTH_METRES: Final = 6_371_008.8
_STORE: Final = ", ".join(f"stores.{name}" for name in STORE_FIELDS)
_HAVERSINE: Final = f"""
{2 * _EARTH_METRES} * asin(sqrt(pow(sin(radians(places.latitude - :y) / 2), 2) + cos(radians(:y))
* cos(radians(places.latitude)) * pow(sin(radians(places.longitude - :x) / 2), 2)))
"""
_PLACES: Final = """
places join stores using (position)
where east >= :west and west <= :east and north >= :south and south <= :north and
"""
_IN_BOX: Final = "places.longitude between :west and :east and places.latitude between :south and :north"
_WORDS: Final = "words join stores on stores.position = words.rowid where words match :match"
# The search for the nearest stores starts with this radius and multiplies it by four until the page is full.
_FIRST_RADIUS: Final = 2_000.0
_LAST_RADIUS: Final = 20_100_000.0

Order = Literal["asc", "desc"]
SortKey = Literal["created_at", "updated_at", "name"]


@dataclass(slots=True)
class Page:
    """A page of stores."""

    limit: int
    num_pages: int
    page_num: int
    sort_order: Order
    sort_by: SortKey
    total_count: int
    data: list[Store]


@dataclass(slots=True)
class LocatedStore(Store):
    """A store with its distance in metres, if the request has a point."""

    distance: float | None


@dataclass(slots=True)
class LocatedPage(Page):
    """A page of stores found by place or words."""

    data: list[LocatedStore]  # type: ignore[assignment]


@dataclass(slots=True)
class Filters:
    """The filters of stores."""

    company_id: str | None = None
    city: str | None = None
    country: str | None = None
    is_open: bool | None = None

    def where(self) -> tuple[str, dict[str, Any]]:
        """Return the condition in SQL, empty if there is none, and its values."""
        values = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        return "where " + " and ".join(f"{name} = :{name}" for name in values) if values else "", values


@dataclass(slots=True)
class Search:
    """The parameters of a search: `near`, with or without `radius`, or `bbox`, or `q`."""

    near: str | None = None
    radius: float | None = None
    bbox: str | None = None
    q: str | None = None
    is_open: bool | None = None
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000
    page_num: Annotated[int, Query(ge=1)] = 1

    def condition(self, radius: float | None) -> tuple[str, str, dict[str, Any]]:
        """Return tables and condition in SQL, the order, and the values."""
        is_open = "" if self.is_open is None else " and is_open = :is_open"
        values: dict[str, Any] = {"is_open": self.is_open}
        if self.near:
            y, x = map(float, self.near.split(","))
            high = degrees((radius or 0) / _EARTH_METRES)
            wide = min(high / max(cos(radians(min(abs(y) + high, 90.0))), 1e-9), 360.0)
            values |= {"x": x, "y": y, "radius": radius}
            values |= {"west": x - wide, "south": y - high, "east": x + wide, "north": y + high}
            return f"{_PLACES} {_HAVERSINE} <= :radius{is_open}", "distance, position", values
        if self.bbox:
            values |= zip(("west", "south", "east", "north"), map(float, self.bbox.split(",")), strict=True)
            return f"{_PLACES} {_IN_BOX}{is_open}", "position", values
        values["match"] = " ".join(f'"{word}"' for word in (self.q or "").replace('"', " ").split()) + "*"
        return f"{_WORDS}{is_open}", "words.rowid", values


def _check_key(key: Annotated[str, Security(APIKeyHeader(name="x-api-key"))]) -> None:
    if not secrets.compare_digest(key.encode(), _KEY.encode()):
        raise HTTPException(401, "The key is not valid", {"WWW-Authenticate": "APIKey"})


def stores_handler(connection: sqlite3.Connection) -> Callable[..., Any]:
    """Return the handler of stores by filters."""
    all_stores = connection.execute("select count(*) from stores").fetchone()[0]

    async def stores(
        filters: Annotated[Filters, Depends()],
        limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
        page_num: Annotated[int, Query(ge=1)] = 1,
        sort_order: Order = "asc",
        sort_by: SortKey = "created_at",
    ) -> Page:
        where, values = filters.where()
        count = f"select count(*) from stores {where}"  # noqa: S608 - our own names, the values are bound
        total = connection.execute(count, values).fetchone()[0] if where else all_stores
        column = {"created_at": "position", "updated_at": "updated"}.get(sort_by, sort_by)
        order = f"{column} {sort_order}{'' if column == 'position' else f' nulls last, position {sort_order}'}"
        query = f"select {_STORE} from stores {where} order by {order} limit {limit} offset {limit * (page_num - 1)}"  # noqa: S608 - as above
        rows = connection.execute(query, values)
        data = [Store(*row) for row in rows]
        return Page(limit, ceil(total / limit), page_num, sort_order, sort_by, total, data)

    return stores


def places_handler(connection: sqlite3.Connection) -> Callable[..., Any]:
    """Return the handler of stores by place or words."""
    counts = dict(connection.execute("select is_open, count(*) from stores group by is_open").fetchall())
    totals = {None: sum(counts.values()), **counts}

    def rows(search: Search, radius: float | None) -> list[LocatedStore]:
        source, order, values = search.condition(radius)
        distance = _HAVERSINE if search.near else "null"
        page = f"limit {search.limit} offset {search.limit * (search.page_num - 1)}"
        query = f"select {_STORE}, {distance} as distance from {source} order by {order} {page}"  # noqa: S608 - as above
        return [LocatedStore(*row) for row in connection.execute(query, values)]

    async def places(search: Annotated[Search, Depends()]) -> LocatedPage:
        if search.near and search.radius is None:
            total, radius = totals.get(search.is_open, 0), _FIRST_RADIUS
            while len(data := rows(search, radius)) < search.limit and radius < _LAST_RADIUS:
                radius *= 4
        else:
            source, _, values = search.condition(search.radius)
            total = connection.execute(f"select count(*) from {source}", values).fetchone()[0]  # noqa: S608 - as above
            data = rows(search, search.radius)
        pages = ceil(total / search.limit)
        return LocatedPage(search.limit, pages, search.page_num, "asc", "created_at", total, data)

    return places


def application(connection: sqlite3.Connection) -> FastAPI:
    """Return the application over a filled database."""

    async def company(company_id: str) -> Company:
        query = f"select {', '.join(COMPANY_FIELDS)} from companies where company_id = ?"  # noqa: S608 - as above
        row = connection.execute(query, [company_id]).fetchone()
        if row is None:
            raise HTTPException(404, "Company not found")
        return Company(*row)

    async def ready() -> dict[str, str]:
        return {"status": "ready"}

    app, keyed = FastAPI(), [Depends(_check_key)]
    app.add_api_route("/stores", stores_handler(connection), response_model=Page, dependencies=keyed)
    app.add_api_route("/places", places_handler(connection), response_model=LocatedPage, dependencies=keyed)
    app.add_api_route("/companies/{company_id}", company, response_model=Company, dependencies=keyed)
    app.add_api_route("/ready", ready)
    return app


def main() -> None:
    """Load the database into memory, then serve until stopped."""
    port, file = sys.argv[1:]
    connection = sqlite3.connect(":memory:")
    with closing(sqlite3.connect(file)) as source:
        source.backup(connection)
    app = application(connection)
    uvicorn.run(app, port=int(port), loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
