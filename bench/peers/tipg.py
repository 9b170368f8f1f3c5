"""tipg: PostGIS behind the standard interface to features (OGC API - Features)."""

from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import msgspec

from bench.peers.postgis import PostGIS
from bench.wire.contender import Contender, peer_program, peer_version
from bench.wire.finding import Finding
from bench.wire.shapes import Request

_LEAST: Final = 10


class _Properties(msgspec.Struct):
    store_id: str


class _Feature(msgspec.Struct):
    properties: _Properties


class _Collection(msgspec.Struct):
    features: list[_Feature]
    numberMatched: int  # noqa: N815 - the name in JSON


def tipg(data: Path, work: Path) -> Contender:
    """Return tipg with a database, created if missing. Raises `NotInstalled`, `Failed`."""
    program = peer_program("python")
    made, postgis = work / "postgis-made", PostGIS(work / "postgis")
    version = f"{peer_version('tipg')}, {postgis.version}, uvicorn {peer_version('uvicorn')}"
    if not made.exists():
        postgis.make(data)
        made.touch()
    server = [program, "-m", "bench.peers.tipg_app"]
    return Contender(
        name="PostGIS with tipg",
        version=version,
        command=lambda port: [*server, str(port), str(postgis.folder), *postgis.command],
        ready="/collections/public.stores",
        targets=lambda shape: list(map(_items, shape.requests)),
        notes="One uvicorn worker with uvloop and httptools, and PostgreSQL on the same core; the database is made "
        "beforehand. GeoJSON with the number that match, in the default order; no keys.",
        only=("box",),
        least={"box": _LEAST},
        finds=_found,
    )


def _items(request: Request) -> str:
    params = dict(request.params)
    asked = {name: params[name] for name in ("bbox", "is_open", "limit")}
    return f"/collections/public.stores/items?{urlencode(asked)}"


def _found(body: bytes) -> Finding:
    found = msgspec.json.decode(body, type=_Collection)
    return Finding([feature.properties.store_id for feature in found.features], found.numberMatched)
