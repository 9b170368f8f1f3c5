"""A PostGIS database of the stores, created once. PostgreSQL refuses to run as root: another user owns its folder."""

import csv
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from bench.peers.tables import STORE_FIELDS, read_stores
from bench.wire.contender import NotInstalled
from bench.wire.servers import Failed

USER: Final = "bench"
DATABASE: Final = "postgres"
_SYSTEM_USER: Final = "postgres"
_STARTING_SECONDS: Final = 60
_SETTINGS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # it has one core
    "shared_buffers": "512MB",
    "log_min_messages": "error",
}
_DEFAULT: Final = re.compile("^default_version = '(.*)'$", re.MULTILINE)
_TYPES: Final = {"is_open": "boolean"}
_FIELDS: Final = ", ".join(STORE_FIELDS)
_BEFORE: Final = f"""\
create extension postgis;
create table stores (
    position integer primary key, {", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in STORE_FIELDS)},
    geom geometry(Point, 4326)
);
\\copy stores (position, {_FIELDS}, geom) from pstdin with (format csv)
"""
_AFTER: Final = """\
\\.
create index stores_geom on stores using gist (geom);
vacuum (freeze, analyze) stores;
"""


class PostGIS:
    """A PostgreSQL data directory, which also holds the socket."""

    def __init__(self, folder: Path) -> None:
        """Find PostgreSQL with PostGIS. Raises `NotInstalled`."""
        found = sorted(Path("/usr/lib/postgresql").glob("*/lib/postgis-3.so"))
        if not found:
            raise NotInstalled("PostGIS is not installed: on Debian `apt-get install postgresql-15-postgis-3`")
        self.programs = found[-1].parents[1] / "bin"
        self.folder = folder

    @property
    def command(self) -> list[str]:
        """The command that serves it on the socket."""
        settings = {**_SETTINGS, "unix_socket_directories": str(self.folder)}
        options = (word for name, value in settings.items() for word in ("-c", f"{name}={value}"))
        return [*_as_owner(), str(self.programs / "postgres"), "-D", str(self.folder), *options]

    @property
    def version(self) -> str:
        """The versions of PostgreSQL and PostGIS."""
        release = self.programs.parent.name
        control = Path(f"/usr/share/postgresql/{release}/extension/postgis.control").read_text("utf-8")
        return f"PostgreSQL {release}, PostGIS {_DEFAULT.findall(control)[0]}"

    def make(self, data: Path) -> None:
        """Create the database of a data set. Raises `Failed`."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder, _SYSTEM_USER)
        options = f"--username={USER} --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync".split()
        _run([*_as_owner(), str(self.programs / "initdb"), "-D", str(self.folder), *options])
        with self._running(), self._psql() as into:
            into.write(_BEFORE)
            csv.writer(into, lineterminator="\n").writerows(_rows(data))
            into.write(_AFTER)

    @contextmanager
    def _running(self) -> Iterator[None]:
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
        try:
            until = time.monotonic() + _STARTING_SECONDS
            ready = [str(self.programs / "pg_isready"), "--quiet", "-h", str(self.folder)]
            while subprocess.run(ready, check=False).returncode:  # noqa: S603 - our own
                if process.poll() is not None or time.monotonic() > until:
                    raise Failed("PostgreSQL does not start")
                time.sleep(0.1)
            yield
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            process.wait()

    @contextmanager
    def _psql(self) -> Iterator[IO[str]]:
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-U", USER, DATABASE]
        with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8") as process:  # noqa: S603 - our own
            yield cast("IO[str]", process.stdin)
        if process.returncode:
            raise Failed("psql does not fill the database of PostGIS")


def _as_owner() -> list[str]:
    """Return the start of a command line that runs the rest as a user other than root."""
    user = (f"--reuid={_SYSTEM_USER}", f"--regid={_SYSTEM_USER}", "--init-groups")
    return ["setpriv", *user, "--"] if os.getuid() == 0 else []


def _run(command: list[str]) -> None:
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:  # noqa: S603 - our own
        raise Failed(f"{' '.join(command)} fails")


def _rows(data: Path) -> Iterator[list[str | int | None]]:
    for store in read_stores(data):
        longitude, latitude = store["longitude"], store["latitude"]
        point = None if longitude is None else f"SRID=4326;POINT({longitude} {latitude})"
        yield [store["position"], *(store.get(name) for name in STORE_FIELDS), point]
