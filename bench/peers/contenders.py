"""What the service is compared with: the bare aiohttp application and the floors, nginx, ROAPI, FastAPI with SQLite."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import aiohttp
import orjson

from bench.load import Workload
from bench.peers.tables import COMPANY_FIELDS, make_database, read_stores
from bench.servers import CELL, HOME, HOST, Contender, Failed, Server, Unsupported, same_targets
from bench.shapes import COMPANY_PATH, STORES_PATH, Request, Shape

# The environment of the peers, separate from that of the project.
_PEERS: Final = HOME / "peers"
_OK: Final = 200
# The limits per shape of what is recorded: more than the processor's cache, and as many as show the sizes.
_MAX_BYTES: Final = 64 << 20
_MAX_RESPONSES: Final = 4000
_SEARCHED: Final = ("radius", "nearest", "box", "words")
_NGINX: Final = """\
daemon off;
worker_processes 1;
pid {work}/nginx.pid;
user {user};
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=10000 inactive=600s;
    open_file_cache_valid 600s;
    default_type application/json;
    {temporary}
    server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""
_MODULES: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def record(server: Server, shape: Shape, work: Path) -> list[int]:
    """Send the first requests of a shape to the service once each; write the bodies and their kind; return the sizes.

    Raises `Failed` if a response has another status or content coding than the shape.
    """
    folder = work / "responses" / shape.slug
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    workload, sizes, media_type = Workload.of(shape, server), list[int](), ""
    for number, target in enumerate(workload.targets):
        response = workload.fetch(target)
        media_type = response.media_type
        sizes.append(len(response.body))
        (folder / f"{number:05}").write_bytes(response.body)
        if sum(sizes) > _MAX_BYTES or len(sizes) == _MAX_RESPONSES:
            break
    path = shape.requests[0].path
    route = f"{COMPANY_PATH}{{company_id}}" if path.startswith(COMPANY_PATH) else path
    fields = {"Content-Type": media_type, "Content-Encoding": shape.coding}
    present = {name: value for name, value in fields.items() if value}
    recorded = {"route": route, "status": shape.status, "fields": present, "sizes": sizes}
    folder.with_suffix(".json").write_text(json.dumps(recorded))
    return sizes


def floor(name: str, shape: Shape, work: Path) -> Contender:
    """Return what sends bytes of the sizes that were recorded: `bare` or `bytes`."""
    command, file = [sys.executable, "-m", "bench.peers.floors", name], str(work / "responses" / f"{shape.slug}.json")
    version = aiohttp.__version__ if name == "bare" else importlib.metadata.version("uvloop")
    return Contender(name, version, lambda port: [*command, str(port), file], ready=shape.requests[0].target)


def nginx(_: Path, work: Path) -> Contender:
    """Return nginx over the service's own responses, byte for byte, as files. Raises `Failed`."""
    program, root = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin"), work / "responses"
    if program is None:
        raise Failed("nginx is not installed: on Debian `apt-get install nginx-light`")
    version = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr  # noqa: S603 - found above
    temporary = " ".join(f"{module}_temp_path {work}/nginx-{module};" for module in _MODULES)

    def command(port: int) -> list[str]:
        text = _NGINX.format(work=work, root=root, port=port, user=root.owner(), temporary=temporary)
        (work / "nginx.conf").write_text(text, "utf-8")
        return [program, "-e", str(work / "nginx-errors.log"), "-c", str(work / "nginx.conf")]

    def targets(shape: Shape) -> list[str]:
        if shape.status != _OK:
            raise Unsupported("it sends files, all with status 200")
        if shape.is_located:
            raise Unsupported("its files would be like those of the other pages of 50 records")
        return [f"/{shape.slug}/{file.name}" for file in sorted((root / shape.slug).iterdir())]

    return Contender(
        name="nginx",
        version=version.rpartition("/")[2].strip(),
        command=command,
        ready="/",
        targets=targets,
        notes="Sends prepared responses, up to 64 MiB per shape: it neither searches nor authenticates.",
    )


def fastapi(data: Path, work: Path) -> Contender:
    """Return the FastAPI program over an SQLite file, created if missing. Raises `Failed`."""
    version = f"{_version('fastapi')}, uvicorn {_version('uvicorn')}"
    program, file = _program("python"), make_database(work / "stores.db", data)

    def targets(shape: Shape) -> list[str]:
        if shape.is_located and shape.slug not in _SEARCHED:
            raise Unsupported("it counts no values and draws no maps")
        path = "/places" if shape.is_located else STORES_PATH
        return [target.replace(STORES_PATH, path, 1) for target in same_targets(shape)]

    return Contender(
        name="FastAPI with SQLite",
        version=version,
        command=lambda port: [program, "-m", "bench.peers.fastapi_app", str(port), str(file)],
        ready="/ready",
        targets=targets,
        notes="One uvicorn worker with uvloop and httptools. Ignores the case of ASCII letters only; has only the "
        "filters and orders that the shapes use. Places and words use an R*Tree and FTS5. The database is created in "
        "advance, so its loading time is not comparable.",
    )


def roapi(data: Path, work: Path) -> Contender:
    """Return ROAPI over a data set of JSON files. Raises `Failed`."""
    program, configuration = _program("roapi"), work / "roapi.yml"
    flagged = ({**store, "is_open": str(store["is_open"]).lower()} for store in read_stores(data))
    stores = _written(work / "roapi-stores.json", flagged)
    companies = _written(work / "roapi-companies.json", _roapi_companies(data))
    tables = {
        "tables": [{"name": "stores", "uri": str(stores)}],
        "kvstores": [{"name": "companies", "uri": str(companies), "key": "company_id", "value": "record"}],
    }
    configuration.write_bytes(orjson.dumps(tables))  # JSON is YAML
    ports = ["--addr-postgres", f"{HOST}:0", "--addr-flight-sql", f"{HOST}:0"]
    return Contender(
        name="ROAPI",
        version=_version("roapi"),
        command=lambda port: [program, "--config", str(configuration), "--addr-http", f"{HOST}:{port}", *ports],
        ready="/health",
        targets=_roapi_targets,
        notes="Plain arrays of records: no total_count; matches and sorts by exact spelling; no authentication. Each "
        "request uses the cheapest interface that answers it correctly: companies the key-value store, first pages in "
        "the default order and pages of 1,000 REST, all others SQL.",
    )


PEERS: Final[Mapping[str, Callable[[Path, Path], Contender]]] = {"roapi": roapi, "fastapi": fastapi, "nginx": nginx}


def _program(name: str) -> str:
    """Return the path of a program among the peers' packages. Raises `Failed`."""
    if not (_PEERS / "bin" / name).exists():
        raise Failed(f"{name} is not installed: `make bench` installs bench/peers/requirements.txt")
    return str(_PEERS / "bin" / name)


def _version(package: str) -> str:
    """Return the version of one of the peers' packages. Raises `Failed`."""
    folders = map(str, _PEERS.glob("lib/python*/site-packages"))
    for found in importlib.metadata.distributions(name=package, path=list(folders)):
        return found.version
    raise Failed(f"{package} is not installed: `make bench` installs bench/peers/requirements.txt")


def _roapi_companies(data: Path) -> Iterator[dict[str, Any]]:
    for company in orjson.loads((data / "companies.json").read_bytes()):
        record = {name: company.get(name) for name in COMPANY_FIELDS}
        yield {"company_id": company["company_id"], "record": orjson.dumps(record).decode()}


def _written(file: Path, records: Iterable[dict[str, Any]]) -> Path:
    if not file.exists():
        file.write_bytes(b"[" + b",\n".join(map(orjson.dumps, records)) + b"]\n")
    return file


def _roapi_targets(shape: Shape) -> list[str]:
    if shape.status != _OK:
        raise Unsupported("it has no conditions")
    if shape.is_located:
        raise Unsupported("it has no indexes of places or words")
    if shape.slug == "company":
        return [f"/api/kv/companies/{quote(request.company_id, safe='')}" for request in shape.requests]
    return list(map(_roapi_range if shape.slug == "page" else _roapi_page, shape.requests))


def _roapi_range(request: Request) -> str:
    """Return the page between two positions: an OFFSET would sort the whole table first."""
    limit, page = (int(value) for _, value in request.params)
    last = limit * page
    return f"/api/tables/stores?filter[position]gt={last - limit}&filter[position]lte={last}&sort=position"


def _roapi_page(request: Request) -> str:
    """Return the page of some filters and an order; ties are in the default order."""
    params = dict(request.params)
    limit, number = int(params.pop("limit")), int(params.pop("page_num"))
    by, order = params.pop("sort_by", ""), params.pop("sort_order", "asc")
    filters = {name: value.replace("'", "''") for name, value in params.items()}
    if number == 1 and not by:
        rest = (f"filter[{name}]=%27{quote(value, safe='')}%27" for name, value in filters.items())
        return f"/api/tables/stores?{'&'.join(rest)}&sort=position&limit={limit}"
    column = "updated" if by == "updated_at" else by
    key = f"{column} {order} nulls last, position {order}" if by else "position"
    where = " and ".join(["true", *(f"{name} = '{value}'" for name, value in filters.items())])
    offset = limit * (number - 1)
    sql = f"select * from stores where {where} order by {key} limit {limit} offset {offset}"  # noqa: S608 - our own
    return f"/api/sql{CELL}{sql}"


def found_by(body: bytes) -> tuple[list[str], int]:
    """Return what a page finds: its stores, and how many match."""
    page = orjson.loads(body)
    return [store["store_id"] for store in page["data"]], page["total_count"]
