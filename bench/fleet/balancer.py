"""HAProxy in front of the replicas, with the configuration of examples/fleet."""

import csv
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.servers import Failed, free_port
from tests.interop.caching_proxies import HOST, listens
from tests.interop.software import found, running

_EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "fleet" / "haproxy.cfg"
_LISTENING: Final = f"bind {HOST}:8082"
_SERVERS: Final = re.compile(r"(?: +server replica\d+ \S+\n)+")


class Counts(msgspec.Struct, frozen=True):
    """Requests that HAProxy received, and how often it sent one again, or to another replica."""

    requests: int
    repeated: int

    def since(self, before: "Counts") -> "Counts":
        """Return the difference to earlier counts."""
        return Counts(self.requests - before.requests, self.repeated - before.repeated)


class Balancer(msgspec.Struct, frozen=True):
    """HAProxy that runs: its port, and the socket of its counters."""

    port: int
    socket: Path

    def counts(self) -> Counts:
        """Return the counts until now."""
        (total,) = (row for row in self._rows() if row["svname"] == "BACKEND")
        return Counts(int(total["req_tot"]), int(total["wretr"]) + int(total["wredis"]))

    def all_up(self) -> bool:
        """Return whether HAProxy regards every replica as ready."""
        return all(row["status"] == "UP" for row in self._rows())

    def _rows(self) -> list[dict[str, str]]:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.socket))
            client.sendall(b"show stat\n")
            text = b"".join(iter(lambda: client.recv(1 << 16), b"")).decode()
        return [row for row in csv.DictReader(text.removeprefix("# ").splitlines()) if row["pxname"] == "replicas"]


@contextmanager
def balancing(ports: Sequence[int], folder: Path, *changes: tuple[str, str]) -> Iterator[Balancer]:
    """Run HAProxy in front of replicas on these ports, in a new folder. Raises `Failed`.

    changes  of its file: a text, and what replaces it
    """
    port = free_port()
    servers = "".join(f"    server replica{number} {HOST}:{each}\n" for number, each in enumerate(ports, 1))
    text, replaced = _SERVERS.subn(servers, _EXAMPLE.read_text().replace(_LISTENING, f"bind {HOST}:{port}"))
    for here, instead in changes:
        text, replaced = text.replace(here, instead), replaced and here in text
    if not replaced:
        raise Failed(f"{_EXAMPLE} is not what was expected")
    folder.mkdir()
    (folder / "haproxy.cfg").write_text(text)
    command = [found("haproxy", package="haproxy"), "-C", str(folder), "-f", "haproxy.cfg"]
    with running(command, folder / "log", ready=lambda: listens(port)):
        yield Balancer(port, folder / "haproxy.sock")
