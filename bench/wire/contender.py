"""A contender: a server that is measured, and how it expresses each shape of request."""

import http.client
import importlib.metadata
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.matches import Matches
from bench.wire.shapes import Params, Shape

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "bench" / "data"
# The environment of the peers, separate from that of the project.
PEERS: Final = HOME / "peers"
# Separates a target, its body and its header fields, none of which contains it.
CELL: Final = "\t"
_SECONDS: Final = 60


class Unsupported(Exception):
    """A contender does not support a shape; the message says why."""


class NotInstalled(Exception):
    """A contender is not installed; the message says what is missing."""


class Response(msgspec.Struct, frozen=True):
    """A response; missing header fields are empty."""

    status: int
    media_type: str = ""
    coding: str = ""
    tag: str = ""
    body: bytes = b""


def same_targets(shape: Shape) -> list[str]:
    """Return the targets for a contender with the interface of the service."""
    return [with_fields(request.target, request.fields) for request in shape.requests]


def with_body(target: str, body: str) -> str:
    """Return the target of a POST request with its body, on one line; any other request is a GET."""
    return f"{target}{CELL}{body}"


def with_fields(target: str, fields: Params) -> str:
    """Return the target of a GET request with its header fields, on one line."""
    return CELL.join((target, "", *(f"{name}: {value}" for name, value in fields))) if fields else target


def fetch(port: int, target: str, key: str) -> Response:
    """Send one HTTP request on a new connection. Raises OSError, HTTPException."""
    path, body, *fields = [*target.split(CELL), ""]
    sent = {"x-api-key": key, **dict(field.split(": ", 1) for field in fields if field)}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:
        connection.request("POST" if body else "GET", path, body.encode() or None, sent)
        response = connection.getresponse()
        media_type, coding, tag = (response.headers.get(n, "") for n in ("Content-Type", "Content-Encoding", "ETag"))
        return Response(response.status, media_type, coding, tag, response.read())


class Contender(msgspec.Struct, frozen=True):
    """A server.

    command       its command line for a port
    ready         a target that it answers once it is ready
    targets       the request targets of a shape, some `with_body` or `with_fields`; raises `Unsupported`
    notes         how it differs from the service
    only          the shapes that it is measured on; empty for all
    min_rates     by shape, the lower bound for the requests per second of the service over its own
    fetch         sends a request to a port, with a key
    load_module   the program that generates load; wrk if empty
    read_matches  reads a response to a location or text search, to be compared with that of the service
    tolerance     how many identifiers of a page may differ from those of the service
    """

    name: str
    version: str
    command: Callable[[int], list[str]]
    ready: str
    targets: Callable[[Shape], list[str]] = same_targets
    notes: str = ""
    only: tuple[str, ...] = ()
    min_rates: Mapping[str, float] = {}
    fetch: Callable[[int, str, str], Response] = fetch
    load_module: str = ""
    read_matches: Callable[[bytes], Matches] | None = None
    tolerance: int = 0


def peer_program(name: str) -> str:
    """Return the path of a program among the peers' packages. Raises `NotInstalled`."""
    if not (PEERS / "bin" / name).exists():
        raise NotInstalled(f"{name} is not installed: `make bench` installs bench/peers/requirements.txt")
    return str(PEERS / "bin" / name)


def peer_version(package: str) -> str:
    """Return the version of one of the peers' packages. Raises `NotInstalled`."""
    folders = map(str, PEERS.glob("lib/python*/site-packages"))
    for found in importlib.metadata.distributions(name=package, path=list(folders)):
        return found.version
    raise NotInstalled(f"{package} is not installed: `make bench` installs bench/peers/requirements.txt")
