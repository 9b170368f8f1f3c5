"""Fleets: replicas that follow an origin, HAProxy in front of them, and Varnish in front of that."""

import csv
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bench.report import ROOT
from bench.samples import Edition
from bench.servers import HOST, Failed, free_port
from bench.shapes import KEY
from tests.interop.caching_proxies import VARNISH, listens, nginx_options
from tests.interop.software import found, running
from tests.loading.data_files import packed
from tests.program import Running, eventually, kill, serving

PLAIN: Final = "stores.baked"
PACKED: Final = "stores.baked.zst"
_SENT: Final = re.compile(r'" \d{3} (\d+) "')  # in the format "combined" of nginx
_HAPROXY: Final = ROOT / "examples" / "fleet" / "haproxy.cfg"
_BINDING: Final = f"bind {HOST}:8082"
_SERVERS: Final = re.compile(r"(?: +server replica\d+ \S+\n)+")
_NGINX: Final = ROOT / "examples" / "edge" / "nginx.conf"
_LISTENING: Final = f"listen {HOST}:8090;"
_OPTIONS: Final = ("--api-key", KEY, "--poll", "2", "--drain", "3")
# docs/fleet.md, "A cache or CDN": stale entries are served for as long as the service allows.
_NO_GRACE: Final = "set beresp.grace = 0s;"
_ALLOWED_GRACE: Final = f'if (beresp.http.Cache-Control !~ "stale-while-revalidate") {{ {_NO_GRACE} }}'
# Over loopback the system would buffer all of a stream, so that no replica is killed while it sends one.
_MAXIMUM: Final = "    maxconn 2000\n"
_SMALL_BUFFERS: Final = f"{_MAXIMUM}    tune.rcvbuf.server 65536\n    tune.sndbuf.client 65536\n"


class Balancer(msgspec.Struct, frozen=True):
    """HAProxy that runs: its port, and the socket of its counters."""

    port: int
    socket: Path

    def counts(self) -> tuple[int, int]:
        """Return how many requests it received, and how often it sent one again, or to another replica."""
        (total,) = (row for row in self._rows() if row["svname"] == "BACKEND")
        return int(total["req_tot"]), int(total["wretr"]) + int(total["wredis"])

    def all_up(self) -> bool:
        """Return whether HAProxy regards every replica as ready."""
        # It accepts connections before its socket has its name.
        return self.socket.exists() and all(row["status"] == "UP" for row in self._rows())

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
    text, replaced = _SERVERS.subn(servers, _HAPROXY.read_text().replace(_BINDING, f"bind {HOST}:{port}"))
    for here, instead in changes:
        text, replaced = text.replace(here, instead), replaced and here in text
    if not replaced:
        raise Failed(f"{_HAPROXY} is not what was expected")
    folder.mkdir()
    (folder / "haproxy.cfg").write_text(text)
    command = [found("haproxy", package="haproxy"), "-C", str(folder), "-f", "haproxy.cfg"]
    with running(command, folder / "log", ready=lambda: listens(port)):
        yield Balancer(port, folder / "haproxy.sock")


class Origin:
    """nginx with the configuration of examples/edge, in a folder; `url` is what `serve --data` takes.

    The file has a name; one that ends with .zst is compressed.
    """

    def __init__(self, folder: Path, name: str = PLAIN) -> None:
        self._port, self._folder, self._name, self._runs = free_port(), folder, name, ExitStack()
        self.url = f"http://{HOST}:{self._port}/{name}"
        (folder / "origin").mkdir(parents=True)
        text = _NGINX.read_text().replace(_LISTENING, f"listen {HOST}:{self._port};")
        (folder / "nginx.conf").write_text(text)

    def start(self) -> None:
        """Serve, also again."""
        command = [found("nginx", package="nginx"), *nginx_options(self._folder, self._port)]
        log = self._folder / "nginx.log"
        self._process = self._runs.enter_context(running(command, log, ready=lambda: listens(self._port)))

    def publish(self, baked: Path) -> None:
        """Copy the file, which gives it a new time and so a new entity tag, then rename the copy."""
        if self._name == PACKED:
            (self._folder / "new").write_bytes(packed(baked.read_bytes(), PACKED))
        else:
            shutil.copyfile(baked, self._folder / "new")
        (self._folder / "new").replace(self._folder / "origin" / self._name)

    def sent(self) -> int:
        """Return how many bytes of bodies it has sent, by its access log."""
        return sum(map(int, _SENT.findall((self._folder / "access.log").read_text())))

    def kill(self) -> None:
        """Send SIGKILL to nginx and its worker."""
        kill(self._process)

    def stop(self) -> None:
        """Stop, if it runs."""
        self._runs.close()


class Replica:
    """A replica with its files in a folder. It keeps its port when it starts again."""

    _running: Running

    def __init__(self, folder: Path, runs: ExitStack, *options: str) -> None:
        self.port, self._folder, self._runs = free_port(), folder, runs
        self._options = ("--port", str(self.port), "--cache", str(folder / "cache"), *options)
        folder.mkdir()

    def start(self) -> None:
        """Start, and wait until it is ready."""
        self._running = self._runs.enter_context(serving(*self._options, log=self._folder / "log"))

    def drain(self) -> None:
        """Send SIGTERM, and wait for the end of the process. Raises `Failed`."""
        if code := self._running.end():
            raise Failed(f"a replica that drained exited with {code}: {(self._folder / 'log').read_text()[-500:]}")

    def kill(self) -> None:
        """Send SIGKILL."""
        kill(self._running.process)

    def version(self) -> str:
        """Return the version of the data that it serves."""
        return str(self._running.ready()["version"])


class Fleet(msgspec.Struct, frozen=True):
    """A fleet that runs; clients connect to the balancer, or to the cache in front of it."""

    origin: Origin
    replicas: Sequence[Replica]
    balancer: Balancer
    cache_port: int

    def serving(self, edition: Edition) -> int:
        """Return how many replicas serve an edition; all of them must run."""
        return sum(replica.version() == edition.version for replica in self.replicas)

    def wait_until_all_serve(self, edition: Edition) -> None:
        """Wait until each replica serves an edition; all of them must run."""
        eventually(lambda: self.serving(edition) == len(self.replicas))

    def start(self, replica: Replica) -> None:
        """Start a replica, and wait until HAProxy sends it requests."""
        replica.start()
        eventually(self.balancer.all_up)


@contextmanager
def running_fleet(
    folder: Path, edition: Edition, *, replicas: int, cache_control: str, name: str = PLAIN
) -> Iterator[Fleet]:
    """Run a fleet that serves an edition, in a new folder; `name` is that of the file. Raises `Failed`."""
    with ExitStack() as runs:
        origin = Origin(folder / "origin", name)
        runs.callback(origin.stop)
        origin.start()
        origin.publish(edition.baked)
        options = ("--data", origin.url, "--cache-control", cache_control, *_OPTIONS)
        all_replicas = [Replica(folder / f"replica-{number}", runs, *options) for number in range(replicas)]
        for replica in all_replicas:
            replica.start()
        ports = [replica.port for replica in all_replicas]
        balancer = runs.enter_context(balancing(ports, folder / "haproxy", (_MAXIMUM, _SMALL_BUFFERS)))
        eventually(balancer.all_up)
        port, change = free_port(), (_NO_GRACE, _ALLOWED_GRACE)
        runs.enter_context(VARNISH.serving(f"http://{HOST}:{balancer.port}", folder / "varnish", port, change))
        yield Fleet(origin, all_replicas, balancer, port)
        for replica in all_replicas:
            replica.kill()  # rather than to drain one after the other
