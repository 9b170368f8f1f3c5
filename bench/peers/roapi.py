"""ROAPI: tables loaded from JSON files; each request uses the cheapest interface that answers it correctly."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson

from bench.peers.tables import COMPANY_FIELDS, read_stores
from bench.wire.contender import Contender, Unsupported, peer_program, peer_version, with_body
from bench.wire.shapes import Request, Shape

_STORES: Final = "/api/tables/stores"
_COLUMNS: Final = {"updated_at": "updated"}


def roapi(data: Path, work: Path) -> Contender:
    """Return ROAPI over a data set of JSON files. Raises `NotInstalled`."""
    program, version = peer_program("roapi"), peer_version("roapi")
    configuration = work / "roapi.yml"
    stores = _written(work / "roapi-stores.json", _stores(data))
    companies = _written(work / "roapi-companies.json", _companies(data))
    tables = {
        "tables": [{"name": "stores", "uri": str(stores)}],
        "kvstores": [{"name": "companies", "uri": str(companies), "key": "company_id", "value": "record"}],
    }
    configuration.write_bytes(orjson.dumps(tables))  # JSON is YAML
    ports = ["--addr-postgres", "127.0.0.1:0", "--addr-flight-sql", "127.0.0.1:0"]
    return Contender(
        name="ROAPI",
        version=version,
        command=lambda port: [program, "--config", str(configuration), "--addr-http", f"127.0.0.1:{port}", *ports],
        ready="/health",
        targets=_targets,
        notes="Plain arrays of records: no total_count; matches and sorts by exact spelling; no authentication. REST "
        "has no offset and sorts missing values first; SQL pages and sorts like the service. Each request uses the "
        "cheapest interface that answers it correctly: companies its key-value store, which holds them encoded; first "
        "pages in the default order REST; pages of 1,000 REST, as ranges of a column that numbers that order; all "
        "others SQL with LIMIT and OFFSET. REST cannot filter by booleans, so is_open is text in its copy of the data.",
    )


def _stores(data: Path) -> Iterator[dict[str, Any]]:
    return ({**store, "is_open": str(store["is_open"]).lower()} for store in read_stores(data))


def _companies(data: Path) -> Iterator[dict[str, Any]]:
    for company in orjson.loads((data / "companies.json").read_bytes()):
        record = {name: company.get(name) for name in COMPANY_FIELDS}
        yield {"company_id": company["company_id"], "record": orjson.dumps(record).decode()}


def _written(file: Path, records: Iterable[dict[str, Any]]) -> Path:
    if not file.exists():
        file.write_bytes(b"[" + b",\n".join(map(orjson.dumps, records)) + b"]\n")
    return file


def _targets(shape: Shape) -> list[str]:
    if shape.status != 200:  # noqa: PLR2004 - OK
        raise Unsupported("it has neither these parameters nor keys")
    if shape.is_located:
        raise Unsupported("it has no indexes of places or words")
    return list(map({"company": _company, "page": _range}.get(shape.slug, _page), shape.requests))


def _company(request: Request) -> str:
    return f"/api/kv/companies/{quote(request.company_id, safe='')}"


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
    filters = {name: value.replace("'", "''") for name, value in params.items()}
    if number == 1 and not by:
        rest = (f"filter[{name}]=%27{quote(value, safe='')}%27" for name, value in filters.items())
        return f"{_STORES}?{'&'.join(rest)}&sort=position&limit={limit}"
    key = f"{_COLUMNS.get(by, by)} {order} nulls last, position {order}" if by else "position"
    where = " and ".join(["true", *(f"{name} = '{value}'" for name, value in filters.items())])
    offset = limit * (number - 1)
    sql = f"select * from stores where {where} order by {key} limit {limit} offset {offset}"  # noqa: S608 - our own
    return with_body("/api/sql", sql)
