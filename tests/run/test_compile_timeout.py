"""A compilation that does not end is given up: the previous data is still served, and the folder is compiled again."""

import os
import signal
from pathlib import Path

from tests.directory import store, write_directory
from tests.program import Running, compilers, eventually
from tests.run.conftest import Serve

GIVEN_UP = (
    "the data cannot be compiled: compiling took longer than --compile-timeout 5 s; the previous data is still served"
)


def given_up(service: Running) -> list[str]:
    return [line for line in service.logged() if "longer than" in line]


def test_what_was_served_stays_and_the_next_attempt_is_served(serve: Serve, tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")])
    service = serve(folder, "--compile-timeout", "5")
    write_directory(folder, [store("s1"), store("s2")])
    (compiler,) = eventually(lambda: compilers(service.process.pid))
    os.kill(compiler, signal.SIGSTOP)  # as one that reads from a file server that is gone
    assert service.ready()["stores"] == 1
    (line,) = eventually(lambda: given_up(service))
    assert line.endswith(GIVEN_UP)
    assert eventually(lambda: service.ready()["stores"] == 2)
