"""Replicas behind HAProxy and Varnish, changed under load: a quick run of bench/fleet; and shards."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event

import pytest

from bench.fleet.fleets import Origin, balancing
from bench.fleet.trial import CHANGES, Pace, make_trial, transfers
from bench.samples import Sample, editions
from service.background import silent
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.transport import HttpTransport
from tests.http_server import Quiet, handling
from tests.interop.cache_client import fetch, received
from tests.interop.caching_proxies import HOST, VARNISH
from tests.program import SECONDS, eventually, run, serving

PAGE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text()

NAMES = (
    "both at once",
    "each replica is killed, one after the other",
    "the origin is killed while replicas fetch new data",
)
PACE = Pace(balancer_clients=2, cache_clients=2, rate=20, streams=1, pause=0.5)


def test_no_change_of_a_fleet_fails_or_mixes_an_answer_and_no_planned_one_cuts_any(tmp_path: Path) -> None:
    """New data during a rolling restart, killed replicas, and a killed origin."""
    changes = [change for change in CHANGES if change.name in NAMES]
    assert len(changes) == len(NAMES)
    made = editions(Sample.of(5000, home=tmp_path), count=3)
    trial = make_trial(tmp_path / "trial", made, changes, replicas=2, pace=PACE)
    assert trial.missed == []
    assert all(outcome.counts["complete"] for outcome in trial.outcomes)
    assert trial.compared > 100


def test_a_compressed_file_at_the_origin_is_about_a_third_of_the_bytes_for_each_replica(tmp_path: Path) -> None:
    with TemporaryDirectory() as short:  # the path of a socket is at most 107 bytes
        plain, packed = transfers(Path(short), editions(Sample.of(2000, home=tmp_path), count=2), replicas=2)
    assert plain.received == plain.size
    assert packed.received < 0.36 * packed.size


async def test_a_file_that_nginx_encodes_while_it_sends_it_is_fetched_once(tmp_path: Path) -> None:
    (edition,) = editions(Sample.of(2000, home=tmp_path), count=1)
    origin, conf = Origin(tmp_path / "origin"), tmp_path / "origin" / "nginx.conf"
    encodes = "sendfile on; gzip on; gzip_types application/octet-stream;"
    conf.write_text(conf.read_text().replace("sendfile on;", encodes))
    origin.start()
    with ExitStack() as runs:
        runs.callback(origin.stop)
        origin.publish(edition.baked)
        source = RemoteBakedFile(origin.url, tmp_path / "cache", HttpTransport(origin.url))
        fetch = partial(source.fetch, tmp_path / "to", check=lambda _: None, progress=silent)
        found = await fetch(known="")
        assert found is not None
        assert (tmp_path / "to").read_bytes() == edition.baked.read_bytes()
        assert await fetch(known=found.fingerprint) is None
        assert 0 < eventually(origin.sent) < 0.5 * edition.baked.stat().st_size


# For the shard, and for a full replica.
OF_CANADA = (
    *("/stores?country=ca", "/stores?limit=20&country=CA&page_num=2&sort_by=name&sort_order=desc"),
    *("/stores?country=ca&facets=city,province,is_open&limit=1", "/stores?country=ca&near=43.65,-79.38&limit=50"),
    *("/stores?near=42.3,-83.05&radius=300000&country=ca", "/stores?q=st&country=ca&fields=store_id,name"),
    *("/stores?country=ca&page_num=0", "/clusters?bbox=-180,-90,180,90&zoom=3&country=ca", "/stores.csv?country=ca"),
    *("/stores.ndjson?country=ca&sort_by=updated_at", "/stores.geojson?country=ca&is_open=true"),
)
OF_ALL = (
    *("/stores?limit=20", "/stores?near=42.3,-83.05&radius=300000", "/stores?country=ca&country=us"),
    *("/stores?country=us&country=ca", "/stores?country=ca&c%6funtry=us", "/stores?c%6Funtry=us&country=ca"),
    *("/stores?country=", "/stores?country=ca%20", "/stores?country=cax", "/stores?xcountry=ca"),
    *("/stores?q=country=ca", "/companies?country=ca&limit=50", "/clusters?bbox=-180,-90,180,90&zoom=3"),
)


def test_what_the_ingress_sends_to_a_shard_is_answered_as_by_a_full_replica(tmp_path: Path) -> None:
    """The commands and the rules are those of the page."""
    commands = re.findall(r"^store-directory (export stores.baked ca/.+|bake ca .+)$", PAGE, re.MULTILINE)
    rules = re.search(r"^    acl list .*?^    use_backend .*?\n", PAGE, re.MULTILINE | re.DOTALL)
    assert rules is not None
    assert len(commands) == 3
    editions(Sample.of(2000, home=tmp_path), count=1)[0].baked.rename(tmp_path / "stores.baked")
    (tmp_path / "ca").mkdir()
    for command in commands:
        paths = {word: tmp_path / word for word in command.split() if word.startswith(("ca", "stores.baked"))}
        assert run(*(paths.get(word, word) for word in command.split())).returncode == 0
    options = ("--no-auth", "--cache", tmp_path / "cache")
    with (
        serving("--data", tmp_path / "stores.baked", *options) as full,
        serving("--data", tmp_path / "ca.baked", *options) as shard,
    ):
        ports = {name: int(each.address.rpartition(":")[2]) for name, each in (("full", full), ("shard", shard))}
        front = ("    default_backend", f"{rules[0]}    default_backend")
        back = (
            "backend replicas\n    b",
            f"backend canada\n    server shard {HOST}:{ports['shard']}\nbackend replicas\n    b",
        )
        with balancing([ports["full"]], tmp_path / "haproxy", front, back) as ingress:
            eventually(ingress.all_up)
            address = f"http://{HOST}:{ingress.port}"
            for target in (*OF_CANADA, *OF_ALL):
                whole, given = fetch(full.address, target), fetch(address, target)
                assert (given.status, given.body) == (whole.status, whole.body), target
                assert given.headers.get("link") == whole.headers.get("link"), target
            assert sum(received(shard).values()) == sum(1 for target in OF_CANADA if "clusters" not in target)


def test_a_replica_whose_ready_takes_longer_than_the_pause_between_checks_is_not_taken_out(tmp_path: Path) -> None:
    probes: SimpleQueue[str] = SimpleQueue()

    class Slow(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            Event().wait(0.7)  # the pause between checks is 0.5 s
            self.send_response(200)
            self.end_headers()
            probes.put(self.path)

    with handling(Slow) as address, balancing([int(address.rpartition(":")[2])], tmp_path / "haproxy") as balancer:
        assert {probes.get(timeout=SECONDS) for _ in range(4)} == {"/ready"}
        assert balancer.all_up()


class Dying(Quiet, BaseHTTPRequestHandler):
    """Sends half of each response, of both framings, as a replica that is killed; but for probes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        is_probe, is_chunked = self.path in ("/ready", "/health"), self.path == "/chunked"
        body = b"" if is_probe else b"0123456789" * 1000
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=0, s-maxage=60")
        self.send_header(*(("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(len(body)))))
        self.end_headers()
        half = body[: len(body) // 2]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(half), half) if is_chunked else half)
        self.close_connection = True


@pytest.fixture
def dying() -> Iterator[int]:
    with handling(Dying) as address:
        yield int(address.rpartition(":")[2])


def is_whole(port: int, target: str) -> bool:
    """Return whether a client regards a response as the whole of a 200."""
    with closing(HTTPConnection(HOST, port, timeout=SECONDS)) as connection:
        connection.request("GET", target)
        try:
            response = connection.getresponse()
            response.read()
        except (HTTPException, OSError):
            return False
        return response.status == 200


@pytest.mark.parametrize("target", ["/chunked", "/length"])
def test_clients_of_both_proxies_see_that_a_response_was_cut(
    dying: int, target: str, tmp_path: Path, unused_tcp_port: int
) -> None:
    """Varnish sends a 503 in place of a stream; of a page half of it, or a 503 if it knows soon enough."""
    with balancing([dying], tmp_path / "haproxy") as balancer:
        eventually(balancer.all_up)
        with VARNISH.serving(f"http://{HOST}:{balancer.port}", tmp_path / "varnish", unused_tcp_port):
            assert is_whole(unused_tcp_port, "/health")
            assert not any(is_whole(port, target) for port in (balancer.port, unused_tcp_port) for _ in range(5))
