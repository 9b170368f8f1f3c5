"""The FastAPI peer's program: `python -m bench.peers.sqlite_app PORT FILE`, in the peers' environment.

Handlers are coroutines that ask SQLite directly: the data is in memory, and a thread for each answer would cost more.
"""

import secrets
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, Final

import uvicorn  # type: ignore[import-not-found]
from fastapi import Depends, FastAPI, HTTPException, Query, Security
from fastapi.security import APIKeyHeader

from bench.peers.sqlite_places import search_route
from bench.peers.sqlite_records import Company, Order, Page, SortKey, Store
from bench.peers.tables import COMPANY_FIELDS, STORE_FIELDS

_KEY: Final = "bench"
_STORE: Final = ", ".join(STORE_FIELDS)
_COMPANY: Final = ", ".join(COMPANY_FIELDS)


@dataclass(slots=True)
class Filters:
    """What stores may be filtered by."""

    company_id: str | None = None
    city: str | None = None
    country: str | None = None
    is_open: bool | None = None

    def clause(self) -> tuple[str, list[Any]]:
        """Return the condition in SQL, empty where there is none, and its values."""
        given = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        return "where " + " and ".join(f"{name} = ?" for name in given) if given else "", list(given.values())


@dataclass(slots=True)
class Paging:
    """Which records, in which order."""

    limit: Annotated[int, Query(ge=1, le=1000)] = 1000
    page_num: Annotated[int, Query(ge=1)] = 1
    sort_order: Order = "asc"
    sort_by: SortKey = "created_at"

    def clause(self) -> str:
        """Return the order in SQL; rows are numbered in the default order."""
        if self.sort_by == "created_at":
            return f"order by position {self.sort_order}"
        column = "updated" if self.sort_by == "updated_at" else self.sort_by
        return f"order by {column} {self.sort_order} nulls last, position {self.sort_order}"


def _check_key(key: Annotated[str, Security(APIKeyHeader(name="x-api-key"))]) -> None:
    if not secrets.compare_digest(key.encode(), _KEY.encode()):
        raise HTTPException(401, "The key is not valid", {"WWW-Authenticate": "APIKey"})


def application(connection: sqlite3.Connection) -> Any:
    """Return the application over a filled database."""
    all_stores = connection.execute("select count(*) from stores").fetchone()[0]

    async def stores(filters: Annotated[Filters, Depends()], paging: Annotated[Paging, Depends()]) -> Page:
        where, values = filters.clause()
        count = f"select count(*) from stores {where}"  # noqa: S608 - the names are ours, the values bound
        total = connection.execute(count, values).fetchone()[0] if where else all_stores
        page = f"select {_STORE} from stores {where} {paging.clause()} limit ? offset ?"  # noqa: S608 - as above
        rows = connection.execute(page, [*values, paging.limit, paging.limit * (paging.page_num - 1)])
        return Page(
            limit=paging.limit,
            num_pages=ceil(total / paging.limit),
            page_num=paging.page_num,
            sort_order=paging.sort_order,
            sort_by=paging.sort_by,
            total_count=total,
            data=[Store(*row) for row in rows],
        )

    async def company(company_id: str) -> Company:
        found = f"select {_COMPANY} from companies where company_id = ?"  # noqa: S608 - the names are ours
        row = connection.execute(found, [company_id]).fetchone()
        if row is None:
            raise HTTPException(404, "There is no such company")
        return Company(*row)

    async def ready() -> dict[str, str]:
        return {"status": "ready"}

    app = FastAPI()
    keyed = [Depends(_check_key)]
    app.add_api_route("/stores", stores, response_model=Page, dependencies=keyed)
    app.add_api_route("/places", search_route(connection), dependencies=keyed)
    app.add_api_route("/companies/{company_id}", company, response_model=Company, dependencies=keyed)
    app.add_api_route("/ready", ready)
    return app


def main() -> None:
    """Load, then serve until stopped."""
    port, file = sys.argv[1:]
    connection = sqlite3.connect(":memory:")
    with closing(sqlite3.connect(file)) as made:
        made.backup(connection)
    app = application(connection)
    uvicorn.run(app, port=int(port), loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
