"""The records for peers, and an SQLite database of them with the indexes that the shapes need.

The standard library alone: programs in the peers' environment import it.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final


@dataclass(slots=True)
class Store:
    """A store of a response."""

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
    """A company of a response."""

    company_id: str
    name: str
    domain: str | None
    parent_company_id: str | None


STORE_FIELDS: Final = tuple(Store.__annotations__)
COMPANY_FIELDS: Final = tuple(Company.__annotations__)
_IGNORES_CASE: Final = ("name", "address_1", "address_2", "city", "province", "country")
_COLUMNS: Final = ", ".join(f"{name} collate nocase" if name in _IGNORES_CASE else name for name in STORE_FIELDS)
_SCHEMA: Final = f"""
create table stores (position integer primary key, {_COLUMNS}, updated real);
create table companies ({", ".join(COMPANY_FIELDS)}, primary key (company_id)) without rowid;
"""
_WORDS: Final = "name, address_1, address_2, city, province, postal_code, store_id, company, domain"
# The tokenizer splits words at apostrophes; the service deletes them. The data set has only ASCII ones.
_TEXTS: Final = ", ".join(
    f"replace({ {'name': 'stores.name', 'company': 'companies.name'}.get(column, column) }, char(39), '')"
    for column in _WORDS.split(", ")
)
_INDEXES: Final = f"""
create index stores_city on stores (city);
create index stores_city_open on stores (city, is_open);
create index stores_country_name on stores (country, is_open, name);
create index stores_company_updated on stores (company_id, updated);
create virtual table places using rtree (position, west, east, south, north, +latitude real, +longitude real);
insert into places select position, x, x, y, y, y, x from (
    select position, cast(latitude as real) as y, cast(longitude as real) as x from stores where latitude is not null
);
create virtual table words using fts5 (
    {_WORDS}, content = '', columnsize = 0, detail = none, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2'
);
insert into words (rowid, {_WORDS}) select position, {_TEXTS} from stores left join companies using (company_id);
analyze;
"""  # noqa: S608 - our own names


def read_stores(data: Path) -> list[dict[str, Any]]:
    """Return the stores in the default order, with their `position`, from 1, and the timestamp of `updated_at`."""
    stores: list[dict[str, Any]] = json.loads((data / "stores.json").read_bytes())
    stores.sort(key=lambda store: (_timestamp(store.get("created_at"), float("inf")), store["store_id"]))
    for position, store in enumerate(stores, 1):
        store |= {"position": position, "updated": _timestamp(store.get("updated_at"))}
    return stores


def make_database(file: Path, data: Path) -> Path:
    """Return an SQLite file of a data set of JSON files, created if missing."""
    if not file.exists():
        partial = file.with_suffix(".part")
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(partial)) as connection:
            connection.executescript(_SCHEMA)
            _insert(connection, "stores", ("position", *STORE_FIELDS, "updated"), read_stores(data))
            _insert(connection, "companies", COMPANY_FIELDS, json.loads((data / "companies.json").read_bytes()))
            connection.executescript(_INDEXES)
            connection.commit()
        partial.replace(file)
    return file


def _insert(connection: sqlite3.Connection, table: str, names: Iterable[str], records: list[dict[str, Any]]) -> None:
    values = ", ".join(f":{name}" for name in names)
    rows = ({**dict.fromkeys(names), **record} for record in records)
    connection.executemany(f"insert into {table} ({', '.join(names)}) values ({values})", rows)  # noqa: S608 - our own


def _timestamp(text: str | None, missing: float | None = None) -> float | None:
    """Return the seconds since 1970; a time without an offset is in UTC."""
    if text is None:
        return missing
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
