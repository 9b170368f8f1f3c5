"""Redis: the positions of the open stores in a sorted set, queried with GEOSEARCH, which returns identifiers only."""

import os
import shutil
import socket
import subprocess
from http import HTTPStatus
from pathlib import Path
from typing import Final

from bench.peers.redis_load import LINES_PER_MEMBER, encode, is_complete
from bench.peers.tables import read_stores
from bench.wire.contender import Contender, NotInstalled, Response
from bench.wire.matches import Matches
from bench.wire.servers import running
from bench.wire.shapes import Request

_MEMBERS: Final = 500  # of a command
_SECONDS: Final = 60


def redis(data: Path, work: Path) -> Contender:
    """Return Redis with a dump of the stores, created if missing. Raises `NotInstalled`."""
    program = shutil.which("redis-server")
    if program is None:
        raise NotInstalled("Redis is not installed: on Debian `apt-get install redis-server`")
    dump, partial = work / "open-stores.rdb", work / "open-stores.part"
    if not dump.exists():
        partial.unlink(missing_ok=True)
        with running(_contender(program, partial), *os.sched_getaffinity(0)) as server:
            stores = [store for store in read_stores(data) if store["is_open"] and store["longitude"] is not None]
            places = [f"{each['longitude']} {each['latitude']} {each['store_id']}" for each in stores]
            for first in range(0, len(places), _MEMBERS):
                server.fetch(f"GEOADD open {' '.join(places[first : first + _MEMBERS])}")
            server.fetch("SAVE")
        partial.rename(dump)
    return _contender(program, dump)


def _contender(program: str, dump: Path) -> Contender:
    options = ["--bind", "127.0.0.1", "--dir", str(dump.parent), "--dbfilename", dump.name, "--save", ""]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - found above
    return Contender(
        name="Redis",
        version=version.partition("v=")[2].partition(" ")[0],
        command=lambda port: [program, "--port", str(port), *options],
        ready="PING",
        targets=lambda shape: list(map(_search, shape.requests)),
        notes="GEOSEARCH in a sorted set of the open stores, as it has no filters: the identifiers of the nearest 50 "
        "with their distances; no records, no total count, no keys. Its load generator is part of the bench, not wrk.",
        only=("radius",),
        min_rates={"radius": 0.3},
        fetch=fetch,
        load_module="bench.peers.redis_load",
        read_matches=lambda reply: Matches(members(reply), None),
        # Positions are rounded to half a metre: two stores near the edge of a circle or a page may change places.
        tolerance=2,
    )


def _search(request: Request) -> str:
    params = dict(request.params)
    latitude, longitude = params["near"].split(",")
    circle = f"FROMLONLAT {longitude} {latitude} BYRADIUS {params['radius']} m"
    return f"GEOSEARCH open {circle} ASC COUNT {params['limit']} WITHDIST"


def members(reply: bytes) -> list[str]:
    """Return the members of a reply of members with their distances."""
    return [line.decode() for line in reply.split(b"\r\n")[3::LINES_PER_MEMBER]]


def fetch(port: int, command: str, _: str) -> Response:
    """Return the reply to a command, with the status that it would have in HTTP. Raises OSError."""
    reply = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_SECONDS) as connection:
        connection.sendall(encode(command))
        while not is_complete(reply):
            received = connection.recv(1 << 16)
            if not received:
                raise ConnectionResetError("Redis closed the connection within a reply")
            reply += received
    return Response(HTTPStatus.INTERNAL_SERVER_ERROR if reply.startswith(b"-") else HTTPStatus.OK, body=reply)
