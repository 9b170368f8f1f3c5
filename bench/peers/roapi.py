"""ROAPI: tables loaded from JSON files, asked the cheapest way that answers rightly: by key, by REST, in SQL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
import orjson

from bench.peers.tables import COMPANY_FIELDS, read_stores
from bench.wire.contender import Cannot, Contender, peer_program, peer_version, with_body
from bench.wire.shapes import Request, Shape

_STORES: Final = "/api/tables/stores"
_COMPANIES: Final = "/api/kv/companies"
_SQL: Final = "/api/sql"
_COLUMNS: Final = {"updated_at": "updated"}


def roapi(data: Path, work: Path) -> Contender:
    """Return ROAPI over a data set of JSON files. Raises `NotInstalled`."""
    program, version = peer_program("roapi"), peer_version("roapi")
    configuration = work / "roapi.yml"
    configuration.write_bytes(orjson.dumps(_configuration(data, work)))  # JSON is YAML
    ports = ["--addr-postgres", "127.0.0.1:0", "--addr-flight-sql", "127.0.0.1:0"]
    return Contender(
        name="ROAPI",
        version=version,
        command=lambda port: [program, "--config", str(configuration), "--addr-http", f"127.0.0.1:{port}", *ports],
        ready="/health",
        targets=_targets,
        notes="Plain arrays of records: no total_count, matches and orders by exact spelling, no keys. REST and "
        "GraphQL know no offset and put missing values first; SQL pages and orders as asked. Each request goes the "
        "cheapest way that answers it rightly: companies by its key-value store, in which they lie encoded, as text; "
        "by REST first pages in the default order, and pages of 1,000 as ranges of a column that numbers that order; "
        "the rest in SQL with LIMIT and OFFSET. REST filters by no boolean, so its copy of the data has is_open as a "
        "text, and beside it the moment of updated_at.",
    )


def roapi_by_offset(data: Path, work: Path) -> Contender:
    """Return the same ROAPI as one pages it where no column numbers the default order. Raises `NotInstalled`."""
    return msgspec.structs.replace(
        roapi(data, work),
        name="ROAPI by OFFSET",
        targets=lambda shape: list(map(_page, shape.requests)),
        notes="The same ROAPI, asked for its pages in SQL with LIMIT and OFFSET, as one does who has no such column.",
        only=("page",),
    )


def _configuration(data: Path, work: Path) -> dict[str, Any]:
    stores = _made(work / "roapi-stores.json", _stores(data))
    companies = _made(work / "roapi-companies.json", _companies(data))
    return {
        "tables": [{"name": "stores", "uri": str(stores)}],
        "kvstores": [{"name": "companies", "uri": str(companies), "key": "company_id", "value": "record"}],
    }


def _stores(data: Path) -> Iterator[dict[str, Any]]:
    for store in read_stores(data):
        yield {**store, "is_open": str(store["is_open"]).lower()}


def _companies(data: Path) -> Iterator[dict[str, Any]]:
    for company in orjson.loads((data / "companies.json").read_bytes()):
        record = {name: company.get(name) for name in COMPANY_FIELDS}
        yield {"company_id": company["company_id"], "record": orjson.dumps(record).decode()}


def _made(file: Path, records: Iterator[dict[str, Any]]) -> Path:
    """Return a file of records, written where there is none."""
    if not file.exists():
        partial = file.with_suffix(".part")
        with partial.open("wb") as output:
            for place, record in enumerate(records):
                output.write(b",\n" if place else b"[\n")
                output.write(orjson.dumps(record))
            output.write(b"\n]\n")
        partial.replace(file)
    return file


def _targets(shape: Shape) -> list[str]:
    if shape.slug == "fault":
        raise Cannot("it has neither these parameters nor 422")
    if shape.slug == "key":
        raise Cannot("it has no keys")
    if shape.locates:
        raise Cannot("it has no indexes of places or words")
    return list(map({"company": _company, "page": _range}.get(shape.slug, _page), shape.requests))


def _company(request: Request) -> str:
    return f"{_COMPANIES}/{quote(request.company_id, safe='')}"


def _range(request: Request) -> str:
    """Return the page between two positions: an OFFSET would sort the whole table first."""
    limit, page = (int(value) for _, value in request.params)
    last = limit * page
    return f"{_STORES}?filter[position]gt={last - limit}&filter[position]lte={last}&sort=position"


def _page(request: Request) -> str:
    """Return the page of some filters and an order; ties are in the default order."""
    params = dict(request.params)
    limit, number = int(params.pop("limit")), int(params.pop("page_num"))
    by, order = params.pop("sort_by", ""), params.pop("sort_order", "asc")
    if number == 1 and not by:
        filters = [_filter(name, value) for name, value in params.items()]
        return f"{_STORES}?{'&'.join(filters)}&sort=position&limit={limit}"
    key = f"{_COLUMNS.get(by, by)} {order} nulls last, position {order}" if by else "position"
    conditions = [f"{name} = '{_doubled(value)}'" for name, value in params.items()]
    where = f"where {' and '.join(conditions)} " if conditions else ""
    offset = limit * (number - 1)
    return with_body(_SQL, f"select * from stores {where}order by {key} limit {limit} offset {offset}")  # noqa: S608 - our own


def _filter(name: str, value: str) -> str:
    return f"filter[{name}]=%27{quote(_doubled(value), safe='')}%27"


def _doubled(value: str) -> str:
    return value.replace("'", "''")
