"""Redis: the positions of the open stores in a sorted set, queried with GEOSEARCH, which returns identifiers only."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from bench.peers.tables import read_stores
from bench.wire.contender import Contender, NotInstalled, Protocol
from bench.wire.finding import Finding
from bench.wire.resp import members
from bench.wire.servers import running
from bench.wire.shapes import Request, Shape

_DUMP: Final = "open-stores.rdb"
_KEY: Final = "open"
# Positions are rounded to half a metre: two stores near the edge of a circle or a page may change places.
_UNLIKE: Final = 2
_MEMBERS: Final = 500  # of a command
_LEAST: Final = 0.3


def redis(data: Path, work: Path) -> Contender:
    """Return Redis with a dump of the stores, created if missing. Raises `NotInstalled`."""
    program = shutil.which("redis-server")
    if program is None:
        raise NotInstalled("Redis is not installed: on Debian `apt-get install redis-server`")
    if not (work / _DUMP).exists():
        _make_dump(program, data, work)
    return _contender(program, work, _DUMP)


def _contender(program: str, folder: Path, dump: str) -> Contender:
    options = ["--bind", "127.0.0.1", "--dir", str(folder), "--dbfilename", dump, "--save", "", "--appendonly", "no"]
    return Contender(
        name="Redis",
        version=_version(program),
        command=lambda port: [program, "--port", str(port), *options],
        ready="PING",
        targets=_targets,
        notes="GEOSEARCH in a sorted set of the open stores, as it has no filters: the identifiers of the nearest 50 "
        "with their distances, no records, no total count, no keys. Its load is a client of the bench, not wrk.",
        only=("radius",),
        least={"radius": _LEAST},
        protocol=Protocol.RESP,
        finds=lambda reply: Finding(members(reply), None),
        unlike=_UNLIKE,
    )


def _make_dump(program: str, data: Path, work: Path) -> None:
    partial = Path(_DUMP).with_suffix(".part")
    (work / partial).unlink(missing_ok=True)
    with running(_contender(program, work, partial.name), *os.sched_getaffinity(0)) as server:
        every = _open_stores(data)
        while some := list(islice(every, _MEMBERS)):
            server.ask(f"GEOADD {_KEY} {' '.join(some)}", "")
        server.ask("SAVE", "")
    (work / partial).rename(work / _DUMP)


def _open_stores(data: Path) -> Iterator[str]:
    """Yield longitude, latitude and identifier of each open store that has a position."""
    for store in read_stores(data):
        if store["is_open"] and store["longitude"] is not None:
            yield f"{store['longitude']} {store['latitude']} {store['store_id']}"


def _targets(shape: Shape) -> list[str]:
    return list(map(_search, shape.requests))


def _search(request: Request) -> str:
    params = dict(request.params)
    latitude, longitude = params["near"].split(",")
    place = f"FROMLONLAT {longitude} {latitude} BYRADIUS {params['radius']} m"
    return f"GEOSEARCH {_KEY} {place} ASC COUNT {params['limit']} WITHDIST"


def _version(program: str) -> str:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)  # noqa: S603 - found above
    return version.stdout.partition("v=")[2].partition(" ")[0]
