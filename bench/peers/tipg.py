"""tipg: PostGIS behind the standard interface to geographic features (OGC API - Features)."""

import csv
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from bench.peers.tables import STORE_FIELDS, read_stores
from bench.wire.contender import Contender, NotInstalled, peer_program, peer_version
from bench.wire.matches import Matches
from bench.wire.servers import Failed
from bench.wire.shapes import Request

_SETTINGS: Final = (
    *("listen_addresses=", "fsync=off", "jit=off", "max_parallel_workers_per_gather=0", "shared_buffers=512MB"),
    "log_min_messages=error",
)
_COLUMNS: Final = ", ".join(f"{name} {'boolean' if name == 'is_open' else 'text'}" for name in STORE_FIELDS)
# In the single-user mode of PostgreSQL each line is a command.
_STATEMENTS: Final = f"""\
create extension postgis;
create table stores (position integer primary key, {_COLUMNS}, geom geometry(Point, 4326));
copy stores from '{{file}}' with (format csv);
create index stores_geom on stores using gist (geom);
vacuum (freeze, analyze) stores;
"""
_UVICORN: Final = "tipg.main:app --loop uvloop --http httptools --no-access-log --log-level warning"
_SCHEMAS: Final = ("TIPG_DB_SCHEMAS", "TIPG_DB_EXCLUDE_FUNCTION_SCHEMAS")
_ENVIRONMENT: Final = ("TIPG_CATALOG_TTL=0", *(f'{name}=["public"]' for name in _SCHEMAS))
# Start PostgreSQL, serve once it listens, stop both.
_SCRIPT: Final = """\
{postgres} & database=$!
until [ -S {socket} ]; do kill -0 $database || exit; sleep 0.05; done
"$0" "$@" & server=$!
trap 'kill $server; kill -INT $database; wait' TERM
wait
"""


def tipg(data: Path, work: Path) -> Contender:
    """Return tipg with a database, created if missing. Raises `NotInstalled`, `Failed`."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/lib/postgis-3.so"))
    if not found:
        raise NotInstalled("PostGIS is not installed: on Debian `apt-get install postgresql-15-postgis-3`")
    programs, folder = found[-1].parents[1] / "bin", work / "postgis"
    control = Path(f"/usr/share/postgresql/{programs.parent.name}/extension/postgis.control").read_text("utf-8")
    postgis = control.partition("default_version = '")[2].partition("'")[0]
    versions = f"PostgreSQL {programs.parent.name}, PostGIS {postgis}, uvicorn {peer_version('uvicorn')}"
    if not folder.exists():
        _create(programs, folder, data)
    uvicorn = [peer_program("uvicorn"), *_UVICORN.split(), "--port"]
    url = f"DATABASE_URL=postgresql://bench@{quote(str(folder), safe='')}/postgres"
    settings = [word for setting in (*_SETTINGS, f"unix_socket_directories={folder}") for word in ("-c", setting)]
    postgres = shlex.join([*_owner(), str(programs / "postgres"), "-D", str(folder), *settings])
    script = _SCRIPT.format(postgres=postgres, socket=shlex.quote(f"{folder}/.s.PGSQL.5432"))
    return Contender(
        name="PostGIS with tipg",
        version=f"{peer_version('tipg')}, {versions}",
        command=lambda port: ["env", url, *_ENVIRONMENT, "sh", "-c", script, *uvicorn, str(port)],
        ready="/collections/public.stores",
        targets=lambda shape: list(map(_items, shape.requests)),
        notes="One uvicorn worker with uvloop and httptools, and PostgreSQL on the same core; the database is created "
        "in advance. GeoJSON with the number of matches, in the default order; no keys.",
        only=("box",),
        min_rates={"box": 10},
        read_matches=_matches,
    )


def _create(programs: Path, folder: Path, data: Path) -> None:
    """Create the database of a data set. Raises `Failed`."""
    partial, file = folder.with_suffix(".part"), folder.with_suffix(".csv")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    if os.getuid() == 0:
        shutil.chown(partial, "postgres")
    with file.open("w", encoding="utf-8", newline="") as output:
        for store in read_stores(data):
            point = store["longitude"] and f"SRID=4326;POINT({store['longitude']} {store['latitude']})"
            csv.writer(output).writerow([store["position"], *(store.get(name) for name in STORE_FIELDS), point])
    options = ["--username=bench", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
    _run([str(programs / "initdb"), "-D", str(partial), *options])
    single = [str(programs / "postgres"), "--single", "-D", str(partial), "postgres"]
    _run(single, _STATEMENTS.format(file=file))
    file.unlink()
    partial.rename(folder)


def _run(command: list[str], statements: str = "") -> None:
    run = subprocess.run([*_owner(), *command], check=False, input=statements, text=True, capture_output=True)  # noqa: S603 - our own
    if run.returncode or "ERROR:" in run.stderr:  # the single-user mode continues after errors
        raise Failed(f"{' '.join(command)} fails: {run.stderr[-500:]}")


def _owner() -> list[str]:
    """Return the start of a command line that runs the rest as postgres instead of root, as PostgreSQL requires."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] if os.getuid() == 0 else []


def _items(request: Request) -> str:
    params = {name: value for name, value in request.params if name in {"bbox", "is_open", "limit"}}
    return f"/collections/public.stores/items?{urlencode(params)}"


class _Properties(msgspec.Struct):
    store_id: str


class _Feature(msgspec.Struct):
    properties: _Properties


class _Collection(msgspec.Struct, rename="camel"):
    features: list[_Feature]
    number_matched: int


def _matches(body: bytes) -> Matches:
    found = msgspec.json.decode(body, type=_Collection)
    return Matches([feature.properties.store_id for feature in found.features], found.number_matched)
