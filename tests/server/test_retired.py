"""Data that is no longer served is unmapped."""

import http.client
from pathlib import Path

import pytest

from tests.program import SECONDS, eventually, serving
from tests.run.generations import bake_stores

pytestmark = pytest.mark.process


def mapped(pid: int) -> set[str]:
    """Return the baked files that a process maps."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if ".baked" in line}


def maps_another(pid: int, before: str) -> bool:
    """Return whether a process maps another baked file instead of the previous one."""
    files = mapped(pid)
    return bool(files) and not any(file.startswith(before) for file in files)


def test_an_open_connection_does_not_keep_earlier_data_mapped(tmp_path: Path) -> None:
    with serving("--data", bake_stores(tmp_path, 1), "--no-auth", "--cache", tmp_path / "cache") as service:
        idle = http.client.HTTPConnection(service.address.removeprefix("http://"), timeout=SECONDS)
        idle.request("GET", "/stores")
        idle.getresponse().read()
        (before,) = mapped(service.process.pid)
        bake_stores(tmp_path, 2)
        eventually(lambda: maps_another(service.process.pid, before))
        idle.close()
