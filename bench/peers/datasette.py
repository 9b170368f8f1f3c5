"""Datasette: the data set in an SQLite file, asked through its JSON interface."""

from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from bench.peers.tables import STORE_FIELDS, make_database
from bench.wire.contender import Cannot, Contender, peer_program, peer_version
from bench.wire.shapes import Request, Shape

_DATABASE: Final = "directory"
_SETTINGS: Final = ("max_returned_rows 1000", "facet_time_limit_ms 200", "suggest_facets off", "allow_download off")


def datasette(data: Path, work: Path) -> Contender:
    """Return Datasette over an SQLite file, made where there is none. Raises `NotInstalled`."""
    program, version = peer_program("datasette"), peer_version("datasette")
    file = make_database(work / f"{_DATABASE}.db", data)
    settings = [word for setting in _SETTINGS for word in ("--setting", *setting.split())]
    return Contender(
        name="Datasette",
        version=version,
        command=lambda port: [program, "serve", "--immutable", str(file), "--port", str(port), *settings],
        ready="/-/versions.json",
        targets=_targets,
        notes="The SQLite file is made beforehand, so its loading is no measure. City and 1,000-record pages through "
        "the table's own JSON; sorted pages as SQL in the address, as its table has no page numbers. No keys.",
    )


def _targets(shape: Shape) -> list[str]:
    if shape.slug == "fault":
        raise Cannot("it has neither these parameters nor 422")
    if shape.slug == "key":
        raise Cannot("it has no keys of its own")
    if shape.locates:
        raise Cannot("its file here has no indexes of places or words")
    write = {"company": _company, "page": _page}.get(shape.slug, _select)
    return [f"/{_DATABASE}{write(request)}" for request in shape.requests]


def _company(request: Request) -> str:
    # Its own escape: "~" and hexadecimal digits for what is not a letter, digit, "_" or "-".
    name = quote(request.company_id, safe="").replace(".", "%2E").replace("~", "%7E").replace("%", "~")
    return f"/companies/{name}.json?_shape=objects"


def _page(request: Request) -> str:
    """Return the page behind a row: rows are numbered from 1 in the default order."""
    limit, page = (int(value) for _, value in request.params)
    behind = limit * (page - 1)
    return f"/stores.json?_shape=objects&_nocol=updated&_size={limit}" + (f"&_next={behind}" if behind else "")


def _select(request: Request) -> str:
    params = dict(request.params)
    limit = int(params.pop("limit"))
    offset = limit * (int(params.pop("page_num")) - 1)
    order, direction = params.pop("sort_by", ""), params.pop("sort_order", "asc")
    column = "updated" if order == "updated_at" else order
    key = f"{column} {direction} nulls last, position {direction}" if order else "position"
    values = {name: {"true": "1"}.get(value, value) for name, value in params.items()}
    where = " and ".join(f"{name} = :{name}" for name in values)
    sql = f"select {', '.join(STORE_FIELDS)} from stores where {where} order by {key} limit {limit} offset {offset}"  # noqa: S608 - our names
    return ".json?" + urlencode({"sql": sql, "_shape": "objects", **values})
