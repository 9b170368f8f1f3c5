"""nginx: the service's own answers, byte for byte, as files."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench.wire.answers import Answers
from bench.wire.contender import Cannot, Contender, NotInstalled
from bench.wire.shapes import Shape

_OK: Final = 200
_CONFIGURATION: Final = """\
daemon off;
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/nginx-errors.log;
user {user};
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=10000 inactive=600s;
    open_file_cache_valid 600s;
    default_type application/json;
    client_body_temp_path {work}/nginx-body;
    proxy_temp_path {work}/nginx-proxy;
    fastcgi_temp_path {work}/nginx-fastcgi;
    uwsgi_temp_path {work}/nginx-uwsgi;
    scgi_temp_path {work}/nginx-scgi;
    server {{
        listen 127.0.0.1:{port};
        root {root};
    }}
}}
"""


def nginx(answers: Mapping[str, Answers], *, root: Path, work: Path) -> Contender:
    """Return nginx over the folder with the answers by shape. Raises `NotInstalled`."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotInstalled("nginx is not installed: on Debian `apt-get install nginx-light`")

    def command(port: int) -> list[str]:
        configuration = work / "nginx.conf"
        text = _CONFIGURATION.format(work=work, root=root, port=port, user=root.owner())
        configuration.write_text(text, "utf-8")
        return [program, "-e", str(work / "nginx-errors.log"), "-c", str(configuration)]

    def targets(shape: Shape) -> list[str]:
        if shape.status != _OK:
            raise Cannot("it sends files, all with status 200")
        if shape.locates:
            raise Cannot("its files would be like those of the other pages of 50 records")
        return [f"/{file.relative_to(root)}" for file in answers[shape.slug].files]

    return Contender(
        name="nginx",
        version=_version(program),
        command=command,
        ready="/",
        targets=targets,
        notes="Sends prepared answers, up to 64 MiB of them a shape: it neither searches nor asks for a key.",
    )


def _version(program: str) -> str:
    version = subprocess.run([program, "-v"], capture_output=True, text=True, check=True)  # noqa: S603 - found above
    return version.stderr.rpartition("/")[2].strip()
