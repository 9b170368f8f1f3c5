"""FastAPI over SQLite in memory: the service's interface as one would usually write it."""

from pathlib import Path

from bench.wire.contender import Contender, peer_program, peer_version, same_targets


def fastapi(data: Path) -> Contender:
    """Return the FastAPI program over a data set of JSON files. Raises `NotInstalled`."""
    version = f"{peer_version('fastapi')}, uvicorn {peer_version('uvicorn')}"
    program = peer_program("python")
    return Contender(
        name="FastAPI with SQLite",
        version=version,
        command=lambda port: [program, "-m", "bench.peers.sqlite_app", str(port), str(data)],
        ready="/ready",
        targets=same_targets,
        notes="One uvicorn worker with uvloop and httptools; matches without regard to the case of ASCII letters only; "
        "filters by company_id, city, country and is_open only.",
    )
