"""ROAPI: tables loaded from JSON files, asked through its REST interface."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

import orjson

from bench.peers.tables import read_stores
from bench.wire.contender import Cannot, Contender, peer_program, peer_version
from bench.wire.shapes import Request, Shape

_TABLES: Final = "/api/tables"


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
        notes="Plain arrays of records: no total_count, matching by exact spelling, no keys. Its REST interface has no "
        "pages and filters by no boolean, so its copy of the data has is_open as a text and two columns of numbers: "
        "the moment of updated_at, and the place in the default order, a range of which is its 1,000-record page. On "
        "the other shapes it is asked for the first page, the least work.",
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
        raise Cannot("its REST interface has neither these parameters nor 422")
    if shape.slug == "key":
        raise Cannot("its REST interface has no keys")
    if shape.slug == "company":
        return [f"{_TABLES}/companies?{_filter('company_id', request.company_id)}" for request in shape.requests]
    question = _page if shape.slug == "page" else _first_page
    return [f"{_TABLES}/stores?{question(request)}" for request in shape.requests]


def _page(request: Request) -> str:
    """Return the page between two positions."""
    limit, page = (int(value) for _, value in request.params)
    last = limit * page
    return f"filter[position]gt={last - limit}&filter[position]lte={last}&sort=position"


def _first_page(request: Request) -> str:
    params = dict(request.params)
    limit = params.pop("limit")
    del params["page_num"]
    minus = "-" if params.pop("sort_order", "asc") == "desc" else ""
    order = params.pop("sort_by", "position")
    sort = minus + {"updated_at": "updated"}.get(order, order)
    return "&".join([*(_filter(name, value) for name, value in params.items()), f"sort={sort}", f"limit={limit}"])


def _filter(name: str, value: str) -> str:
    text = value.replace("'", "''")
    return f"filter[{name}]=%27{quote(text, safe='')}%27"
