"""Request smuggling: nginx and the service agree on where a request ends, or the service rejects it."""

import os
import pwd
import re
from collections.abc import Iterator
from typing import Final

import msgspec
import pytest
from aiohttp.test_utils import unused_port

from tests.interop.caching_proxies import HOST, listens
from tests.interop.framing import CASES, answers
from tests.interop.software import found, running
from tests.program import Running, serving

_CONFIGURATION: Final = """
daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit; user {user};
events {{}}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    client_header_timeout 1s; keepalive_timeout 1s; client_body_timeout 1s; lingering_close off;
    server {{
        listen {host}:{direct};
        location / {{ return 200; }}
        location = /marker {{ return 404; }}
    }}
    server {{
        listen {host}:{proxy};
        location / {{
            proxy_pass {service}; proxy_http_version 1.1; proxy_set_header Connection "";
            add_header x-upstream $upstream_status always;
        }}
    }}
}}
"""
_REQUESTS: Final = re.compile(r'store_directory_http_requests_total\{.*route="(?!/metrics)')
_LINE_ENDS: Final = "RFC 9112 ends lines with CR LF, and allows no other line end inside a message"
_IN_SIZE: Final = "RFC 9112, 7.1: no white space at the size of a chunk, and nothing but tokens in its extensions"
# What the service refuses, or closes the connection after, though nginx goes on, and why.
STRICTER: Final = {
    "an upgrade": "declined; what follows it is not read",
    "an upgrade to websocket": "declined; what follows it is not read",
    "an expectation": "answered without the body, so the client may send it or not",
    "a version of two digits": "RFC 9112, 2.3: one digit",
    "a space behind the version": "RFC 9112, 3: none",
    "a trailer of a length": "RFC 9110, 6.5.1: no framing in trailers",
    "a trailer without a colon": "RFC 9112, 7.1.2: a trailer is a field",
    **dict.fromkeys(("LF in front of a length", "CR CR LF", "LF for all", "LF at the end of the head"), _LINE_ENDS),
    **dict.fromkeys(("LF behind a size", "LF behind a chunk", "LF behind the last size", "LF at the end"), _LINE_ENDS),
    **{f"chunk size {size!r}": _IN_SIZE for size in ("5 ", "5\t", "5 ;a=b", "5;", "5;a\x01", "5;a\x0b", "5 5")},
    "last chunk size '0 '": _IN_SIZE,
}
# What the service answers though nginx refuses it, and why that smuggles no request.
LAXER: Final = {
    "length '\\t5\\t'": "RFC 9110, 5.5: tabs around a value are no part of it",
    "coding '\\tchunked'": "RFC 9110, 5.5: tabs around a value are no part of it",
    "RTSP": "read as HTTP of the same version: the parser does not distinguish them",
}


class Servers(msgspec.Struct, frozen=True):
    """nginx by itself, nginx in front of the service, and the service."""

    nginx: str
    proxy: str
    service: Running

    def requests(self) -> int:
        """Return how many requests reached the service, but for those for its metrics."""
        return sum(int(value) for name, value in self.service.metrics().items() if _REQUESTS.match(name))


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("framing")
    with serving("--no-auth", "--cache", folder / "cache", log=folder / "service.log") as service:
        ports = [unused_port() for _ in range(2)]
        user = pwd.getpwuid(os.geteuid()).pw_name
        (folder / "nginx.conf").write_text(
            _CONFIGURATION.format(user=user, host=HOST, direct=ports[0], proxy=ports[1], service=service.address)
        )
        command = [found("nginx", package="nginx"), "-e", "stderr", "-p", str(folder), "-c", "nginx.conf"]
        with running(command, folder / "nginx.log", ready=lambda: all(map(listens, ports))):
            nginx, proxy = (f"http://{HOST}:{port}" for port in ports)
            yield Servers(nginx, proxy, service)


def refused(statuses: list[int]) -> bool:
    """Return whether there is no response, or only one that rejects the request as malformed."""
    return statuses in ([], [400], [413], [414], [431], [501], [505])


def test_the_service_rejects_what_nginx_and_it_frame_differently(servers: Servers) -> None:
    found: dict[str, dict[str, object]] = {"stricter": {}, "laxer": {}, "other": {}}
    for name, case in CASES.items():
        theirs, ours = (answers(address, case)[1] for address in (servers.nginx, servers.service.address))
        if ours == theirs or (refused(ours) and refused(theirs)):
            continue
        closer = refused(ours) or ours == theirs[: len(ours)]
        kind = "laxer" if name in LAXER else "stricter" if closer else "other"
        found[kind][name] = (theirs, ours)
    assert found["other"] == {}
    assert found["laxer"].keys() == LAXER.keys(), found["laxer"]
    assert found["stricter"].keys() == STRICTER.keys(), found["stricter"]


def test_nginx_forwards_as_many_requests_as_the_service_sees(servers: Servers) -> None:
    other = {}
    for name, case in CASES.items():
        before = servers.requests()
        received, _ = answers(servers.proxy, case)
        meant, arrived = len(re.findall(rb"\r\nx-upstream: \d", received)), servers.requests() - before
        if meant != arrived:
            other[name] = (meant, arrived)
    assert other == {}
