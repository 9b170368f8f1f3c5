"""Fleets: replicas that follow an origin, HAProxy in front of them, and Varnish in front of that."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.balancer import Balancer, balancing
from bench.fleet.marked_editions import Edition
from bench.fleet.origins import NginxOrigin, Origin
from bench.fleet.replica import Replica
from bench.wire.servers import free_port
from bench.wire.shapes import KEY
from tests.interop.caching_proxies import HOST, VARNISH
from tests.program import eventually

POLL_SECONDS: Final = 2
DRAIN_SECONDS: Final = 3
_OPTIONS: Final = ("--api-key", KEY, "--poll", str(POLL_SECONDS), "--drain", str(DRAIN_SECONDS))
# The change that docs/fleet.md describes: stale entries are served for as long as the service allows.
_NO_GRACE: Final = "set beresp.grace = 0s;"
_ALLOWED_GRACE: Final = f'if (beresp.http.Cache-Control !~ "stale-while-revalidate") {{ {_NO_GRACE} }}'
# Over loopback the system would buffer all of a stream, so that no replica is killed while it sends one.
_MAXIMUM: Final = "    maxconn 2000\n"
_SMALL_BUFFERS: Final = f"{_MAXIMUM}    tune.rcvbuf.server 65536\n    tune.sndbuf.client 65536\n"


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
    folder: Path,
    edition: Edition,
    *,
    replicas: int,
    cache_control: str,
    make_origin: Callable[[Path], Origin] = NginxOrigin,
) -> Iterator[Fleet]:
    """Run a fleet that serves an edition, in a new folder. Raises `Failed`."""
    with ExitStack() as runs:
        origin = make_origin(folder / "origin")
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
