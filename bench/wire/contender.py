"""A contender: a server that is measured, and how it expresses each shape of request."""

import importlib.metadata
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.finding import Finding
from bench.wire.shapes import Params, Shape

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "bench" / "data"
# The environment of the peers, separate from that of the project.
PEERS: Final = HOME / "peers"


# Separates a target, its body and its header fields, none of which contains it.
CELL: Final = "\t"


class Cannot(Exception):
    """A contender cannot answer a shape; the message says why."""


class NotInstalled(Exception):
    """A contender is not installed; the message says what is missing."""


class Protocol(Enum):
    """The protocol between the load and a contender."""

    HTTP = "HTTP"
    RESP = "RESP"


class Contender(msgspec.Struct, frozen=True):
    """A server: its name and version, its command for a port, a target that is answered once it is ready, its targets.

    `targets` gives the request targets of a shape in its language, some `with_body` or `with_fields`, and raises
    `Cannot`. `notes` says how it differs. `only` names the shapes that it is measured on, where those are not all.
    `least` are the lower bounds for the requests per second of the service over its own, by shape. The targets of one
    that speaks RESP are commands. `finds` reads a response to a shape of places or words, which is then compared with
    that of the service; `unlike` is how many of the identifiers on a page may be others.
    """

    name: str
    version: str
    command: Callable[[int], list[str]]
    ready: str
    targets: Callable[[Shape], list[str]]
    notes: str = ""
    only: tuple[str, ...] = ()
    least: Mapping[str, float] = {}
    protocol: Protocol = Protocol.HTTP
    finds: Callable[[bytes], Finding] | None = None
    unlike: int = 0


def same_targets(shape: Shape) -> list[str]:
    """Return the targets for a contender with the interface of the service."""
    return [with_fields(request.target, request.fields) for request in shape.requests]


def with_body(target: str, body: str) -> str:
    """Return the target of a POST request with its body, on one line; any other request is a GET."""
    return f"{target}{CELL}{body}"


def with_fields(target: str, fields: Params) -> str:
    """Return the target of a GET request with its header fields, on one line; without any it is the target alone."""
    return CELL.join((target, "", *(f"{name}: {value}" for name, value in fields))) if fields else target


def peer_program(name: str) -> str:
    """Return the path of a program among the peers' packages; raise `NotInstalled`."""
    program = PEERS / "bin" / name
    if not program.exists():
        raise NotInstalled(f"{name} is not installed: `make bench` installs bench/peers/requirements.txt")
    return str(program)


def peer_version(package: str) -> str:
    """Return the version of one of the peers' packages; raise `NotInstalled`."""
    for folder in PEERS.glob("lib/python*/site-packages"):
        for found in importlib.metadata.distributions(name=package, path=[str(folder)]):
            return found.version
    raise NotInstalled(f"{package} is not installed: `make bench` installs bench/peers/requirements.txt")
