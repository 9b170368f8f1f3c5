"""nginx: the service's own responses, byte for byte, as files."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from bench.wire.contender import Contender, NotInstalled, Unsupported
from bench.wire.shapes import Shape

_OK: Final = 200
_MODULES: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_CONFIGURATION: Final = """\
daemon off;
worker_processes 1;
pid {work}/nginx.pid;
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
    {temporary}
    server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def nginx(root: Path, work: Path) -> Contender:
    """Return nginx over a folder with a folder of responses per shape. Raises `NotInstalled`."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotInstalled("nginx is not installed: on Debian `apt-get install nginx-light`")
    version = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr  # noqa: S603 - found above
    temporary = " ".join(f"{module}_temp_path {work}/nginx-{module};" for module in _MODULES)

    def command(port: int) -> list[str]:
        text = _CONFIGURATION.format(work=work, root=root, port=port, user=root.owner(), temporary=temporary)
        (work / "nginx.conf").write_text(text, "utf-8")
        return [program, "-e", str(work / "nginx-errors.log"), "-c", str(work / "nginx.conf")]

    def targets(shape: Shape) -> list[str]:
        if shape.status != _OK:
            raise Unsupported("it sends files, all with status 200")
        if shape.is_located:
            raise Unsupported("its files would be like those of the other pages of 50 records")
        return [f"/{shape.slug}/{file.name}" for file in sorted((root / shape.slug).iterdir())]

    return Contender(
        name="nginx",
        version=version.rpartition("/")[2].strip(),
        command=command,
        ready="/",
        targets=targets,
        notes="Sends prepared responses, up to 64 MiB per shape: it neither searches nor authenticates.",
    )
