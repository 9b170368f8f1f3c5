"""Requests over a Unix socket."""

import socket
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from types import MappingProxyType

from tests.program import SECONDS, Answer

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class UnixConnection(HTTPConnection):
    """A connection to the socket at a path."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SECONDS)
        self.sock.connect(str(self._path))


def ask_socket(path: Path, target: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
    """Send one request over the socket at a path."""
    with closing(UnixConnection(path)) as connection:
        connection.request("GET", target, headers=dict(headers))
        response = connection.getresponse()
        return Answer(response.status, response.read())
