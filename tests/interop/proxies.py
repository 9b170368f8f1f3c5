"""TLS proxies in front of the service: the files of examples/proxy, with another port and socket."""

import ssl
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import Final

import msgspec

from tests.interop.cache_client import Field, Reply, exchange
from tests.interop.caching_proxies import HOST, configure, listens, nginx_options
from tests.interop.software import found, running
from tests.program import SECONDS

EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "proxy"
# The socket and the port in the files.
SOCKET, PORT = "/run/stores/service.sock", "8443"


class Proxy(msgspec.Struct, frozen=True):
    """A proxy that runs: its port, and the certificate that it shows."""

    port: int
    certificate: Path

    def fetch(self, target: str, *fields: Field, method: str = "GET") -> Reply:
        """Send one request on a new connection, with these header fields."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        with closing(HTTPSConnection(HOST, self.port, timeout=SECONDS, context=context)) as connection:
            connection.putrequest(method, target)
            return exchange(connection, fields)


class ProxyKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of proxy; `options` start its program in a folder, `down` is its status if the service is down."""

    name: str
    file: str
    options: Callable[[Path], Sequence[str | Path]]
    down: int

    @contextmanager
    def serving(self, service: Path, folder: Path, port: int) -> Iterator[Proxy]:
        """Run it in front of the service that listens on a Unix socket."""
        configure(EXAMPLES / self.file, folder, (SOCKET, str(service)), (PORT, str(port)))
        certify(folder)
        command = [found(self.name, package=self.name), *self.options(folder)]
        with running(command, folder.with_suffix(".log"), ready=lambda: listens(port)):
            yield Proxy(port, folder / "site.crt")


def certify(folder: Path) -> None:
    """Make a certificate and its key, as the README describes."""
    names = ("-subj", "/CN=localhost", "-addext", f"subjectAltName=DNS:localhost,IP:{HOST}")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "site.key")
    command = [found("openssl", package="openssl"), "req", "-x509", *key, "-out", "site.crt", "-days", "30", *names]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=SECONDS)
    (folder / "site.pem").write_text((folder / "site.crt").read_text() + (folder / "site.key").read_text())


PROXIES: Final = (
    ProxyKind(name="nginx", file="nginx.conf", options=lambda folder: nginx_options(folder, 0), down=502),
    ProxyKind(name="haproxy", file="haproxy.cfg", options=lambda folder: ("-C", folder, "-f", "haproxy.cfg"), down=503),
)
