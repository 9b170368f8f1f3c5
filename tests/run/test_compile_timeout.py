"""A compilation that takes too long is killed and retried, and the previous data is still served."""

import os
import signal
from pathlib import Path
from time import monotonic

from tests.directory import store, write_directory
from tests.program import Running, compilers, eventually, run
from tests.run.conftest import Serve

TIMED_OUT = "compiling took longer than --compile-timeout {} s; the previous data is still served"


def timeouts(service: Running) -> list[str]:
    return [line for line in service.logged() if "longer than" in line]


def test_the_previous_data_is_served_until_another_attempt_succeeds(serve: Serve, tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")])
    began = monotonic()
    assert run("bake", folder, tmp_path / "set.baked").returncode == 0
    seconds = max(5, round(10 * (monotonic() - began)))  # enough for this machine
    service = serve(folder, "--compile-timeout", f"{seconds}")
    write_directory(folder, [store("s1"), store("s2")])
    (compiler,) = eventually(lambda: compilers(service.process.pid))
    os.kill(compiler, signal.SIGSTOP)  # like reading from a file server that is down
    assert service.ready()["stores"] == 1
    (line,) = eventually(lambda: timeouts(service))
    assert line.endswith(TIMED_OUT.format(seconds))
    assert eventually(lambda: service.ready()["stores"] == 2)
