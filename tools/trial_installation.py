"""An installation of a built distribution, in an environment of its own, that is started, asked and stopped."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

_SECONDS = 60
# What is left of the environment: nothing that could find the checkout.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@contextmanager
def installed(distribution: Path) -> Iterator[Path]:
    """Install a wheel or an sdist, without pip beside it; yield the folder of its programs, until the block ends."""
    with TemporaryDirectory(prefix="store-directory-release-") as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--quiet",
            "--disable-pip-version-check",
            "--python",
            f"{folder}/bin/python",
        ]
        subprocess.run([*pip, "install", distribution.resolve()], check=True, cwd=folder)
        yield Path(folder) / "bin"


def try_service(programs: Path) -> str:
    """Serve the bundled data and request a store; return what was answered, for people.

    Raises an error if anything fails, or if the service does not end with code 0.
    """
    environment = {**_ENVIRONMENT, "XDG_CACHE_HOME": str(programs.parent / "cache")}
    command = [f"{programs}/store-directory", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=programs, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            address, key = _address_and_key(process)
            health = _requested(f"{address}/health")
            page = _requested(f"{address}/stores?limit=1", key)
        finally:
            process.terminate()
            code = process.wait(_SECONDS)
    if code or health != {"status": "ok"} or len(page["data"]) != 1:
        raise RuntimeError(f"exit code {code}, /health {health}, /stores {page}")
    return f"/health is ok, /stores has {page['total_count']} stores"


def _address_and_key(process: subprocess.Popen[str]) -> tuple[str, str]:
    printed = dict[str, str]()
    for line in process.stdout or ():
        name, _, value = line.strip().partition(": " if ": " in line else " on ")
        printed[name] = value
        if name == "Docs":
            return printed["Listening"], printed["Key"].split()[0]
    raise RuntimeError(f"the service ended after it had printed {printed}")


def _requested(url: str, key: str = "") -> Any:
    with urlopen(Request(url, headers={"x-api-key": key} if key else {}), timeout=_SECONDS) as response:  # noqa: S310 - a service of our own
        return json.loads(response.read())
