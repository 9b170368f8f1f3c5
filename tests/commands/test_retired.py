"""What becomes of data that is no longer served, in the service as a process."""

import http.client
import time
from pathlib import Path

from tests.baking.made_up import baked_file
from tests.directory import store, write_directory
from tests.program import SECONDS, serving


def mapped(pid: int) -> set[str]:
    """Return the baked files that a process maps."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if ".baked" in line}


def test_an_open_connection_keeps_no_earlier_data_alive(tmp_path: Path) -> None:
    first = write_directory(tmp_path / "first", [store("s1")])
    second = write_directory(tmp_path / "second", [store("s1"), store("s2")])
    served = baked_file(first, tmp_path / "stores.baked")
    with serving("--data", served, "--no-auth", "--cache", tmp_path / "cache") as service:
        idle = http.client.HTTPConnection(service.address.removeprefix("http://"), timeout=SECONDS)
        idle.request("GET", "/stores")
        idle.getresponse().read()
        (before,) = mapped(service.process.pid)
        baked_file(second, tmp_path / "beside.baked").replace(served)
        until = time.monotonic() + SECONDS
        while not (after := mapped(service.process.pid)) or any(file.startswith(before) for file in after):
            assert time.monotonic() < until, after
            time.sleep(0.01)
        idle.close()
