"""The route for places and words in the FastAPI peer."""

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import ceil, cos, degrees, radians
from typing import Annotated, Any, Final

from fastapi import Depends, Query

from bench.peers.sqlite_records import FoundPage, FoundStore
from bench.peers.tables import STORE_FIELDS

_EARTH: Final = 6_371_008.8
_HAVERSINE: Final = f"""
{2 * _EARTH} * asin(sqrt(pow(sin(radians(places.latitude - :y) / 2), 2) + cos(radians(:y))
* cos(radians(places.latitude)) * pow(sin(radians(places.longitude - :x) / 2), 2)))
"""
_STORE: Final = ", ".join(f"stores.{name}" for name in STORE_FIELDS)
_IN_BOX: Final = "east >= :west and west <= :east and north >= :south and south <= :north"
_EXACTLY: Final = "places.longitude between :west and :east and places.latitude between :south and :north"
# The search for the nearest stores starts with this radius and multiplies it by four until the page is full.
_FIRST_RADIUS: Final = 2_000.0
_LAST_RADIUS: Final = 20_100_000.0


@dataclass(slots=True)
class Search:
    """The parameters: one of `near`, with or without `radius`, `bbox` and `q`."""

    near: str | None = None
    radius: float | None = None
    bbox: str | None = None
    q: str | None = None
    is_open: bool | None = None
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000
    page_num: Annotated[int, Query(ge=1)] = 1


@dataclass(slots=True)
class _Condition:
    """A query in parts: tables, condition, order, the values of its parameters, and the distance as SQL."""

    source: str
    where: str
    order: str
    values: dict[str, Any]
    distance: str = "null"


def search_route(connection: sqlite3.Connection) -> Callable[..., Awaitable[FoundPage]]:
    """Return the handler of searches."""
    counted = dict(connection.execute("select is_open, count(*) from stores group by is_open").fetchall())
    totals = {None: sum(counted.values()), **counted}

    async def search(asked: Annotated[Search, Depends()]) -> FoundPage:
        first = asked.limit * (asked.page_num - 1)
        if asked.near and asked.radius is None:
            total, data = totals.get(asked.is_open, 0), _nearest(connection, asked, first)
        else:
            condition = _condition(asked)
            total, data = _count(connection, condition), _rows(connection, condition, asked.limit, first)
        return FoundPage(
            limit=asked.limit,
            num_pages=ceil(total / asked.limit),
            page_num=asked.page_num,
            total_count=total,
            data=data,
        )

    return search


def _nearest(connection: sqlite3.Connection, asked: Search, first: int) -> list[FoundStore]:
    radius, rows = _FIRST_RADIUS, list[FoundStore]()
    while len(rows) < asked.limit and radius < _LAST_RADIUS:
        rows = _rows(connection, _within(asked, radius), asked.limit, first)
        radius *= 4
    return rows


def _condition(asked: Search) -> _Condition:
    if asked.radius is not None:
        return _within(asked, asked.radius)
    if asked.bbox:
        west, south, east, north = map(float, asked.bbox.split(","))
        values = {"west": west, "south": south, "east": east, "north": north}
        return _found(asked, "places join stores using (position)", f"{_IN_BOX} and {_EXACTLY}", "position", values)
    match = " ".join(f'"{word}"' for word in (asked.q or "").replace('"', " ").split()) + "*"
    source = "words join stores on stores.position = words.rowid"
    return _found(asked, source, "words match :match", "words.rowid", {"match": match})


def _within(asked: Search, radius: float) -> _Condition:
    """Return the condition of a circle: in the box about it, and not too far."""
    y, x = map(float, (asked.near or "").split(","))
    high = degrees(radius / _EARTH)
    wide = min(high / max(cos(radians(min(abs(y) + high, 90.0))), 1e-9), 360.0)
    box = {"west": x - wide, "east": x + wide, "south": y - high, "north": y + high}
    values = {**box, "x": x, "y": y, "radius": radius}
    source, where = "places join stores using (position)", f"{_IN_BOX} and {_HAVERSINE} <= :radius"
    condition = _found(asked, source, where, "distance, position", values)
    condition.distance = _HAVERSINE
    return condition


def _found(asked: Search, source: str, where: str, order: str, values: dict[str, Any]) -> _Condition:
    if asked.is_open is None:
        return _Condition(source, where, order, values)
    return _Condition(source, f"{where} and is_open = :is_open", order, {**values, "is_open": asked.is_open})


def _count(connection: sqlite3.Connection, found: _Condition) -> int:
    count = f"select count(*) from {found.source} where {found.where}"  # noqa: S608 - the names are ours, the values bound
    total: int = connection.execute(count, found.values).fetchone()[0]
    return total


def _rows(connection: sqlite3.Connection, found: _Condition, limit: int, first: int) -> list[FoundStore]:
    page = (
        f"select {_STORE}, {found.distance} as distance from {found.source} where {found.where} order by {found.order}"  # noqa: S608 - as above
    )
    rows = connection.execute(f"{page} limit {limit} offset {first}", found.values)
    return [FoundStore(*row) for row in rows]
