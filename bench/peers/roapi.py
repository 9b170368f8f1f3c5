"""ROAPI: tables loaded from JSON files, asked through its REST interface, or in SQL where that cannot say it."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

import orjson

from bench.peers.tables import read_stores
from bench.wire.contender import Cannot, Contender, peer_program, peer_version, with_body
from bench.wire.shapes import Request, Shape

_TABLES: Final = "/api/tables"
_SQL: Final = "/api/sql"
_COLUMNS: Final = {"updated_at": "updated"}


def roapi(data: Path, work: Path) -> Contender:
    """Return ROAPI over a data set of JSON files. Raises `NotInstalled`."""
    program, version = peer_program("roapi"), peer_version("roapi")
    stores = _converted(data, work / "roapi-stores.json")
    tables = ["-t", f"stores={stores}", "-t", f"companies={data / 'companies.json'}"]
    others = ["--addr-postgres", "127.0.0.1:0", "--addr-flight-sql", "127.0.0.1:0"]
    return Contender(
        name="ROAPI",
        version=version,
        command=lambda port: [program, "--addr-http", f"127.0.0.1:{port}", *others, *tables],
        ready="/health",
        targets=_targets,
        notes="Plain arrays of records: no total_count, matches and orders by exact spelling, no keys. REST and "
        "GraphQL know no offset and put missing values first; SQL pages and orders as asked. Each request goes the "
        "cheapest way that answers it rightly: by REST for companies, first pages in the default order, and pages of "
        "1,000 as ranges of a column that numbers that order; in SQL with LIMIT and OFFSET for the rest. REST filters "
        "by no boolean, so its copy of the data has is_open as a text, and beside it the moment of updated_at.",
    )


def _converted(data: Path, copy: Path) -> Path:
    if not copy.exists():
        partial = copy.with_suffix(".part")
        with partial.open("wb") as output:
            for place, store in enumerate(read_stores(data)):
                output.write(b",\n" if place else b"[\n")
                output.write(orjson.dumps({**store, "is_open": str(store["is_open"]).lower()}))
            output.write(b"\n]\n")
        partial.replace(copy)
    return copy


def _targets(shape: Shape) -> list[str]:
    if shape.slug == "fault":
        raise Cannot("it has neither these parameters nor 422")
    if shape.slug == "key":
        raise Cannot("it has no keys")
    return list(map({"company": _company, "page": _range}.get(shape.slug, _page), shape.requests))


def _company(request: Request) -> str:
    return f"{_TABLES}/companies?{_filter('company_id', request.company_id)}"


def _range(request: Request) -> str:
    """Return the page between two positions: an OFFSET would sort the whole table first."""
    limit, page = (int(value) for _, value in request.params)
    last = limit * page
    return f"{_TABLES}/stores?filter[position]gt={last - limit}&filter[position]lte={last}&sort=position"


def _page(request: Request) -> str:
    """Return the page of some filters and an order; ties are in the default order."""
    params = dict(request.params)
    limit, number = int(params.pop("limit")), int(params.pop("page_num"))
    by, order = params.pop("sort_by", ""), params.pop("sort_order", "asc")
    if number == 1 and not by:
        filters = [_filter(name, value) for name, value in params.items()]
        return f"{_TABLES}/stores?{'&'.join(filters)}&sort=position&limit={limit}"
    key = f"{_COLUMNS.get(by, by)} {order} nulls last, position {order}" if by else "position"
    where = " and ".join(f"{name} = '{_doubled(value)}'" for name, value in params.items())
    offset = limit * (number - 1)
    return with_body(_SQL, f"select * from stores where {where} order by {key} limit {limit} offset {offset}")  # noqa: S608 - our own


def _filter(name: str, value: str) -> str:
    return f"filter[{name}]=%27{quote(_doubled(value), safe='')}%27"


def _doubled(value: str) -> str:
    return value.replace("'", "''")
