"""FastAPI over SQLite in memory: the service's interface as one would usually write it."""

from pathlib import Path
from typing import Final

from bench.peers.sqlite_indexes import add_indexes
from bench.peers.tables import make_database
from bench.wire.contender import Cannot, Contender, peer_program, peer_version, same_targets
from bench.wire.finding import on_page
from bench.wire.shapes import STORES_PATH, Shape

_SEARCHES: Final = ("radius", "nearest", "box", "words")
_LEAST: Final = 10


def fastapi(data: Path, work: Path) -> Contender:
    """Return the FastAPI program over an SQLite file, made where there is none. Raises `NotInstalled`."""
    version = f"{peer_version('fastapi')}, uvicorn {peer_version('uvicorn')}"
    program = peer_program("python")
    file = make_database(work / "places.db", data, add_indexes)
    return Contender(
        name="FastAPI with SQLite",
        version=version,
        command=lambda port: [program, "-m", "bench.peers.sqlite_app", str(port), str(file)],
        ready="/ready",
        targets=_targets,
        notes="One uvicorn worker with uvloop and httptools; matches without regard to the case of ASCII letters only; "
        "filters by company_id, city, country and is_open only. Places and words have a path of "
        "their own, over an R*Tree and FTS5, and filter by is_open only. The database is made beforehand and read into "
        "memory at the start, so its loading is no measure.",
        least=dict.fromkeys(_SEARCHES, _LEAST),
        finds=on_page,
    )


def _targets(shape: Shape) -> list[str]:
    if not shape.locates:
        return same_targets(shape)
    if shape.slug not in _SEARCHES:
        raise Cannot("it counts no values and makes no maps")
    return [target.replace(STORES_PATH, "/places", 1) for target in same_targets(shape)]
