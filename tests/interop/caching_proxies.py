"""Caches in front of the service: the files of examples/caches, with other ports."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import create_connection
from typing import Final

import msgspec

from tests.interop.software import found, running
from tests.program import SECONDS

EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "caches"
HOST: Final = "127.0.0.1"
# The ports in the files: of the service, and of the cache.
SERVICE_PORT, FRONT_PORT = "8080", "8081"


class CachingProxy(msgspec.Struct, frozen=True):
    """A cache that runs: its kind, where it listens, and the folder in which it works."""

    kind: "CacheKind"
    address: str
    folder: Path

    def purge(self, version: str) -> None:
        """Purge all responses of other versions of the data."""
        self.kind.purge(self.folder, version)


class CacheKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of cache.

    file     its configuration, in examples/caches
    options  how its program is started in a folder, on a port
    purge    removes the responses of other versions from it
    down     the status of its responses if the service is down
    """

    name: str
    program: str
    package: str
    file: str
    options: Callable[[Path, int], Sequence[str | Path]]
    purge: Callable[[Path, str], None]
    down: int

    @contextmanager
    def serving(self, service: str, folder: Path, port: int, *changes: tuple[str, str]) -> Iterator[CachingProxy]:
        """Run it in front of a service, with changes of its file: a text, and what replaces it."""
        ports = ((SERVICE_PORT, service.rpartition(":")[2]), (FRONT_PORT, str(port)))
        configure(EXAMPLES / self.file, folder, *changes, *ports)
        command = [found(self.program, package=self.package), *self.options(folder, port)]
        with running(command, folder.with_suffix(".log"), ready=lambda: answers(port)):
            yield CachingProxy(self, f"http://{HOST}:{port}", folder)


def configure(file: Path, folder: Path, *changes: tuple[str, str]) -> None:
    """Write a configuration into a folder, with changes: a text, and what replaces it."""
    folder.mkdir(exist_ok=True)
    text = file.read_text()
    for here, instead in changes:
        assert here in text, f"{here} is not in {file.name}"
        text = text.replace(here, instead)
    (folder / file.name).write_text(text)


def listens(port: int) -> bool:
    """Return whether a process listens on a port."""
    try:
        create_connection((HOST, port)).close()
    except ConnectionError:
        return False
    return True


def answers(port: int) -> bool:
    """Return whether the cache on a port passes a request to the service and back."""
    connection = HTTPConnection(HOST, port, timeout=SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def nginx_options(folder: Path, _: int) -> Sequence[str | Path]:
    """Return how nginx is started in a folder."""
    # The folder of a test is closed to others: where root starts nginx, its worker has to be root, too.
    return "-e", "stderr", "-p", folder, "-c", "nginx.conf", "-g", f"user {pwd.getpwuid(os.geteuid()).pw_name};"


def _purge_nginx(folder: Path, _: str) -> None:
    for stored in (folder / "stored").iterdir():
        shutil.rmtree(stored)


def _varnish(folder: Path, port: int) -> Sequence[str | Path]:
    # Likewise `-j none`: it keeps running as the user that started it.
    listening = "-a", f"{HOST}:{port}", "-n", folder / "work"
    return "-F", "-j", "none", *listening, "-f", folder / "default.vcl", "-p", "http_gzip_support=off"


def _purge_varnish(folder: Path, version: str) -> None:
    administer(folder, "ban", f"obj.http.X-Dataset-Version != {version}")


def administer(folder: Path, *command: str) -> str:
    """Give a command to the Varnish that works in a folder; return what it says."""
    line: list[str | Path] = [found("varnishadm", package="varnish"), "-n", folder / "work", *command]
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=SECONDS).stdout


NGINX: Final = CacheKind(
    name="nginx",
    program="nginx",
    package="nginx",
    file="nginx.conf",
    options=nginx_options,
    purge=_purge_nginx,
    down=502,
)
VARNISH: Final = CacheKind(
    name="varnish",
    program="varnishd",
    package="varnish",
    file="default.vcl",
    options=_varnish,
    purge=_purge_varnish,
    down=503,
)
