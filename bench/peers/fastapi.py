"""FastAPI over SQLite in memory: the service's interface as one would usually write it."""

from pathlib import Path
from typing import Final

from bench.peers.tables import make_database
from bench.wire.contender import Contender, Unsupported, peer_program, peer_version, same_targets
from bench.wire.matches import matches_of_page
from bench.wire.shapes import STORES_PATH, Shape

_MIN_RATES: Final = dict.fromkeys(("radius", "nearest", "box", "words"), 10.0)


def fastapi(data: Path, work: Path) -> Contender:
    """Return the FastAPI program over an SQLite file, created if missing. Raises `NotInstalled`."""
    version = f"{peer_version('fastapi')}, uvicorn {peer_version('uvicorn')}"
    program, file = peer_program("python"), make_database(work / "stores.db", data)
    return Contender(
        name="FastAPI with SQLite",
        version=version,
        command=lambda port: [program, "-m", "bench.peers.fastapi_app", str(port), str(file)],
        ready="/ready",
        targets=_targets,
        notes="One uvicorn worker with uvloop and httptools. Ignores the case of ASCII letters only; has only the "
        "filters and orders that the shapes use. Places and words have their own path, over an R*Tree and FTS5. The "
        "database is created in advance and read into memory at start-up, so its loading time is not comparable.",
        min_rates=_MIN_RATES,
        read_matches=matches_of_page,
    )


def _targets(shape: Shape) -> list[str]:
    if shape.is_located and shape.slug not in _MIN_RATES:
        raise Unsupported("it counts no values and draws no maps")
    path = "/places" if shape.is_located else STORES_PATH
    return [target.replace(STORES_PATH, path, 1) for target in same_targets(shape)]
