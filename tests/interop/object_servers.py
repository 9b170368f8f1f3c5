"""Real servers that speak S3, on loopback, for the time of a test."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import msgspec
import pytest

from service.publishing.object_store import ObjectUrl, upload
from service.publishing.source import Unavailable
from tests.interop.software import installed, running
from tests.program import eventually
from tests.publishing.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, set_variables

READER: Final = ("hush-reader", "hush-reader-secret")
Ports = Callable[[], int]


class ObjectServer(msgspec.Struct, frozen=True):
    """How a server is run: its command at a port, with a folder of its own, and whether its bucket must be made."""

    name: str
    command: Callable[[Path, int, Ports], list[str | Path]]
    makes_bucket: bool = False


def _seaweedfs(folder: Path, port: int, ports: Ports) -> list[str | Path]:
    # Each port by itself: those that follow from others may be taken.
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    chosen = [f"-{name}={ports()}" for name in (*names, "s3.port.grpc")]
    identities = [
        {"name": "all", "credentials": [_pair(ACCESS_KEY, SECRET_KEY)], "actions": ["Admin", "Read", "List", "Write"]},
        {"name": "reader", "credentials": [_pair(*READER)], "actions": ["Read"]},
    ]
    (config := folder / "s3.json").write_text(json.dumps({"identities": identities}))
    sockets = [f"-{name}.localSocket={folder / name}.sock" for name in ("s3", "filer")]
    off = ("-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64")
    where = ("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}", f"-s3.port={port}", f"-s3.config={config}")
    return [installed("weed"), "server", "-filer", "-s3", *where, *chosen, *sockets, *off]


def _pair(access_key: str, secret_key: str) -> dict[str, str]:
    return {"accessKey": access_key, "secretKey": secret_key}


def _rclone(folder: Path, port: int, _: Ports) -> list[str | Path]:
    (folder / BUCKET).mkdir()
    address = ("--addr", f"127.0.0.1:{port}", "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}")
    return [installed("rclone"), "serve", "s3", "--config", folder / "none", *address, folder]


def _moto(_: Path, port: int, __: Ports) -> list[str | Path]:
    return [installed("moto_server"), "-H", "127.0.0.1", "-p", str(port)]


SEAWEEDFS: Final = ObjectServer("seaweedfs", _seaweedfs)
RCLONE: Final = ObjectServer("rclone", _rclone)
MOTO: Final = ObjectServer("moto", _moto, makes_bucket=True)


@contextmanager
def object_server(kind: ObjectServer, folder: Path, ports: Ports, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a server with a bucket, and set the variables with which it is found."""
    folder.mkdir()
    port = ports()
    endpoint = f"http://127.0.0.1:{port}"
    set_variables(monkeypatch, endpoint)
    # Killed, as it holds nothing of worth: one of them takes minutes to end.
    command = kind.command(folder, port, ports)
    with running(command, folder / "log", ready=lambda: _answers(endpoint), stop=SIGKILL):
        if kind.makes_bucket:
            urlopen(Request(f"{endpoint}/{BUCKET}", method="PUT")).close()  # noqa: S310 - an address of our own
        eventually(lambda: _takes_objects(folder))
        yield


def put(folder: Path, key: str, content: bytes) -> None:
    """Write an object of the bucket."""
    (file := folder / "object").write_bytes(content)
    upload(file, ObjectUrl("s3", BUCKET, key))


def _answers(endpoint: str) -> bool:
    try:
        urlopen(endpoint).close()  # noqa: S310 - an address of our own
    except HTTPError:
        return True
    except (URLError, OSError):
        return False
    return True


def _takes_objects(folder: Path) -> bool:
    try:
        put(folder, "probe", b"probe")
    except Unavailable:
        return False
    return True
