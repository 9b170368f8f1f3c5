"""The data set as peers take it, and in SQLite with the indexes that the shapes ask for.

The standard library alone: programs in the peers' environment import it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

STORE_FIELDS: Final = (
    *("store_id", "company_id", "parent_company_id", "name", "address_1", "address_2", "city", "province", "country"),
    *("postal_code", "phone_number", "is_open", "latitude", "longitude", "created_at", "updated_at"),
)
COMPANY_FIELDS: Final = ("company_id", "name", "domain", "parent_company_id")

_SCHEMA: Final = """
create table stores (
    position integer primary key,
    store_id text not null,
    company_id text not null,
    parent_company_id text,
    name text collate nocase,
    address_1 text not null collate nocase,
    address_2 text collate nocase,
    city text not null collate nocase,
    province text collate nocase,
    country text not null collate nocase,
    postal_code text,
    phone_number text,
    is_open integer not null,
    latitude text,
    longitude text,
    created_at text,
    updated_at text,
    updated real
);
create table companies (company_id text primary key, name text, domain text, parent_company_id text) without rowid;
"""
_INDEXES: Final = """
create index stores_city on stores (city);
create index stores_city_open on stores (city, is_open);
create index stores_country_name on stores (country, is_open, name);
create index stores_company_updated on stores (company_id, updated);
analyze;
"""


def read_stores(data: Path) -> list[dict[str, Any]]:
    """Return the stores in the default order, each with its `position`, from 1, and the moment it was `updated`."""
    stores: list[dict[str, Any]] = json.loads((data / "stores.json").read_bytes())
    stores.sort(key=lambda store: (_moment(store.get("created_at")), store["store_id"]))
    for position, store in enumerate(stores, 1):
        store["position"] = position
        store["updated"] = _seconds(store.get("updated_at"))
    return stores


def make_database(file: Path, data: Path, *steps: Callable[[sqlite3.Connection], None]) -> Path:
    """Return an SQLite file of a data set of JSON files, made with further steps where there is none."""
    if not file.exists():
        partial = file.with_suffix(".part")
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(partial)) as connection:
            _fill(connection, data)
            for step in steps:
                step(connection)
        partial.replace(file)
    return file


def _fill(connection: sqlite3.Connection, data: Path) -> None:
    connection.executescript(_SCHEMA)
    _insert(connection, "stores", ("position", *STORE_FIELDS, "updated"), read_stores(data))
    _insert(connection, "companies", COMPANY_FIELDS, json.loads((data / "companies.json").read_bytes()))
    connection.executescript(_INDEXES)
    connection.commit()


def _insert(
    connection: sqlite3.Connection, table: str, fields: tuple[str, ...], records: Iterable[dict[str, Any]]
) -> None:
    places = ", ".join("?" * len(fields))
    rows = ([record.get(field) for field in fields] for record in records)
    connection.executemany(f"insert into {table} ({', '.join(fields)}) values ({places})", rows)  # noqa: S608 - our names


def _moment(text: str | None) -> datetime:
    """Return a moment; without an offset it is in UTC, and none at all is behind every other."""
    if text is None:
        return datetime.max.replace(tzinfo=UTC)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seconds(text: str | None) -> float | None:
    return None if text is None else _moment(text).timestamp()
