"""The FastAPI peer's program: `python -m bench.peers.sqlite_app PORT DIR`, in the peers' environment.

Handlers are coroutines that ask SQLite directly: the data is in memory, and a thread for each answer would cost more.
"""

import secrets
import sqlite3
import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import uvicorn  # type: ignore[import-not-found]
from fastapi import Depends, FastAPI, HTTPException, Query, Security
from fastapi.security import APIKeyHeader

from bench.peers.tables import COMPANY_FIELDS, STORE_FIELDS, fill

_KEY: Final = "bench"
_STORE: Final = ", ".join(STORE_FIELDS)
_COMPANY: Final = ", ".join(COMPANY_FIELDS)

Order = Literal["asc", "desc"]
SortKey = Literal[
    "store_id",
    "company_id",
    "parent_company_id",
    "name",
    "address_1",
    "address_2",
    "city",
    "province",
    "country",
    "postal_code",
    "phone_number",
    "is_open",
    "latitude",
    "longitude",
    "created_at",
    "updated_at",
]


@dataclass(slots=True)
class Store:
    """A store as it is answered."""

    store_id: str
    company_id: str
    parent_company_id: str | None
    name: str | None
    address_1: str
    address_2: str | None
    city: str
    province: str | None
    country: str
    postal_code: str | None
    phone_number: str | None
    is_open: bool
    latitude: str | None
    longitude: str | None
    created_at: str | None
    updated_at: str | None


@dataclass(slots=True)
class Company:
    """A company as it is answered."""

    company_id: str
    name: str
    domain: str | None
    parent_company_id: str | None


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
    app.add_api_route("/companies/{company_id}", company, response_model=Company, dependencies=keyed)
    app.add_api_route("/ready", ready)
    return app


def main() -> None:
    """Load, then serve until stopped."""
    port, data = sys.argv[1:]
    connection = sqlite3.connect(":memory:")
    fill(connection, Path(data))
    app = application(connection)
    uvicorn.run(app, port=int(port), loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
