"""The tipg peer's program: `python -m bench.peers.tipg_app PORT FOLDER COMMAND…`, in the peers' environment.

It starts PostgreSQL with the command and serves its table of stores until stopped. FOLDER has the socket.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep
from urllib.parse import quote

import uvicorn  # type: ignore[import-not-found]

_SOCKET = ".s.PGSQL.5432"


def main() -> None:
    """Start PostgreSQL, serve, stop it."""
    port, folder, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    database = subprocess.Popen(command)  # noqa: S603 - from the bench
    try:
        while database.poll() is None and not Path(folder, _SOCKET).exists():
            sleep(0.01)
        _serve(int(port), folder)
    finally:
        database.send_signal(signal.SIGINT)  # a fast shutdown
        database.wait()


def _serve(port: int, folder: str) -> None:
    os.environ |= {
        "DATABASE_URL": f"postgresql://bench@{quote(folder, safe='')}/postgres",
        "TIPG_CATALOG_TTL": "0",
        "TIPG_DB_SCHEMAS": '["public"]',
        "TIPG_DB_EXCLUDE_FUNCTION_SCHEMAS": '["public"]',
    }
    uvicorn.run("tipg.main:app", port=port, loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
