"""The service behind a proxy that speaks TLS."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import orjson
import pytest

from service.web.connections.limits import Limits
from tests.interop.cache_client import FIRST
from tests.interop.proxies import EXAMPLES, PORT, PROXIES, Proxy, ProxyKind
from tests.interop.software import found
from tests.interop.upstream import Upstream
from tests.program import Running, environment, eventually, kill, serving, sockets
from tests.unix_socket import ask_socket

TRACE_PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SPOOFED = (("X-Forwarded-For", "6.6.6.6"), ("Forwarded", "for=6.6.6.6"), ("X-Forwarded-For", "7.7.7.7"))


@pytest.fixture(params=PROXIES, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> ProxyKind:
    found: ProxyKind = request.param
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "service.sock"


@pytest.fixture
def service(data: Path, path: Path, tmp_path: Path) -> Iterator[Running]:
    options = ("--api-key", FIRST[1], "--uds", path, "--trusted-proxy", "unix", "--access-log", tmp_path / "access.log")
    with serving("--data", data, "--cache", tmp_path / "cache", *options) as running:
        yield running


@pytest.fixture
def proxy(
    kind: ProxyKind, service: Running, path: Path, tmp_path: Path, unused_tcp_port_factory: Callable[[], int]
) -> Iterator[Proxy]:
    assert service.process.poll() is None
    with kind.serving(path, tmp_path / "proxy", unused_tcp_port_factory()) as running:
        eventually(lambda: running.fetch("/health").status == 200)
        yield running


def test_answers_over_tls_are_those_of_the_service(proxy: Proxy, path: Path) -> None:
    for target in ("/stores?limit=2", "/companies/%61cme", "/companies/a%2Fb", "//stores", "/stores?city=a%20b&city=+"):
        direct, reply = ask_socket(path, target, dict([FIRST])), proxy.fetch(target, FIRST)
        assert (reply.status, reply.body) == (direct.status, direct.body)
    assert proxy.fetch("/stores").status == 401
    assert proxy.fetch("/stores/?limit=2").headers["location"] == "/stores?limit=2"
    long = proxy.fetch(f"/stores?limit=1&page_num=2&padding={'x' * 900}", FIRST)
    assert long.headers["link"].count("rel=") == 4


def test_the_log_has_the_address_of_the_client_its_identifier_and_its_trace(proxy: Proxy, tmp_path: Path) -> None:
    fields = (FIRST, ("X-Request-Id", "the-one"), ("traceparent", TRACE_PARENT), *SPOOFED)
    assert proxy.fetch("/stores?limit=1", *fields).headers["x-request-id"] == "the-one"
    made = proxy.fetch("/stores?limit=1", FIRST, ("X-Request-Id", "<script>")).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f-]{32,36}", made)
    log = tmp_path / "access.log"
    lines = eventually(lambda: [line for line in map(orjson.loads, log.read_bytes().splitlines()) if line["key"]][1:])
    (first,) = (line for line in map(orjson.loads, log.read_bytes().splitlines()) if line["request_id"] == "the-one")
    assert (first["client"], first["trace_id"]) == ("127.0.0.1", TRACE_PARENT.split("-")[1])
    assert [(line["client"], line["request_id"]) for line in lines] == [("127.0.0.1", made)]


def test_connections_to_the_service_are_reused_for_all_clients(proxy: Proxy, service: Running, kind: ProxyKind) -> None:
    proxy.fetch("/stores?limit=1", FIRST)
    before = sockets(service.process.pid)
    for _ in range(50):
        assert proxy.fetch("/stores?limit=1", FIRST).status == 200
    new = sockets(service.process.pid) - before
    assert len(new) <= (0 if kind.name == "nginx" else 1)  # HAProxy has one for its health checks


def test_a_stopped_service_is_reported_and_found_again(
    proxy: Proxy, service: Running, kind: ProxyKind, data: Path, path: Path
) -> None:
    assert service.end() == 0
    assert eventually(lambda: proxy.fetch("/health").status) == kind.down
    with serving("--data", data, "--no-auth", "--uds", path):
        eventually(lambda: proxy.fetch("/stores").status == 200)


def test_a_connection_that_closes_on_reuse_fails_no_request(
    kind: ProxyKind, path: Path, tmp_path: Path, unused_tcp_port: int
) -> None:
    with Upstream(path).serving() as upstream, kind.serving(path, tmp_path / "proxy", unused_tcp_port) as proxy:
        eventually(lambda: proxy.fetch("/stores").status == 200)
        assert [proxy.fetch("/stores").status for _ in range(20)] == [200] * 20
        assert upstream.ended >= 5


def test_only_the_proxy_sets_the_client_address(
    kind: ProxyKind, path: Path, tmp_path: Path, unused_tcp_port: int
) -> None:
    with Upstream(path).serving() as upstream, kind.serving(path, tmp_path / "proxy", unused_tcp_port) as proxy:
        eventually(lambda: proxy.fetch("/health").status == 200)
        proxy.fetch("/stores", *SPOOFED)
        head = upstream.heads[-1].lower()
    assert re.findall("^x-forwarded-for: *(.*)\r$", head, re.MULTILINE) == ["127.0.0.1"]
    assert "6.6.6.6" not in head
    assert "7.7.7.7" not in head


def test_the_proxy_closes_idle_connections_before_the_service_does() -> None:
    nginx, haproxy = ((EXAMPLES / name).read_text() for name in ("nginx.conf", "haproxy.cfg"))
    (kept,) = re.findall(r"keepalive 16;\n *keepalive_timeout (\d+)s;", nginx)
    (purged,) = re.findall(r"pool-purge-delay (\d+)s", haproxy)
    assert max(int(kept), 2 * int(purged)) + 5 <= Limits().idle_seconds


def test_the_commands_of_the_readme_answer_a_request(kind: ProxyKind, unused_tcp_port: int) -> None:
    """As root, and as another user, whichever runs the test: the first group of commands is root's, the second theirs.

    The folder is one that nginx's worker, another user, can enter; port and folder of the socket are others.
    """
    page = (EXAMPLES / "README.md").read_text()
    groups = [dedent(each) for each in re.findall(r"^(?:    .*\n|\n(?=    ))+", page, re.MULTILINE)]
    root, user, start, proxies = groups
    (run,) = (line for line in proxies.splitlines() if line.startswith(kind.name))
    curl = proxies.splitlines()[-1]
    service, _, certificate = start.partition("&\n")
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(shutil.copytree(EXAMPLES, Path(name) / "proxy"))
        script = f"""set -e
            {user if os.geteuid() else root}
            {service} > printed &
            {certificate}
            until grep -q Ready printed; do sleep 0.1; done
            {run}
            until {curl} --silent --fail > page; do sleep 0.1; done
            echo "done" > ended
            wait"""
        for file in (folder / "nginx.conf", folder / "haproxy.cfg", script_file := folder / "script"):
            text = script if file == script_file else file.read_text()
            file.write_text(text.replace("/run/stores", f"{name}/run").replace(PORT, str(unused_tcp_port)))
        paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [found("bash", package="bash"), "script"],
                cwd=folder,
                stdout=log,
                stderr=log,
                text=True,
                process_group=0,
                env=environment({"PATH": paths}),
            )
        try:
            eventually(lambda: (folder / "ended").exists() or process.poll() is not None)
            assert (folder / "ended").exists(), (folder / "log").read_text()
            assert len(orjson.loads((folder / "page").read_bytes())["data"]) == 2
        finally:
            kill(process)
