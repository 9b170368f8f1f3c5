"""A compilation that takes too long is killed and retried, and the previous data is still served."""

import os
import signal
from pathlib import Path

from tests.directory import store, write_directory
from tests.program import Running, compilers, eventually
from tests.run.conftest import Serve

TIMED_OUT = (
    "the data cannot be compiled: compiling took longer than --compile-timeout 5 s; the previous data is still served"
)


def timeouts(service: Running) -> list[str]:
    return [line for line in service.logged() if "longer than" in line]


def test_the_previous_data_is_served_until_another_attempt_succeeds(serve: Serve, tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")])
    service = serve(folder, "--compile-timeout", "5")
    write_directory(folder, [store("s1"), store("s2")])
    (compiler,) = eventually(lambda: compilers(service.process.pid))
    os.kill(compiler, signal.SIGSTOP)  # like reading from a file server that is down
    assert service.ready()["stores"] == 1
    (line,) = eventually(lambda: timeouts(service))
    assert line.endswith(TIMED_OUT)
    assert eventually(lambda: service.ready()["stores"] == 2)
